import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StoreParts } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { compose, type Pharos } from '../../app/compose.ts';
import { createLog, type Log } from '../../app/log.ts';
import { cronExpressions, missedUpstreams, upstreamsIn } from '../../app/nodes/elections.ts';
import { createReferenceLog } from '../../app/references.ts';
import type { Engine } from '../../app/run/engine.ts';
import { createReportLog } from '../../app/run/outcome.ts';
import { listen } from '../../app/serving/listen.ts';
import { releasesTask, uploadTask } from '../../app/targets.ts';
import { witnessAll } from '../../app/transparency.ts';
import { type Config, parseConfig } from '../../config/load.ts';
import { SECOND_MS } from '../../model/time.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';
import { JITTER_MAX_MS, startSchedules } from '../../sync/schedule.ts';
import { loadConfig, type Options } from '../common.ts';
import { EXIT_DONE, untilStopped } from '../terminal/exit.ts';
import { wrapText } from '../terminal/table.ts';
import { deliverAll } from './sending.ts';
import { untilServed, web } from './serve.ts';

type StartOptions = Options<'host', 'newKey'> & { port?: number; role?: 'all' | 'sync' | 'web' };

/** Syncs on schedule, publishes what changed and serves, until stopped. */
export async function start(options: StartOptions): Promise<number> {
  const configured = loadConfig(options.config);
  if (options.role === 'web') return web(configured, options);
  if (configured !== null) return run(configured, options, null);
  // Loaded on demand, because a configured server doesn't need it.
  const { startSandbox } = await import('../../sandbox/sandbox.ts');
  const sandbox = await startSandbox(0, now);
  try {
    return await run(sandboxConfig(sandbox), options, sandbox);
  } finally {
    await sandbox.stop();
  }
}

async function run(config: Config, options: StartOptions, sandbox: Sandbox | null): Promise<number> {
  const secrets = new Set(config.secrets);
  const log = createLog({ isQuiet: options.quiet ?? false, secrets });
  const writeReport = createReportLog(log);
  await using pharos = await compose(config, {
    ...{ log, isPublishing: true, isLasting: true, onOlder: 'migrate', printsMail: sandbox !== null },
    isNewKey: options.newKey ?? false,
    onTaken: (names) => {
      makeUp(pharos, upstreamsIn(names));
      if (names.some((name) => name === uploadTask(live.config()))) publishing.targets.takeOver();
      if (names.some((name) => name === releasesTask(live.config()))) publishing.releaseUploads?.takeOver();
    },
    onReport: (report) => {
      writeReport(report);
      writeReferences();
      deliver();
      witness();
      publishing.targets.follow(report.id);
      publishing.releaseUploads?.follow();
    },
  });
  const { base, publishing } = pharos;
  const { closing, live } = base;
  const writeReferences = createReferenceLog(base, log);
  // Both after each run, without delaying the next one.
  const deliver = oneAtATime(
    base,
    () => deliverExports(base, log),
    (error) => log.error(error, 'an export failed'),
  );
  const witness = oneAtATime(
    base,
    () => witnessAll(base),
    (error) => log.error(error, 'watching other pages failed'),
  );
  const door = await listen(pharos, { ...options, log, takesVisitors: options.role !== 'sync' });
  closing.defer(door.close);
  // The sandbox uses the address that we listen on; a configured address stays.
  if (sandbox !== null) live.setSiteUrl(door.url);
  process.stdout.write(`${welcome(door.url, sandbox)}\n`);
  await publishing.elections.open();
  publishing.targets.open();
  let schedules = scheduleRuns(live.config(), publishing.engine);
  closing.defer(() => schedules.stop());
  // The engine logs failed runs.
  const runAtOnce = () => publishing.engine.submit({ trigger: 'start' });
  publishing.checks.open(runAtOnce().report);
  const served = untilServed(pharos, door, {
    load: () => (sandbox === null ? loadConfig(options.config) : null),
    log,
    secrets,
    onReloaded: () => {
      schedules.stop();
      schedules = scheduleRuns(live.config(), publishing.engine);
      void publishing.elections.open().then(() => {
        runAtOnce();
        publishing.checks.follow();
      });
    },
  });
  // Pages from before are served while the thread that publishes loads; without it, the process ends.
  const whilePublishing = publishing.publisher?.ready.then(() => served);
  return await Promise.race([served, whilePublishing ?? served]);
}

