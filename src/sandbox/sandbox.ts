/** Local upstreams over real HTTP on loopback: one server, each upstream below its own first path segment. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EpochMs } from '../model/time.ts';
import { type ConfigTextOptions, configTextOf, environmentOf } from './configuration.ts';
import { control } from './control.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import { json, type Reply, type Request, UPSTREAM_NAMES, type Upstream } from './exchange.ts';
import { spoil } from './fault-bodies.ts';
import { send } from './fault-wire.ts';
import { createFaults, type Fault, type FaultBook, type Faults } from './faults.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';
import { createBackup } from './upstreams/backup.ts';
import { createJourneys } from './upstreams/journeys.ts';
import { createOpenstatus } from './upstreams/openstatus/openstatus.ts';
import { createPayroll } from './upstreams/payroll.ts';
import { DOCUMENTED_LIMITS, type RequestLimits } from './upstreams/request-limits.ts';
import { createServerMonitor } from './upstreams/server-monitor.ts';
import { createTerraform } from './upstreams/terraform.ts';
import { createUptime } from './upstreams/uptime.ts';
import { createKeyRing } from './upstreams/uptime-keys.ts';
import { createWorld, type World } from './world.ts';

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
  readonly serverMonitor?: {
    /** Null: none. Default: the documented 60 a minute and 1,000 an hour, for each key. */
    readonly limits?: RequestLimits | null;
    /** Of its clock, east of UTC. Default 120. */
    readonly offsetMinutes?: number;
    /** Whether `/maintenance` and `/metrics` exist. Default false, as documented. */
    readonly hasFutureEndpoints?: boolean;
  };
  /** How the listing of journeys pages; the document does not say. Default: 23 of them, 15 to a page, then nothing. */
  readonly journeys?: {
    readonly count?: number;
    readonly pageSize?: number;
    readonly pastEnd?: 'empty' | 'repeat';
  };
  /** One line per request, without its secrets. */
  readonly log?: (line: string) => void;
}

export interface Sandbox {
  readonly port: number;
  /** `http://127.0.0.1:4444`, without a slash at the end. */
  readonly url: string;
  readonly world: World;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly credentials: Credentials;
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
const OFFSET_MINUTES_DEFAULT = 120;
const JOURNEYS_DEFAULT = { count: 23, pageSize: 15, pastEnd: 'empty' } as const;
/** Five hundred time events with payloads fit; a runaway client does not. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Starts every upstream on one port; resolves once it listens. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { now, host = '127.0.0.1', seed = SEED_DEFAULT } = options;
  const world = createWorld({ ...options, seed, startedAt: now() });
  const credentials = createCredentials(seed);
  const payroll = createPayroll({ token: credentials.payrollToken });
  const upstreams = createUpstreams(options, world, credentials).set('payroll', payroll.upstream);
  const faults = createFaults();
  const requests = createRequestLog();
  const server = createServer((incoming, response) => {
    const { log } = options;
    serve({ incoming, response, world, upstreams, faults, requests, now, log }).catch((error: unknown) => {
      log?.(`sandbox: ${error instanceof Error ? error.message : String(error)}`);
      response.destroy();
    });
  });
  await listening(server, options.port, host);
  const { port } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    port,
    url,
    world,
    faults,
    requests,
    credentials,
    payrollEvents: payroll.events,
    configText: (choice) => configTextOf(url, world, choice),
    environment: () => environmentOf(credentials),
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

function createUpstreams(
  { serverMonitor = {}, journeys }: SandboxOptions,
  world: World,
  credentials: Credentials,
): Map<string, Upstream> {
  const { limits = DOCUMENTED_LIMITS, offsetMinutes = OFFSET_MINUTES_DEFAULT } = serverMonitor;
  const { hasFutureEndpoints = false } = serverMonitor;
  const { pagePassword, uptime } = credentials;
  const keys = createKeyRing([uptime.write, uptime.read, uptime.expired]);
  const { journeysToken, terraformToken } = credentials;
  return new Map<string, Upstream>([
    [
      'server-monitor',
      createServerMonitor({ world, ...credentials.serverMonitor, limits, offsetMinutes, hasFutureEndpoints }),
    ],
    ['uptime', createUptime({ world, keys })],
    ['openstatus', createOpenstatus({ world, keys, pagePassword })],
    ['backup', createBackup({ world, credentials: credentials.backup })],
    ['journeys', createJourneys({ world, token: journeysToken, ...JOURNEYS_DEFAULT, ...journeys })],
    ['terraform', createTerraform({ world, token: terraformToken })],
  ]);
}

interface Serving {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly world: World;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly faults: FaultBook;
  readonly requests: ReturnType<typeof createRequestLog>;
  readonly now: () => EpochMs;
  readonly log: ((line: string) => void) | undefined;
}

async function serve(serving: Serving): Promise<void> {
  const { incoming, response, world, upstreams, faults, requests, log } = serving;
  const body = await readRequest(incoming);
  if (body === null) return send(response, json(413, { error: 'Too large' }), null);
  const at = serving.now();
  const { pathname, searchParams: query, search } = new URL(incoming.url ?? '/', 'http://sandbox');
  const { method = 'GET', headers } = incoming;
  const [, prefix = ''] = pathname.split('/');
  const request: Request = { method, path: pathname, query, headers, body, now: at, pagingShift: null };
  if (prefix === '-') return send(response, control(request, world, faults), null);
  const name = UPSTREAM_NAMES.find((one) => one === prefix);
  const upstream = upstreams.get(prefix);
  if (name === undefined || upstream === undefined) return send(response, json(404, { error: 'Not found' }), null);
  const path = pathname.slice(prefix.length + 1);
  const taken = faults.take(name, path);
  const { reply, fault } = answered({ ...request, path }, upstream, taken);
  const status = fault?.name === 'down' ? null : reply.status;
  requests.add(name, { at, method, path: `${path}${search}`, host: headers.host ?? '', status });
  log?.(`${method} ${pathname} ${status ?? 'reset'}`);
  send(response, reply, fault);
}

function answered(
  request: Request,
  upstream: Upstream,
  taken: ReturnType<FaultBook['take']>,
): { readonly reply: Reply; readonly fault: Fault | null } {
  if (taken === null) return { reply: upstream(request), fault: null };
  const { fault, step } = taken;
  const pagingShift = fault.name === 'paging-shift' ? { direction: fault.direction ?? 'insert', step } : null;
  return { reply: spoil(upstream({ ...request, pagingShift }), fault), fault };
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
