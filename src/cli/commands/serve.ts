import { setTimeout as wait } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { compose, type Pharos } from '../../app/compose.ts';
import { createLog, type Log } from '../../app/log.ts';
import { type Door, listen } from '../../app/serving/listen.ts';
import type { Config } from '../../config/load.ts';
import { isStatusError, messageOf } from '../../errors.ts';
import { loadConfig, type Options, requireConfig } from '../common.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError, untilStopped } from '../terminal/exit.ts';

/** Serves the published pages until stopped, without syncing. */
export async function serve(options: Options<'host'> & { port?: number }): Promise<number> {
  const config = requireConfig(options.config);
  const secrets = new Set(config.secrets);
  const log = createLog({ isQuiet: options.quiet ?? false, secrets });
  await using pharos = await compose(config, { log, isPublishing: false, isLasting: true, printsMail: false });
  return await serveReleases(pharos, { ...options, log, secrets, load: () => loadConfig(options.config) });
}

/** Serves releases that other nodes rendered and uploaded, until stopped. It doesn't sync or render. */
export async function web(configured: Config | null, options: Options<'host'> & { port?: number }): Promise<number> {
  const config = configured === null ? null : forWeb(configured);
  const secrets = new Set(config?.secrets);
  const log = createLog({ isQuiet: options.quiet ?? false, secrets });
  if (config?.releases === undefined)
    throw new UsageError(
      '--role web needs a bucket to read releases from. Set releases.s3 in pharos.yaml (docs/nodes.md). Nodes with --role all that share a Postgres database need none.',
    );
  const hasDatabase = config.store !== undefined;
  if (!hasDatabase && config.access.key === undefined)
    throw new UsageError(
      '--role web without store.url reads pages and their access rules from the bucket, where they are encrypted. Set access.key to the same value on all nodes.',
    );
  // The nodes that send emails must be able to read the addresses.
  if (config.access.key === undefined && (config.subscriptions || config.pages.some((page) => page.subscriptions)))
    throw new UsageError(
      'With --role web, other nodes send the emails to subscribers and must be able to read their addresses. Set access.key to the same value on all nodes.',
    );
  await using pharos = await compose(config, {
    log,
    isPublishing: false,
    isTaking: true,
    isLasting: true,
    // The node's own file, with nothing but data from the bucket.
    onOlder: hasDatabase ? 'refuse' : 'migrate',
    printsMail: false,
  });
  const load = (): Config | null => {
    const next = loadConfig(options.config);
    return next === null ? null : forWeb(next);
  };
  return await serveReleases(pharos, { ...options, log, secrets, load });
}

/** Without a shared database, anything written on this node would never reach the others. */
function forWeb(config: Config): Config {
  if (config.store !== undefined) return config;
  return {
    ...config,
    pages: config.pages.map(({ subscriptions: _, ...page }) => page),
    subscriptions: false,
    intake: [],
    notifications: [],
    exports: [],
  };
}

interface Serving {
  readonly log: Log;
  /** The log's secrets. Those of the next configuration are added before it is used. */
  readonly secrets: Set<string>;
  /** Reads the configuration again; null: there is none to read. @throws CONFIG_INVALID */
  readonly load: () => Config | null;
  /** Called at the end of a reload. */
  readonly onReloaded?: () => void;
}

/** Serves the published pages until stopped. */
async function serveReleases(pharos: Pharos, options: Serving & Parameters<typeof listen>[1]): Promise<number> {
  const door = await listen(pharos, options);
  pharos.base.closing.defer(door.close);
  process.stdout.write(`Pharos serves ${door.url}/\n`);
  return await untilServed(pharos, door, options);
}

/** Waits until the process is stopped, and closes the door gently. SIGHUP reloads the configuration. */
export async function untilServed(pharos: Pharos, door: Door, serving: Serving): Promise<number> {
  const { closing, live } = pharos.base;
  const { log } = serving;
  const stopping = new AbortController();
  closing.defer(() => stopping.abort());
  let newest = 0;
  closing.defer(onHangUp((own = ++newest) => reload(pharos, serving, stopping.signal, () => own === newest)));
  await pharos.serving.taking?.open();
  const signal = await untilStopped();
  log.info({ signal }, 'stopping');
  door.drain();
  // How long a load balancer needs to notice that this node isn't ready. Not after Ctrl-C, which is pressed at a terminal.
  const { drainSeconds } = live.config().server;
  if (signal === 'SIGTERM' && drainSeconds > 0) await wait(drainSeconds * 1_000);
  setTimeout(() => {
    log.error(`stopping took longer than ${STOP_MAX_MS / 1_000} s and was interrupted`);
    process.exit(EXIT_FAILED);
  }, STOP_MAX_MS).unref();
  return EXIT_DONE;
}

/** Supervisors usually allow half a minute. Nothing is lost if the process is killed. */
const STOP_MAX_MS = 25_000;
const RELOAD_AGAIN_MS = 5_000;

/**
 * Reads the configuration again, and replaces the old one if it is valid. Errors are logged, each with its path, and
 * change nothing. Doesn't wait for a reload in progress, which may be waiting for a run, because this one may close a
 * page. After `stopping`, nothing is started any more. Only the newest tries again.
 */
async function reload(pharos: Pharos, serving: Serving, stopping: AbortSignal, isNewest: () => boolean): Promise<void> {
  const { load, log, secrets, onReloaded } = serving;
  const note = (outcome: string): void => pharos.base.audit.note({ actor: 'signal', action: 'reload', outcome });
  if (stopping.aborted) return;
  try {
    const next = load();
    if (next === null) {
      log.warn('There is no configuration file to reload.');
      return;
    }
    for (const secret of next.secrets) secrets.add(secret);
    const restartNeeded = await pharos.publishing.reconfigure(next);
    if (!stopping.aborted) onReloaded?.();
    log.info({ config: next.file }, 'configuration reloaded');
    for (const name of restartNeeded) log.warn({ setting: name }, 'changed; takes effect after a restart');
    note(restartNeeded.length === 0 ? 'done' : `done; needs a restart: ${restartNeeded.join(', ')}`);
  } catch (error) {
    const issues = isStatusError(error) ? error.issues : [];
    for (const { path, message } of issues) log.error({ path }, message);
    if (issues.length === 0) log.error(messageOf(error));
    if (isStatusError(error) && error.code === 'STORE_UNAVAILABLE') {
      log.error('The configuration is not completely in force before the database can be used. Pharos tries again.');
      await wait(RELOAD_AGAIN_MS, undefined, { ref: false });
      return isNewest() ? reload(pharos, serving, stopping, isNewest) : undefined;
    }
    log.error('Configuration not reloaded; the old one stays active.');
    const reason = issues.length === 0 ? messageOf(error) : issues.map(({ path }) => path || '(document)').join(', ');
    note(`rejected: ${reason}`);
  }
}

/**
 * Calls `listener` at SIGHUP. If the terminal was closed, SIGHUP ends the process, as by default. Returns a function that
 * stops listening.
 */
function onHangUp(listener: () => unknown): () => void {
  const hasTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));
  const hadTerminal = hasTerminal();
  const listen = (): void => {
    if (hadTerminal && !hasTerminal()) process.kill(process.pid, 'SIGTERM');
    else listener();
  };
  process.on('SIGHUP', listen);
  return () => void process.off('SIGHUP', listen);
}
