/** Node's HTTP server and nothing else: a process that answers every request with one answer out of memory. */

import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What it answers: headers as names and values in turns, the body as it is sent. */
export interface BareAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

export interface BareNode {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Begins it. */
export async function startBareNode(answer: BareAnswer): Promise<BareNode> {
  const child = fork(import.meta.filename, { serialization: 'advanced' });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  child.send(answer);
  const port = await new Promise<number>((found, failed) => {
    child.once('message', (listening) => found(listening as number));
    child.once('exit', (status) => failed(new Error(`the bare server ended with ${status}`)));
  });
  return {
    port,
    pid: child.pid ?? -1,
    stop: () => {
      child.kill();
      return exited;
    },
  };
}

function serve({ status, headers, body }: BareAnswer): void {
  // Node asks for a list that may be written, and only reads it.
  const lines = [...headers];
  const bytes = body === null ? null : Buffer.from(body);
  const server = createServer((_, response) => {
    response.writeHead(status, lines);
    if (bytes === null) response.end();
    else response.end(bytes);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

if (import.meta.main) process.once('message', (answer) => serve(answer as BareAnswer));
