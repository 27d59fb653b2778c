import { createRuns } from '../../app/build-publish.ts';
import { buildStore } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { createLog } from '../../app/log.ts';
import { EXIT_DONE, EXIT_FAILED } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { runProgress, runText } from '../terminal/report-text.ts';
import { print, requireConfig, unknownName } from './common.ts';

export interface SyncOptions {
  readonly config?: string;
  readonly upstream?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** One pass into the store; its report on standard output. */
export async function sync(options: SyncOptions): Promise<number> {
  const config = requireConfig(options.config);
  if (options.upstream !== undefined && !config.upstreams.some((upstream) => upstream.id === options.upstream)) {
    const ids = config.upstreams.map(({ id }) => id);
    throw unknownName('upstream', options.upstream, ids);
  }
  const isQuiet = options.quiet ?? options.json ?? false;
  const log = createLog({ isQuiet, secrets: config.secrets });
  const progress = createProgress(isQuiet);
  await using base = await buildStore(config, { log });
  try {
    const engine = createRuns(base, { refresh: base.readSite, progress: runProgress(progress, now) });
    const report = await engine.run({
      trigger: 'command',
      isPublishing: false,
      ...(options.upstream === undefined ? {} : { upstreams: [options.upstream] }),
    });
    progress.end();
    print(options.json === true, report, runText(report));
    return report.hasFailed ? EXIT_FAILED : EXIT_DONE;
  } finally {
    progress.end();
  }
}
