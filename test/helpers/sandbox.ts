/** A sandbox on a free port with a clock that the test moves, and a plain way to ask it. */

import { parse } from 'yaml';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import { backupCredentials } from '../sandbox/kinds/backup-control-plane/sandbox.ts';
import { serverMonitorKeys, serverMonitorSandbox } from '../sandbox/kinds/server-monitor.ts';
import { uptimeKeys } from '../sandbox/kinds/uptime-service/sandbox.ts';
import { type Sandbox, type StartOptions, startSandbox } from '../sandbox/sandbox.ts';

/** Saturday morning in the middle of a minute. */
const SANDBOX_START = toEpochMs(Date.UTC(2026, 10, 21, 9, 13, 27));

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with its content type, unless it is text. */
  readonly body?: unknown;
}

/** Every secret of a sandbox, by what takes it. */
export interface Credentials {
  readonly serverMonitor: ReturnType<typeof serverMonitorKeys>;
  readonly uptime: ReturnType<typeof uptimeKeys>;
  readonly backup: ReturnType<typeof backupCredentials>;
  /** Of the `Authorization` header, after `Bearer `. */
  readonly journeysToken: string;
  readonly payrollToken: string;
  readonly terraformToken: string;
}

export function credentialsOf(sandbox: Pick<Sandbox, 'world' | 'secret'>): Credentials {
  return {
    serverMonitor: serverMonitorKeys(sandbox),
    uptime: uptimeKeys(sandbox),
    backup: backupCredentials(sandbox),
    journeysToken: sandbox.secret('journeys'),
    payrollToken: sandbox.secret('payroll'),
    terraformToken: sandbox.secret('terraform'),
  };
}

export interface TestSandbox extends Sandbox {
  readonly credentials: Credentials;
  now(): EpochMs;
  /** Moves the clock. */
  pass(ms: number): void;
  ask(path: string, options?: AskOptions): Promise<Asked>;
}

/** Calm and without request limits unless told otherwise; stop it when done. */
export async function startTestSandbox(options: Partial<StartOptions> = {}): Promise<TestSandbox> {
  let now = SANDBOX_START;
  const sandbox = await startSandbox({
    port: 0,
    now: () => now,
    isCalm: true,
    kinds: [serverMonitorSandbox({ limits: null })],
    ...options,
  });
  return {
    ...sandbox,
    credentials: credentialsOf(sandbox),
    now: () => now,
    pass(ms) {
      now = toEpochMs(now + ms);
    },
    ask: (path, request) => ask(`${sandbox.url}${path}`, request),
  };
}

/** By the clock of this machine, calm, and an upstream of servers that may be asked as often as anybody likes. */
export function startUnlimitedSandbox(): Promise<Sandbox> {
  return startSandbox({
    port: 0,
    now: () => toEpochMs(Date.now()),
    isCalm: true,
    kinds: [serverMonitorSandbox({ limits: null })],
  });
}

/** Configuration that asks only that upstream, so often at most: as soon as it is time, where a test waits for passes. */
export function unlimitedConfig(sandbox: Sandbox, perMinute = 600): string {
  return sandbox
    .configText({ include: ['server-monitor'] })
    .replace('auth: x-api-key', `auth: x-api-key\n    limits: { perMinute: ${perMinute}, perHour: 20000 }`);
}

/** The same as data, each page with its first component alone: every component is a dozen files and as many badges. */
export function smallConfig(sandbox: Sandbox, perMinute?: number): SmallConfig {
  const config = parse(unlimitedConfig(sandbox, perMinute)) as SmallConfig;
  return {
    ...config,
    pages: config.pages.map(({ groups: _, components, ...page }) => ({
      ...page,
      components: components.slice(0, 1).map(({ group_id: __, ...component }) => component),
    })),
  };
}

interface SmallConfig {
  readonly pages: readonly {
    readonly slug: string;
    readonly groups?: unknown;
    readonly components: readonly { readonly group_id?: string }[];
  }[];
}

async function ask(url: string, { method = 'GET', headers = {}, body }: AskOptions = {}): Promise<Asked> {
  const isText = typeof body === 'string';
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
