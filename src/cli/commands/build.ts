import { resolve } from 'node:path';
import { createRuns } from '../../app/build-publish.ts';
import { buildStore } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { compose, type Pharos } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { listChecks, makeChecker } from '../../app/nodes/checks.ts';
import { findUnknownReferences } from '../../app/references.ts';
import type { RunReport } from '../../app/run/engine.ts';
import { configuredTargets, folderTarget } from '../../app/targets.ts';
import { witnessAll } from '../../app/transparency.ts';
import type { Config } from '../../config/load.ts';
import { StatusError } from '../../errors.ts';
import type { TargetReport } from '../../publish/targets/create-target.ts';
import { counted } from '../../schema/counted.ts';
import { loadConfig, type Options, print, requireConfig, requireUpstream } from '../common.ts';
import { askServer, findServer } from '../server-client.ts';
import { UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { runProgress, runText } from '../terminal/report-text.ts';
import { paragraph, plain } from '../terminal/table.ts';

/** The default output folder. */
const DEFAULT_FOLDER = 'out';

/** Syncs once (unless offline), publishes everything, and writes the public files for static hosts. */
export async function build(options: Options<'out', 'offline' | 'sealed'>): Promise<number> {
  const config = requireConfig(options.config);
  const isQuiet = options.quiet ?? options.json ?? false;
  const log = createLog({ isQuiet, secrets: config.secrets });
  using progress = createProgress(isQuiet);
  await using pharos = await compose(config, { log, isPublishing: true, progress: runProgress(progress, now) });
  const destinations = createTargets(config, pharos, options);
  // Instead of those of a server: two must never write to one place.
  await pharos.publishing.targets.close();
  pharos.base.publishing.targets = { withdraw: () => destinations.forEach((target) => void target.update()) };
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
  const referenceLines = references.map(({ place, message }) => warningLine(`${place}: ${message}`));
  return print(
    options,
    { ...report, ...summariseFolder(targets), targets, references },
    [runText(report), '', ...referenceLines, ...targets.flatMap(targetLines)].join('\n'),
    !report.hasFailed && targets.every(({ result }) => result !== 'failed'),
  );
}

function createTargets(config: Config, { base, serving }: Pharos, { out, sealed }: Options<'out', 'sealed'>) {
  const isSealed = sealed ?? config.output.sealed;
  const configured = out === undefined ? configuredTargets(config, base, serving.keeper, { isSealed }) : [];
  if (configured.length > 0) return configured;
  return [folderTarget(resolve(out ?? DEFAULT_FOLDER), config, base, serving.keeper, isSealed)];
}

/** Summarises what was written to the folder. */
function summariseFolder(targets: readonly TargetReport[]): object {
  const folder = targets.find(({ kind }) => kind === 'folder');
  if (folder === undefined) return {};
  const { place, filesWritten, filesKept, filesRemoved } = folder;
  return { out: { folder: place, filesWritten, filesKept, filesRemoved } };
}

function targetLines({ place, filesWritten, filesKept, filesRemoved, message, warnings }: TargetReport): string[] {
  return [
    `${counted(filesWritten, 'files')} written, ${filesKept} unchanged, ${filesRemoved} removed in ${plain(place)}`,
    ...[...warnings, ...(message === null ? [] : [message])].map(warningLine),
  ];
}

function warningLine(text: string): string {
  return paragraph(`! ${plain(text)}`, '  ');
}

/** Syncs once and prints the report. */
export async function sync(options: Options<'upstream'>): Promise<number> {
  const config = requireConfig(options.config);
  const upstreams = options.upstream === undefined ? null : [requireUpstream(config, options.upstream).id];
  const isQuiet = options.quiet ?? options.json ?? false;
  const log = createLog({ isQuiet, secrets: config.secrets });
  using progress = createProgress(isQuiet);
  await using base = await buildStore(config, { log });
  const engine = createRuns(base, { refresh: base.readSite, progress: runProgress(progress, now) });
  const request = { trigger: 'command', isPublishing: false, ...(upstreams === null ? {} : { upstreams }) };
  const report = await engine.run(request);
  progress.end();
  return print(options, report, runText(report), !report.hasFailed);
}

/** The server always responds earlier than this. */
const WAIT_MS = 10 * 60_000;

/** Tells the running server to sync and publish now, waits, and prints its report. */
export async function rebuild(options: Options<'page' | 'url'>): Promise<number> {
  const config = options.url === undefined ? requireConfig(options.config) : loadConfig(options.config);
  const server = findServer(config, options.url);
  if (server === null)
    throw new UsageError(
      config === null
        ? 'Set PHAROS_TOKEN to the operator token of that server.'
        : 'operators.token is not set, so the server does not accept rebuilds. Set it in the configuration and restart the server.',
    );
  const { base } = server;
  using progress = createProgress(options.quiet ?? options.json ?? false);
  progress.doing(`waiting for ${base} to sync and publish`);
  const answer = await askServer(server, {
    method: 'POST',
    path: 'rebuild?wait=1',
    body: options.page === undefined ? {} : { page: options.page },
    waitMs: WAIT_MS,
  }).finally(() => progress.end());
  const { report, message } = (answer.body ?? {}) as { report?: RunReport; message?: string };
  if (answer.status !== 200 || report === undefined)
    throw new StatusError({
      code: 'UPSTREAM_REFUSED',
      message: `The server at ${base} answered ${answer.status}: ${message ?? 'no reason given.'}`,
    });
  return print(options, report, runText(report), !report.hasFailed);
}
