import { readFileSync } from 'node:fs';
import { ownComponents, type StoreParts } from '../../app/build-store.ts';
import { now, sleep } from '../../app/clock.ts';
import { checkPlace, checksHere, listChecks, makeChecker } from '../../app/nodes/checks.ts';
import { createChannels } from '../../app/notify/channels.ts';
import { releaseProblems } from '../../app/plan.ts';
import { type ProbedPages, type ProbeRow, probeUpstream } from '../../app/probe.ts';
import { findUnknownReferences, hiddenHistory, pageProblems, type ReadNow, readNow } from '../../app/references.ts';
import { configuredTargets } from '../../app/targets.ts';
import type { Finished, OwnCheck } from '../../checks/checker.ts';
import { lineAt, parseFile } from '../../config/faults.ts';
import type { Config } from '../../config/load.ts';
import type { Channel } from '../../config/notifications.ts';
import { isStatusError, messageOf } from '../../errors.ts';
import { type Learned, WRITTEN_ID } from '../../model/observation.ts';
import { MINUTE_MS } from '../../model/time.ts';
import type { UnknownReference } from '../../publish/definitions/references.ts';
import { compilePages } from '../../publish/draw/compile-pages.ts';
import type { Target } from '../../publish/targets/create-target.ts';
import { checkTarget } from '../../sync/connectors/check.ts';
import type { Upstream } from '../../sync/upstream.ts';
import { type Options, openToRead, print, requireConfig, unknownName } from '../common.ts';
import { findingLines } from '../doctor/finding.ts';
import { providerFindings } from '../doctor/identity-provider.ts';
import { requireAnswer } from '../doctor/machine.ts';
import { EXIT_FAILED, EXIT_USAGE } from '../terminal/exit.ts';
import { allDone, createProgress, type Progress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { mark, marked, plain, table } from '../terminal/table.ts';

/**
 * Queries every upstream once, and writes a test file to every target and removes it; prints one row for each. Then
 * prints problems of pages, and references to things that don't exist. Offline, it contacts nothing, and checks the file
 * itself and stored data.
 */
export async function check(options: Options<never, 'offline'>): Promise<number> {
  const config = requireConfig(options.config);
  using progress = createProgress(options.quiet ?? options.json ?? false);
  await using pharos = await openToRead(config);
  const components = ownComponents(config);
  if (components !== null) await compilePages(components);
  const isOffline = options.offline ?? false;
  const asked = isOffline ? [] : pharos.live.upstreams().filter(({ id }) => id !== WRITTEN_ID);
  const { rows, probed, lists } = await probeAll(pharos, asked, progress);
  const targets = await Promise.all(isOffline ? [] : configuredTargets(config, pharos, UNREAD).map(probeTarget));
  const answering = new Set(rows.filter(({ isOk }) => isOk).map(({ upstream }) => upstream));
  const read = await readNow(pharos, isOffline ? 'files' : answering, lists);
  const judged = rows.map((row) => withVerdict(row, read));
  const upstreams = isOffline ? refusedFiles(read) : judged;
  for (const [id, learned] of read.learned) probed.set(id, learned);
  const { pages } = (await pharos.readSite(now())).resolved;
  const problems = [
    ...releaseProblems(pharos.folders),
    ...(await pageProblems(pharos, probed)),
    ...(await hiddenHistory(pharos.database, pages)),
  ];
  const references = withLines(config, await findUnknownReferences(pharos, read.learned));
  const providers = isOffline ? [] : await providerFindings(config, { now, proxy: pharos.proxy, pages });
  const { channels, off: channelsOff } = await createChannels({ ...pharos, ...pharos.live, now, sleep }).known();
  const isReachable =
    [...upstreams, ...targets].every((row) => row.isOk) && providers.every(({ result }) => result !== 'fault');
  const isRight = references.every(({ isPast }) => isPast);
  progress.end();
  const lines = [
    ...(isOffline ? [OFFLINE, ...filesText(read)] : [rowsText(judged)]),
    ...targets.map(({ place, isOk, code, summary }) =>
      isOk ? marked('good', `${place}: ${summary}`) : marked('bad', `${code}: ${summary}`),
    ),
    ...problems.map(({ slug, message }) => marked('middling', `page ${slug}: ${message}`)),
    ...references.map(({ place, message, isPast, line }) =>
      marked(isPast ? 'middling' : 'bad', `${place}${line === undefined ? '' : ` (line ${line})`}: ${message}`),
    ),
    ...channels.map(channelText),
    ...channelsOff.map(({ id, kind, reason }) =>
      marked('middling', `channel ${id}${kind === null ? '' : ` (${kind})`} is off: ${reason}`),
    ),
    ...providers.flatMap(findingLines),
  ];
  const file = config.file ?? 'The configuration';
  // Without their settings, which are secrets.
  const channelRows = channels.map(({ id, kind, pages = null, components = null, monitors = null }) => {
    return { id, kind, pages, components, monitors };
  });
  const status = print(
    options,
    {
      ...{ ok: isReachable && isRight, config: config.file, upstreams, targets, problems, references },
      ...{ channels: channelRows, channelsOff, providers },
    },
    `${file} ${isRight ? 'is valid' : 'refers to something that does not exist'}\n\n${lines.join('\n')}`,
    isRight,
  );
  if (!isReachable) return EXIT_FAILED;
  return isRight ? status : EXIT_USAGE;
}

/** A row for each upstream, its status pages, and what its lists have. */
async function probeAll(pharos: StoreParts, upstreams: readonly Upstream[], progress: Progress) {
  const { asking, waiting } = upstreamProgress(progress, now);
  const probed = new Map<string, ProbedPages>();
  const lists = new Map<string, Learned>();
  const rows = await allDone(
    upstreams.map((upstream) =>
      probeUpstream(pharos, upstream, {
        onPages: (pages) => probed.set(upstream.id, pages),
        onLists: (learned) => lists.set(upstream.id, learned),
        onWait: waiting,
      }),
    ),
    asking,
  );
  return { rows, probed, lists };
}

/** Adds to a row how a pass would judge the upstream's data. */
function withVerdict(row: ProbeRow, { refused, learned }: ReadNow): ProbeRow {
  const reason = refused.get(row.upstream);
  if (reason !== undefined) return { ...row, ...refusal(reason) };
  const unread = unreadable(learned.get(row.upstream)).filter((text) => !row.warnings.includes(text));
  return { ...row, warnings: [...row.warnings, ...unread] };
}

/** The parts of an answer that a sync couldn't use. */
function unreadable(learned: Learned | undefined): string[] {
  return (learned?.problems ?? [])
    .filter(({ kind }) => kind !== 'note')
    .slice(0, DROPPED_SHOWN)
    .map(({ place, message }) => `${place}: ${message}`);
}

const DROPPED_SHOWN = 5;

/** Files on this machine are judged offline too. */
function refusedFiles({ refused }: ReadNow) {
  return [...refused].map(([upstream, reason]) => ({ upstream, ...refusal(reason) }));
}

function refusal(reason: string) {
  return { isOk: false, code: 'UPSTREAM_SHAPE', summary: `a sync would take nothing of it: ${reason}` };
}

function filesText(read: ReadNow): string[] {
  const warned = [...read.learned].flatMap(([upstream, learned]) =>
    unreadable(learned).map((text) => marked('middling', `${upstream}: ${text}`)),
  );
  const refused = refusedFiles(read).map((row) => marked('bad', `${row.upstream}: ${row.code}: ${row.summary}`));
  return [...refused, ...warned];
}

/** Adds the line of the file to each reference; references in posts have none. */
function withLines(
  { file }: Config,
  references: readonly UnknownReference[],
): readonly (UnknownReference & { readonly line?: number })[] {
  if (file === null) return references;
  const parsed = parseFile({ text: readFileSync(file, 'utf8'), file });
  return references.map((reference) => {
    const line = /^(?:site|pages|notifications|intake)\b/.test(reference.place)
      ? lineAt(parsed, reference.place)
      : null;
    return line === null ? reference : { ...reference, line };
  });
}

/** A probe writes no page, so it never uses these. */
const UNREAD = { addresses: () => ({ home: null }), sources: () => [] };

const OFFLINE = 'Offline: no upstream and no target was contacted. References are checked against stored data.';

async function probeTarget(target: Target) {
  const base = { target: target.kind, place: target.place };
  try {
    if (target.kind === 'folder') await requireAnswer(target.place);
    await target.probe();
    return { ...base, isOk: true, code: null, summary: 'can be written' };
  } catch (error) {
    const code = isStatusError(error) ? error.code : 'TARGET_REFUSED';
    return { ...base, isOk: false, code, summary: messageOf(error) };
  } finally {
    await target.close();
  }
}

function channelText({ id, kind, pages, components, monitors }: Channel): string {
  const ties = Object.entries({ pages, components, monitors }).flatMap(([what, names]) =>
    names === undefined ? [] : [`${what} ${names.join(', ')}`],
  );
  return marked('good', `channel ${id} (${kind}): ${ties.length === 0 ? 'every page' : ties.join('; ')}`);
}

/** In minutes, or in hours if there are many. */
function durationWords(ms: number | null): string {
  if (ms === null) return '–';
  const minutes = Math.ceil(ms / MINUTE_MS);
  return minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

function rowsText(rows: readonly ProbeRow[]): string {
  if (rows.length === 0) return 'No upstreams configured.';
  const lines = table(
    ['', 'upstream', 'kind', 'monitors', 'fresh within', ''],
    rows.map((row) => [
      mark(row.isOk ? 'good' : 'bad'),
      row.upstream,
      row.kind,
      row.monitorsTotal === null ? '–' : String(row.monitorsTotal),
      durationWords(row.detailAgeMaxMs),
      plain(row.isOk ? row.summary : `${row.code}: ${row.summary}`),
    ]),
  );
  const warnings = rows.flatMap((row) =>
    row.warnings.map((warning) => marked('middling', `${row.upstream}: ${warning}`)),
  );
  return [lines, ...warnings].join('\n');
}

/** Runs checks once and prints the results; nothing is stored. Fails if something is down or couldn't be checked. */
export async function checksRun(names: readonly string[], options: Options): Promise<number> {
  const config = requireConfig(options.config);
  await using base = await openToRead(config);
  const all = checksHere(base, await listChecks(base));
  const wanted = names.length === 0 ? all : names.flatMap((name) => named(name, all));
  using progress = createProgress(options.json ?? false);
  progress.doing(`checking ${wanted.length}`);
  const checker = makeChecker(base, [...new Set(wanted)], { write: async () => undefined });
  const finished = await checker.runOnce(true);
  progress.end();
  const isOk = finished.every(({ verdict }) => verdict.state === 'operational' || verdict.state === 'degraded');
  const text = finished.length === 0 ? 'There is no active check to make here.' : drawTable(finished);
  return print(options, { ok: isOk, place: checkPlace(base), checks: finished.map(toResult) }, text, isOk);
}

/** Finds a check by its id, name, or `<upstream id>/<id>`. @throws UsageError if there is none */
function named(name: string, all: readonly OwnCheck[]): readonly OwnCheck[] {
  const found = all.filter(({ upstream, check }) => [check.id, check.name, `${upstream}/${check.id}`].includes(name));
  if (found.length > 0) return found;
  const ids = all.map(({ check }) => check.id);
  throw unknownName('check', name, ids);
}

function toResult({ upstream, check, verdict }: Finished): object {
  const { state, fault, phases, certificateEndsAt } = verdict;
  return {
    ...{ id: `${upstream}/${check.id}`, name: check.name, type: check.type, target: checkTarget(check), state, fault },
    milliseconds: Object.fromEntries(Object.entries(phases).map(([phase, ms]) => [phase, round(ms)])),
    certificateEndsAt: certificateEndsAt === null ? null : new Date(certificateEndsAt).toISOString(),
  };
}

const MARKS = {
  operational: mark('good'),
  degraded: mark('middling'),
  major_outage: mark('bad'),
  unknown: '?',
} as const;

function drawTable(finished: readonly Finished[]): string {
  const rows = finished.map(({ upstream, check, verdict: { state, phases, fault } }) => [
    MARKS[state],
    plain(`${upstream}/${check.id}`),
    ...[phases.name, phases.connect, phases.tls, phases.firstByte, phases.total].map(milliseconds),
    fault ?? 'operational',
  ]);
  return table(['', 'check', 'name', 'connect', 'TLS', 'first byte', 'total', ''], rows);
}

function milliseconds(ms: number | undefined): string {
  return ms === undefined ? '' : `${round(ms)} ms`;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
