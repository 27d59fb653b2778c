import { resolve } from 'node:path';
import { createRuns } from '../../app/build-publish.ts';
import { buildStore } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { compose, type Pharos } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { listChecks, makeChecker } from '../../app/nodes/checks.ts';
import { findUnknownReferences } from '../../app/references.ts';
import { configuredTargets, folderTarget, targetDeps } from '../../app/targets.ts';
import { witnessAll } from '../../app/transparency/witness.ts';
import type { Config } from '../../config/load.ts';
import type { UnknownReference } from '../../publish/definitions/references.ts';
import type { Target, TargetReport } from '../../publish/targets/create-target.ts';
import { counted } from '../../schema/counted.ts';
import { type CommonOptions, print, requireConfig, unknownName } from '../common.ts';
import { EXIT_DONE, EXIT_FAILED } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { runProgress, runText } from '../terminal/report-text.ts';
import { paragraph, plain } from '../terminal/table.ts';

interface BuildOptions extends CommonOptions {
  /** Folder to use instead of the configured output. */
  readonly out?: string;
  readonly offline?: boolean;
  /** Write each password page as one encrypted file. */
  readonly sealed?: boolean;
}

/** The default output folder. */
const DEFAULT_FOLDER = 'out';

/** Syncs once (unless offline), publishes everything, and writes the public files for static hosts. */
export async function build(options: BuildOptions): Promise<number> {
  const config = requireConfig(options.config);
  const isQuiet = options.quiet ?? options.json ?? false;
  const log = createLog({ isQuiet, secrets: config.secrets });
  using progress = createProgress(isQuiet);
  await using pharos = await compose(config, { log, isPublishing: true, progress: runProgress(progress, now) });
  const destinations = createTargets(config, pharos, options);
  for (const target of destinations) void target.open();
  if (options.offline !== true) {
    progress.doing('making the checks that are due');
    await makeChecker(pharos.base, await listChecks(pharos.base)).runOnce(false);
    await witnessAll(pharos.base);
  }
  const report = await pharos.publishing.engine.run({
    trigger: 'command',
    ...(options.offline === true ? { upstreams: [] } : {}),
  });
  await pharos.publishing.publisher?.settled();
  const targets: TargetReport[] = [];
  for (const target of destinations) {
    progress.doing(`writing to ${target.place}`);
    targets.push(
      await target.update((done, total) =>
        progress.doing(`writing to ${target.place}: ${done} of ${counted(total, 'pages')}`),
      ),
    );
    await target.close();
  }
  const references = await findUnknownReferences(pharos.base, new Map());
  progress.end();
  print(
    options,
    { ...report, ...summariseFolder(targets), targets, references },
    [runText(report), '', ...references.map(referenceLine), ...targets.flatMap(targetLines)].join('\n'),
  );
  return report.hasFailed || targets.some(({ result }) => result === 'failed') ? EXIT_FAILED : EXIT_DONE;
}

function createTargets(config: Config, { base, serving }: Pharos, { out, sealed }: BuildOptions): readonly Target[] {
  const deps = targetDeps(base, serving.keeper);
  const isSealed = sealed ?? config.output.sealed;
  const configured = out === undefined ? configuredTargets(config, deps, isSealed) : [];
  if (configured.length > 0) return configured;
  return [folderTarget(resolve(out ?? DEFAULT_FOLDER), config, { ...deps, isSealed })];
}

/** Summarises what was written to the folder. */
function summariseFolder(targets: readonly TargetReport[]): object {
  const folder = targets.find(({ kind }) => kind === 'folder');
  if (folder === undefined) return {};
  const { place, filesWritten, filesKept, filesRemoved } = folder;
  return { out: { folder: place, filesWritten, filesKept, filesRemoved } };
}

/** A reference to something that doesn't exist, as a line. */
function referenceLine({ place, message }: UnknownReference): string {
  return paragraph(`! ${plain(place)}: ${plain(message)}`, '  ');
}

function targetLines(report: TargetReport): string[] {
  const { place, filesWritten, filesKept, filesRemoved, message, warnings } = report;
  return [
    `${counted(filesWritten, 'files')} written, ${filesKept} unchanged, ${filesRemoved} removed in ${plain(place)}`,
    ...[...warnings, ...(message === null ? [] : [message])].map((text) => paragraph(`! ${plain(text)}`, '  ')),
  ];
}

/** Syncs once and prints the report. */
export async function sync(options: CommonOptions & { readonly upstream?: string }): Promise<number> {
  const config = requireConfig(options.config);
  if (options.upstream !== undefined && !config.upstreams.some((upstream) => upstream.id === options.upstream)) {
    const ids = config.upstreams.map(({ id }) => id);
    throw unknownName('upstream', options.upstream, ids);
  }
  const isQuiet = options.quiet ?? options.json ?? false;
  const log = createLog({ isQuiet, secrets: config.secrets });
  using progress = createProgress(isQuiet);
  await using base = await buildStore(config, { log });
  const engine = createRuns(base, { refresh: base.readSite, progress: runProgress(progress, now) });
  const report = await engine.run({
    trigger: 'command',
    isPublishing: false,
    ...(options.upstream === undefined ? {} : { upstreams: [options.upstream] }),
  });
  progress.end();
  print(options, report, runText(report));
  return report.hasFailed ? EXIT_FAILED : EXIT_DONE;
}
