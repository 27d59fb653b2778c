/** Several nodes over one Postgres, each a process with a folder and a way to the database of its own. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse, stringify } from 'yaml';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { type RunningPharos, startPharos } from './pharos.ts';
import { smallConfig, unlimitedConfig } from './sandbox.ts';
import { startWarm } from './warm.ts';

/** Without the same on every node, none reads what another encrypted. */
const KEY_OF_ALL = 'one-key-for-all-nodes-'.repeat(2);
const hrefOf = (name: string): string => pathToFileURL(join(import.meta.dirname, name)).href;
/** What `short-periods.mjs` makes of the shortest period of a check. */
export const SHORT_PERIOD_MS = 6_000;

export interface Node {
  readonly name: string;
  readonly cwd: string;
  /** Where it listens, from its first start on the same. */
  readonly url: () => string;
  /** Null: it does not run. */
  readonly process: () => RunningPharos | null;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Sets its clock off by so much, unless it is warm. */
  readonly jump: (ms: number) => void;
  readonly way: CuttingProxy | null;
  /** Of its processes. */
  readonly environment: () => Readonly<Record<string, string>>;
  /** What its processes said, all of them. */
  readonly said: () => string;
  readonly close: () => Promise<void>;
}

export interface NodeInit {
  readonly name: string;
  readonly folder: string;
  /** Text of pharos.yaml. */
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of a Postgres server, which is reached through a way that can be cut; absent: none. */
  readonly database?: string;
  readonly args?: readonly string[];
  /** Checks come more often than they can (`short-periods.mjs`), unless it is warm. */
  readonly hasShortPeriods?: boolean;
  /** Runs in processes that are used again (`warm.ts`), by the clock of the machine. */
  readonly isWarm?: boolean;
}

/** Pictures that nobody looks at are drawn plainly: each process would load fonts and draw each change. */
export const QUICK_PICTURES = `--import=${hrefOf('quick-pictures.mjs')}`;
const OWN_CLOCK = `--import=${hrefOf('jumping-clock.mjs')}`;

/** Has a process make checks of every 30 seconds every 6. */
export const SHORT_PERIODS = `--import=${hrefOf('short-periods.mjs')}`;

export async function createNode(init: NodeInit): Promise<Node> {
  const { name, folder, config, env, database, args = [], hasShortPeriods = false, isWarm = false } = init;
  const cwd = join(folder, name);
  const clock = join(cwd, 'clock');
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'pharos.yaml'), config);
  writeFileSync(clock, '0');
  const target = database === undefined ? null : new URL(database);
  const way = target === null ? null : await startCuttingProxy({ host: target.hostname, port: Number(target.port) });
  if (target !== null && way !== null) target.port = String(way.port);
  let running: RunningPharos | null = null;
  let url = '';
  let port = '0';
  const earlier: RunningPharos[] = [];
  const environment = (): Readonly<Record<string, string>> => ({
    ...env,
    ...(target === null ? {} : { DATABASE_URL: target.href }),
    ...(isWarm
      ? {}
      : {
          PHAROS_TEST_CLOCK: clock,
          NODE_OPTIONS: `${OWN_CLOCK} ${QUICK_PICTURES}${hasShortPeriods ? ` ${SHORT_PERIODS}` : ''}`,
        }),
  });
  const ended = (): RunningPharos | null => {
    const last = running;
    running = null;
    return last;
  };
  return {
    name,
    cwd,
    url: () => url,
    process: () => running,
    start: async () => {
      const begin = isWarm ? startWarm : startPharos;
      running = await begin(['start', '--port', port, ...args], { cwd, env: environment() });
      earlier.push(running);
      url = running.url;
      port = new URL(url).port;
    },
    stop: async () => void (await ended()?.stop()),
    kill: () => ended()?.kill(),
    pause: () => void (running !== null && process.kill(running.pid, 'SIGSTOP')),
    resume: () => void (running !== null && process.kill(running.pid, 'SIGCONT')),
    jump: (ms) => writeFileSync(clock, String(ms)),
    way,
    environment,
    said: () => earlier.map((one) => one.stdout() + one.stderr()).join(''),
    close: async () => {
      way?.heal();
      await ended()?.stop();
      await way?.close();
    },
  };
}

/** Pages of the sandbox that nodes publish: a public and a private one. Each node would draw the others too, as it starts. */
const PAGES: ReadonlySet<unknown> = new Set(['acme', 'partners']);

/** Text of the pharos.yaml of nodes that ask the sandbox's upstream of servers, over the Postgres server of `DATABASE_URL`. */
export function configOverPostgres(
  sandbox: Sandbox,
  {
    everySeconds,
    perMinute = 600,
    isSmall = true,
  }: { readonly everySeconds: number; readonly perMinute?: number; readonly isSmall?: boolean },
): string {
  const config: { readonly pages: readonly { readonly slug: string }[] } = isSmall
    ? smallConfig(sandbox, perMinute)
    : parse(unlimitedConfig(sandbox, perMinute));
  return stringify({
    ...config,
    pages: config.pages.filter(({ slug }) => PAGES.has(slug)),
    store: { url: '${DATABASE_URL}' },
    access: { key: KEY_OF_ALL },
    schedule: `*/${everySeconds} * * * * *`,
  });
}

/** Whether the summary of the page on which the sandbox's website is says that it is down. */
export function saysDown(text: string): boolean {
  return text.includes('"status":"major_outage"');
}

async function statusOf(node: Node, path: string): Promise<number> {
  return (await fetch(`${node.url()}${path}`)).status;
}

/** Waits until a node says so; three of them may begin on a machine that does other things too. */
export async function isReady(node: Node, path = '/-/ready'): Promise<boolean> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    if ((await statusOf(node, path).catch(() => 0)) === 200) return true;
    await new Promise((wait) => setTimeout(wait, 100));
  }
  return false;
}

const READY_WITHIN_MS = 90_000;

/** When each node first showed it, on the clock of `performance.now()`. */
export function shownAt(
  nodes: readonly Node[],
  path: string,
  isShown: (text: string) => boolean,
  patienceMs = 60_000,
  pauseMs = 100,
): Promise<readonly number[]> {
  return Promise.all(
    nodes.map(async (node) => {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const text = await fetch(`${node.url()}${path}`)
          .then((response) => response.text())
          .catch(() => '');
        if (isShown(text)) return performance.now();
        if (performance.now() > deadline) throw new Error(`${node.name} does not show it: ${text.slice(0, 500)}`);
        await new Promise((wait) => setTimeout(wait, pauseMs));
      }
    }),
  );
}
