import { compose, type Pharos } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { listen } from '../../app/serving/listen.ts';
import type { Config } from '../../config/load.ts';
import { type CommonOptions, loadConfig, requireConfig } from '../common.ts';
import { createReload, onHangUp, type ReloadOptions } from '../reload.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { drain, untilStopped } from '../terminal/signals.ts';

interface ServeOptions extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
}

/** Serves the published pages until stopped, without syncing. */
export async function serve(options: ServeOptions): Promise<number> {
  const config = requireConfig(options.config);
  const secrets = new Set(config.secrets);
  const log = createLog({ isQuiet: options.quiet ?? false, secrets });
  await using pharos = await compose(config, { log, isPublishing: false, isLasting: true, printsMail: false });
  return await serveUntilStopped(pharos, { ...options, log, secrets, load: () => loadConfig(options.config) });
}

/** Serves releases that other nodes rendered and uploaded, until stopped. It doesn't sync or render. */
export async function web(configured: Config | null, options: ServeOptions): Promise<number> {
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
  return await serveUntilStopped(pharos, { ...options, log, secrets, load });
}

/** Without a shared database, anything written on this node would never reach the others. */
function forWeb(config: Config): Config {
  if (config.store !== undefined) return config;
  return {
    ...config,
    pages: config.pages.map(({ subscriptions: _, ...page }) => page),
    subscriptions: false,
    operators: { roles: {}, tokens: [] },
    intake: [],
    notifications: [],
    exports: [],
  };
}

type ServingOptions = Parameters<typeof listen>[1] & Pick<ReloadOptions, 'load' | 'secrets'>;

/** Serves the published pages until stopped. SIGHUP reloads the configuration. */
async function serveUntilStopped(pharos: Pharos, options: ServingOptions): Promise<number> {
  const { log, load, secrets } = options;
  const { closing } = pharos.base;
  const door = await listen(pharos, options);
  closing.defer(door.close);
  process.stdout.write(`Pharos serves ${door.url}/\n`);
  const reloading = createReload({ pharos, load, log, secrets });
  closing.defer(reloading.stop);
  closing.defer(onHangUp(reloading.reload));
  await pharos.serving.taking?.open();
  const signal = await untilStopped();
  await drain({ signal, door, log, drainSeconds: pharos.base.live.config().server.drainSeconds });
  return EXIT_DONE;
}
