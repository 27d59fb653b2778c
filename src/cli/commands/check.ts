import { now } from '../../app/compose.ts';
import type { ChannelOff } from '../../app/notify/channels.ts';
import { type ProbedPages, pageProblems } from '../../app/page-problems.ts';
import { type ProbeRow, probeUpstream } from '../../app/probe.ts';
import { findUnknownReferences } from '../../app/references.ts';
import { configuredTargets } from '../../app/targets.ts';
import type { Channel } from '../../config/notifications.ts';
import { isStatusError, messageOf } from '../../errors.ts';
import { MINUTE_MS } from '../../model/time.ts';
import type { DefinitionProblem } from '../../publish/definitions/inputs.ts';
import type { UnknownReference } from '../../publish/definitions/references.ts';
import type { Target } from '../../publish/targets/target.ts';
import { WRITTEN_ID } from '../../sync/connector.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../terminal/exit.ts';
import { paint, plain } from '../terminal/paint.ts';
import { createProgress } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';
import { openQuietly, print, requireConfig } from './common.ts';

export interface CheckOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/**
 * Asks every upstream once, and writes to every target something that it takes away again; one row each. Then what is wrong
 * with pages, and what is named and not there.
 */
export async function check(options: CheckOptions): Promise<number> {
  const config = requireConfig(options.config);
  const progress = createProgress(options.quiet ?? options.json ?? false);
  await using pharos = await openQuietly(config);
  try {
    const upstreams = pharos.upstreams.filter(({ id }) => id !== WRITTEN_ID);
    progress.doing(`asking ${upstreams.length} upstreams`);
    const probed = new Map<string, ProbedPages>();
    const rows = await Promise.all(
      upstreams.map((upstream) => probeUpstream(pharos, upstream, (pages) => probed.set(upstream.id, pages))),
    );
    const targets = await Promise.all(
      configuredTargets(config, { ...pharos, now, home: () => pharos.addresses().home }).map(probeTarget),
    );
    const problems = await pageProblems(pharos, probed);
    const answering = new Set(rows.filter(({ isOk }) => isOk).map(({ upstream }) => upstream));
    const references = await findUnknownReferences(pharos, answering);
    const { channels, off } = await pharos.channels.known();
    const isReachable = [...rows, ...targets].every((row) => row.isOk);
    const isRight = references.every(({ isPast }) => isPast);
    progress.end();
    const lines = [
      rowsText(rows),
      ...targets.map(targetText),
      ...problems.map(problemText),
      ...references.map(referenceText),
      ...channels.map(channelText),
      ...off.map(offText),
    ];
    print(
      options.json === true,
      {
        ok: isReachable && isRight,
        config: config.file,
        upstreams: rows,
        targets,
        problems,
        references,
        channels: channels.map(channelRow),
        channelsOff: off,
      },
      `${config.file ?? 'configuration'}: ${isRight ? 'right' : 'names what is not there'}\n\n${lines.join('\n')}`,
    );
    if (!isReachable) return EXIT_FAILED;
    return isRight ? EXIT_DONE : EXIT_USAGE;
  } finally {
    progress.end();
  }
}

interface TargetRow {
  readonly target: Target['kind'];
  readonly place: string;
  readonly isOk: boolean;
  readonly code: string | null;
  readonly summary: string;
}

async function probeTarget(target: Target): Promise<TargetRow> {
  const base = { target: target.kind, place: target.place };
  try {
    await target.probe();
    return { ...base, isOk: true, code: null, summary: 'can be written' };
  } catch (error) {
    const code = isStatusError(error) ? error.code : 'TARGET_REFUSED';
    return { ...base, isOk: false, code, summary: messageOf(error) };
  } finally {
    await target.close();
  }
}

function targetText({ place, isOk, code, summary }: TargetRow): string {
  return isOk ? `${paint('good', '✓')} ${plain(place)}: ${summary}` : `${paint('bad', '✗')} ${code}: ${plain(summary)}`;
}

/** Of an upstream that does not answer now, by what is stored. */
function problemText({ slug, message }: DefinitionProblem): string {
  return `${paint('middling', '!')} page ${slug}: ${plain(message)}`;
}

function referenceText({ place, message, isPast }: UnknownReference): string {
  return `${isPast ? paint('middling', '!') : paint('bad', '✗')} ${plain(place)}: ${plain(message)}`;
}

/** Without its settings, which are secrets. */
function channelRow({ id, kind, pages, components, monitors }: Channel): Readonly<Record<string, unknown>> {
  return { id, kind, pages: pages ?? null, components: components ?? null, monitors: monitors ?? null };
}

function channelText({ id, kind, pages, components, monitors }: Channel): string {
  const ties = [
    ...(pages === undefined ? [] : [`pages ${pages.join(', ')}`]),
    ...(components === undefined ? [] : [`components ${components.join(', ')}`]),
    ...(monitors === undefined ? [] : [`monitors ${monitors.join(', ')}`]),
  ];
  return `${paint('good', '✓')} channel ${plain(id)} (${kind}): ${plain(ties.length === 0 ? 'every page' : ties.join('; '))}`;
}

function offText({ id, kind, reason }: ChannelOff): string {
  return `${paint('middling', '!')} channel ${plain(id)}${kind === null ? '' : ` (${plain(kind)})`} is off: ${plain(reason)}`;
}

/** Minutes, or hours once there are many. */
function durationWords(ms: number): string {
  const minutes = Math.ceil(ms / MINUTE_MS);
  return minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

function rowsText(rows: readonly ProbeRow[]): string {
  if (rows.length === 0) return 'No upstream is configured.';
  const lines = table(
    ['', 'upstream', 'kind', 'monitors', 'fresh within', ''],
    rows.map((row) => [
      row.isOk ? paint('good', '✓') : paint('bad', '✗'),
      row.upstream,
      row.kind,
      row.monitorsTotal === null ? '–' : String(row.monitorsTotal),
      row.detailAgeMaxMs === null ? '–' : durationWords(row.detailAgeMaxMs),
      plain(row.isOk ? row.summary : `${row.code}: ${row.summary}`),
    ]),
  );
  const warnings = rows.flatMap((row) =>
    row.warnings.map((warning) => `${paint('middling', '!')} ${row.upstream}: ${plain(warning)}`),
  );
  return [lines, ...warnings].join('\n');
}
