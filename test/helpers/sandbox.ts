/** A sandbox on a free port with a clock that the test moves, and a plain way to ask it. */

import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts';

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

export interface TestSandbox extends Sandbox {
  now(): EpochMs;
  /** Moves the clock. */
  pass(ms: number): void;
  ask(path: string, options?: AskOptions): Promise<Asked>;
}

/** Calm and without request limits unless told otherwise; stop it when done. */
export async function startTestSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  let now = SANDBOX_START;
  const sandbox = await startSandbox({
    port: 0,
    now: () => now,
    isCalm: true,
    serverMonitor: { limits: null },
    ...options,
  });
  return {
    ...sandbox,
    now: () => now,
    pass(ms) {
      now = toEpochMs(now + ms);
    },
    ask: (path, request) => ask(`${sandbox.url}${path}`, request),
  };
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
