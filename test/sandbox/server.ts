/** Local upstreams over real HTTP on loopback: one server, each upstream below its own first path segment. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EpochMs } from '../../src/model/time.ts';
import { createSecrets } from '../../src/sandbox/sandbox.ts';
import { type ConfigTextOptions, configTextOf } from './configuration.ts';
import { control } from './control.ts';
import { json, type Reply, type Request, type Upstream } from './exchange.ts';
import { type AnswerFields, spoil } from './fault-bodies.ts';
import { send } from './fault-wire.ts';
import { createFaults, type Fault, type FaultBook, type Faults, noUpstream } from './faults.ts';
import type { SandboxContext, SandboxKind } from './kind.ts';
import { createPayroll } from './payroll.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';
import { createTestWorld } from './world.ts';

export interface SandboxOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  readonly now: () => EpochMs;
  /** Default 1. */
  readonly seed?: number;
  /** Default nine. */
  readonly services?: number;
  /** Outages of the past beside the scripted dozen. */
  readonly extraOutages?: number;
  /** True: nothing is open at the start and nothing happens by itself. */
  readonly isCalm?: boolean;
  /** One line per request, without its secrets. */
  readonly log?: (line: string) => void;
}

export interface Sandbox extends SandboxContext {
  readonly port: number;
  /** `http://127.0.0.1:4444`, without a slash at the end. */
  readonly url: string;
  /** Names of the upstreams there are. */
  readonly upstreams: readonly string[];
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** Time events that the payroll upstream has queued, in the order they came. */
  payrollEvents(): readonly Readonly<Record<string, unknown>>[];
  /** The `pharos.yaml` to paste. */
  configText(options?: ConfigTextOptions): string;
  /** The variables that it takes its secrets from. */
  environment(): Readonly<Record<string, string>>;
  /** Ends every connection, answered or not. */
  stop(): Promise<void>;
}

const SEED_DEFAULT = 1;
/** Takes what Pharos sends; no connector reads it. */
const PAYROLL = 'payroll';
/** Five hundred time events with payloads fit; a runaway client does not. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Starts the upstreams of all kinds on one port; resolves once it listens. */
export async function startUpstreams(options: SandboxOptions, kinds: readonly SandboxKind[]): Promise<Sandbox> {
  const { now, log, host = '127.0.0.1', seed = SEED_DEFAULT } = options;
  const world = createTestWorld({ ...options, seed, startedAt: now() });
  const context: SandboxContext = { world, ...createSecrets(seed) };
  const payroll = createPayroll({ token: context.secret(PAYROLL) });
  const running = new Map<string, Running>([
    ...kinds.flatMap(({ connector, start }) =>
      Object.entries(start(context)).map(([name, upstream]) => [name, { upstream, fields: connector }] as const),
    ),
    [PAYROLL, { upstream: payroll.upstream, fields: { idField: 'external_event_id', words: {} } }],
  ]);
  const names = [...running.keys()];
  const faults = createFaults(names);
  const requests = createRequestLog();
  const server = createServer((incoming, response) => {
    serve({ incoming, response, world, running, faults, requests, now, log }).catch((error: unknown) => {
      log?.(`sandbox: ${error instanceof Error ? error.message : String(error)}`);
      response.destroy();
    });
  });
  await listening(server, options.port, host);
  const { port } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    ...context,
    port,
    url,
    upstreams: names,
    faults,
    requests,
    payrollEvents: payroll.events,
    configText: (choice = {}) => {
      const unknown = choice.include?.find((name) => !running.has(name));
      if (unknown !== undefined) throw noUpstream(unknown, names);
      return configTextOf({ url, world, upstreams: kinds.flatMap(({ upstreams }) => upstreams) }, choice);
    },
    environment: () => ({
      ...Object.fromEntries(kinds.flatMap(({ variables }) => Object.entries(variables(context)))),
      PAYROLL_TOKEN: context.secret(PAYROLL),
      PARTNERS_PASSWORD: context.pagePassword,
      PHAROS_TOKEN: context.secret('operator'),
    }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

interface Running {
  readonly upstream: Upstream;
  readonly fields: AnswerFields;
}

interface Serving {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly world: SandboxContext['world'];
  readonly running: ReadonlyMap<string, Running>;
  readonly faults: FaultBook;
  readonly requests: ReturnType<typeof createRequestLog>;
  readonly now: () => EpochMs;
  readonly log: ((line: string) => void) | undefined;
}

async function serve(serving: Serving): Promise<void> {
  const { incoming, response, world, running, faults, requests, log } = serving;
  const body = await readRequest(incoming);
  if (body === null) return send(response, json(413, { error: 'Too large' }), null);
  const at = serving.now();
  const { pathname, searchParams: query, search } = new URL(incoming.url ?? '/', 'http://sandbox');
  const { method = 'GET', headers } = incoming;
  const [, name = ''] = pathname.split('/');
  const request: Request = { method, path: pathname, query, headers, body, now: at, pagingShift: null };
  if (name === '-') return send(response, control(request, world, faults), null);
  const asked = running.get(name);
  if (asked === undefined) return send(response, json(404, { error: 'Not found' }), null);
  const path = pathname.slice(name.length + 1);
  const { reply, fault } = answered({ ...request, path }, asked, faults.take(name, path));
  const status = fault?.name === 'down' ? null : reply.status;
  requests.add(name, { at, method, path: `${path}${search}`, host: headers.host ?? '', status });
  log?.(`${method} ${pathname} ${status ?? 'reset'}`);
  send(response, reply, fault);
}

function answered(
  request: Request,
  { upstream, fields }: Running,
  taken: ReturnType<FaultBook['take']>,
): { readonly reply: Reply; readonly fault: Fault | null } {
  if (taken === null) return { reply: upstream(request), fault: null };
  const { fault, step } = taken;
  const pagingShift = fault.name === 'paging-shift' ? { direction: fault.direction ?? 'insert', step } : null;
  return { reply: spoil(upstream({ ...request, pagingShift }), fault, fields), fault };
}

/** Null when it is larger than anything an upstream takes. */
async function readRequest(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
