/** A server on this machine that answers addresses with JSON. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface JsonServer {
  readonly url: string;
  /** Every request by its path and query, in order. */
  readonly asked: readonly string[];
  readonly stop: () => Promise<void>;
}

/** What is at an address: a document, or a text that is none with its status. */
export type JsonAnswer = unknown | { readonly status: number; readonly html: string };

/** Starts it; what `answers` does not know is 404 with a page of HTML. */
export async function startJsonServer(answers: (path: string) => JsonAnswer): Promise<JsonServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answer = answers(path) ?? { status: 404, html: '<!doctype html><p>Not here' };
    if (typeof answer === 'object' && 'html' in answer && 'status' in answer) {
      response.writeHead(Number(answer.status), { 'content-type': 'text/html' }).end(String(answer.html));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