/** A function that starts the task, unless it is still running. Closing waits for it. */
function oneAtATime({ closing }: StoreParts, task: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let running: Promise<void> | null = null;
  closing.defer(() => running ?? undefined);
  return () => {
    running ??= task()
      .catch(onError)
      .finally(() => {
        running = null;
      });
  };
}

/** Sends what is due of all exports. */
async function deliverExports(base: StoreParts, log: Log): Promise<void> {
  for (const report of await deliverAll(base)) {
    const { exportId, queued, sent, rejected, error } = report;
    if (queued + sent + rejected > 0) log.info({ export: exportId, queued, sent, rejected }, 'exported');
    if (error !== null) log.warn({ export: exportId }, error);
  }
}

/** Queries what the previous node missed: at once, and again after ticks that may come late. */
function makeUp({ base: { live, store }, publishing: { engine } }: Pharos, ids: readonly string[]): void {
  const expressions = cronExpressions(live.config());
  const ask = async (): Promise<void> => {
    const upstreams = await missedUpstreams(store, expressions, { ids, now: now() });
    if (upstreams.length > 0) engine.submit({ trigger: 'schedule', upstreams });
  };
  // If this fails, the next tick queries them.
  const tryAsk = (): void => void ask().catch(() => undefined);
  tryAsk();
  setTimeout(tryAsk, JITTER_MAX_MS + SECOND_MS).unref();
}

/** Upstreams with the same cron expression are queried together, so that one tick causes one run. */
function scheduleRuns(config: Config, engine: Engine): ReturnType<typeof startSchedules> {
  const groups = new Map<string, string[]>();
  for (const [id, expression] of cronExpressions(config)) groups.getOrInsert(expression, []).push(id);
  // Not awaited, so that fast upstreams are queried on time even while a run waits for a slow one.
  return startSchedules(groups, (upstreams) => void engine.submit({ trigger: 'schedule', upstreams }));
}

/** The sandbox's configuration. Its data starts anew every time, so old data is cleared. */
function sandboxConfig(sandbox: Sandbox): Config {
  const data = resolve('data', 'sandbox');
  rmSync(data, { recursive: true, force: true });
  const text = `${sandbox.configText()}data: ${JSON.stringify(data)}\nschedule: "*/15 * * * * *"\n`;
  const config = parseConfig({ text, file: null, folder: process.cwd() }, CONNECTORS, {
    ...process.env,
    ...sandbox.environment(),
  });
  // Emails are printed, so it needs no mail server.
  return { ...config, subscriptions: true };
}

function welcome(url: string, sandbox: Sandbox | null): string {
  if (sandbox === null) return `Pharos serves ${url}/`;
  const { PARTNERS_PASSWORD: password, PHAROS_TOKEN: token } = sandbox.environment();
  const rows = [
    [`${url}/acme/`, 'public'],
    [`${url}/cloud/`, 'public, with forty components'],
    [`${url}/partners/`, `behind a password: ${password}`],
    [`${url}/staff/`, 'for an email domain; sign-in emails appear here'],
    ['operator token', String(token)],
  ] as const;
  const width = Math.max(...rows.map(([name]) => name.length));
  return wrapText(
    [
      `Pharos serves ${url}/ from the sandbox: local test upstreams that fail and recover.`,
      ...rows.map(([name, words]) => `  ${name.padEnd(width)}  ${words}`),
      'For your own systems, run `pharos init`.',
    ].join('\n'),
  );
}

/** Runs local upstreams until stopped, and prints a configuration for them. */
export async function sandbox(options: { readonly port: number }): Promise<number> {
  const { startSandbox } = await import('../../sandbox/sandbox.ts');
  const upstreams = await startSandbox(options.port, now, (line) => process.stderr.write(`${line}\n`));
  const exports = Object.entries(upstreams.environment()).map(([name, value]) => `export ${name}='${value}'`);
  process.stdout.write(
    `# Upstreams on ${upstreams.url}. In another shell:\n${exports.join('\n')}\n\n# pharos.yaml\n${upstreams.configText()}`,
  );
  await untilStopped();
  await upstreams.stop();
  return EXIT_DONE;
}
