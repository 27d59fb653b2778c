/** Recorded exchanges with a real uptime service, answered again over real HTTP on loopback. */

import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';

const FOLDER = new URL('../fixtures/uptime-service/', import.meta.url);
const KEY_HEADER = 'x-openstatus-key';

export interface Exchange {
  /** File name without its ending: `024-listmonitors-full`. */
  readonly name: string;
  readonly request: {
    /** Which key was used: `read`, `write`, `expired` …; null: none. */
    readonly key: string | null;
    readonly method: string;
    /** With its query. */
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

export interface Replay {
  readonly url: string;
  readonly rpcUrl: string;
  readonly restUrl: string;
  /** Requests that no exchange answers, as `POST /path body`. They got a 404 that says so. */
  readonly unmatched: readonly string[];
  /** Names of the exchanges that were used, in order. */
  readonly used: readonly string[];
  stop(): Promise<void>;
}

/** The value of the key header for a recorded key, such as `read`. The recordings hold no real keys. */
export function replayKey(label: string): string {
  return `replayed-${label}`;
}

/** Exchanges by the number or the name of their file, in the order asked; all, by number, when none are named. */
export async function loadExchanges(...names: readonly string[]): Promise<readonly Exchange[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.txt')).sort();
  const wanted = names.length === 0 ? files : names.map((name) => files.find((file) => file.startsWith(name)) ?? name);
  return Promise.all(
    wanted.map(async (file) =>
      parseExchange(file.replace(/\.txt$/, ''), await readFile(new URL(file, FOLDER), 'utf8')),
    ),
  );
}

/** Reads one file: request line, headers, body, then the same of the answer. */
export function parseExchange(name: string, text: string): Exchange {
  const [asked = '', answered = ''] = text.split(/^RESPONSE\n/m);
  const request = /^REQUEST +key=(\S+)\n(\S+) (\S+)\n([\s\S]*)$/.exec(asked);
  const response = /^HTTP (\d{3})[^\n]*\n([\s\S]*)$/.exec(answered);
  if (request === null || response === null) throw new Error(`${name} is not a recorded exchange`);
  const [, key = '', method = '', path = '', requestRest = ''] = request;
  const [, status = '', responseRest = ''] = response;
  return {
    name,
    request: { key: key === 'None' ? null : key, method, path, ...headersAndBody(requestRest) },
    response: { status: Number(status), ...headersAndBody(responseRest) },
  };
}

function headersAndBody(text: string): { headers: Record<string, string>; body: string } {
  const end = text.startsWith('\n') ? 0 : text.indexOf('\n\n');
  const head = end === -1 ? text : text.slice(0, end);
  const lines = head.split('\n').filter((line) => line !== '');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  return { headers, body: end === -1 ? '' : text.slice(end).trim() };
}

/**
 * Serves exchanges: a request is answered when method, path with query, key and body (as JSON) are those recorded.
 * Where several fit, the one named last is used, so that a later state of the workspace wins.
 *
 * @param options.port  0: any free port
 */
export async function startReplay(options: {
  readonly exchanges: readonly Exchange[];
  readonly port: number;
}): Promise<Replay> {
  const unmatched: string[] = [];
  const used: string[] = [];
  const server = createServer(async (incoming, response) => {
    const body = await textOf(incoming);
    const exchange = options.exchanges.findLast((one) => fits(one, incoming, body));
    if (exchange === undefined) {
      unmatched.push(`${incoming.method} ${incoming.url} ${body}`.trim());
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no recorded exchange answers this');
      return;
    }
    used.push(exchange.name);
    const { status, headers, body: answer } = exchange.response;
    response.writeHead(status, STATUS_CODES[status] ?? '', headers).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(options.port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    rpcUrl: `${url}/rpc`,
    restUrl: `${url}/v1`,
    unmatched,
    used,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function fits({ request }: Exchange, incoming: IncomingMessage, body: string): boolean {
  const key = incoming.headers[KEY_HEADER];
  return (
    request.method === incoming.method &&
    request.path === incoming.url &&
    (request.key === null ? key === undefined : key === replayKey(request.key)) &&
    isDeepStrictEqual(parsed(request.body), parsed(body))
  );
}

/** The JSON value, or the text itself where it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
