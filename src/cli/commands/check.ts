import { now } from '../../app/compose.ts';
import { type ProbeRow, probeUpstream } from '../../app/probe.ts';
import { configuredTargets } from '../../app/targets.ts';
import { isStatusError, messageOf } from '../../errors.ts';
import { MINUTE_MS } from '../../model/time.ts';
import type { DefinitionProblem } from '../../publish/definitions/inputs.ts';
import type { Target } from '../../publish/targets/target.ts';
import { WRITTEN_ID } from '../../sync/connector.ts';
import { EXIT_DONE, EXIT_FAILED } from '../terminal/exit.ts';
import { paint, plain } from '../terminal/paint.ts';
import { createProgress } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';
import { openQuietly, print, requireConfig } from './common.ts';

export interface CheckOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Asks every upstream once, and writes to every target something that it takes away again; one row each. Then what is wrong with pages. */
export async function check(options: CheckOptions): Promise<number> {
  const config = requireConfig(options.config);
  const progress = createProgress(options.quiet ?? options.json ?? false);
  await using pharos = await openQuietly(config);
  try {
    const upstreams = pharos.upstreams.filter(({ id }) => id !== WRITTEN_ID);
    progress.doing(`asking ${upstreams.length} upstreams`);
    const rows = await Promise.all(upstreams.map((upstream) => probeUpstream(pharos, upstream)));
    const targets = await Promise.all(
      configuredTargets(config, { ...pharos, now, home: () => pharos.addresses().home }).map(probeTarget),
    );
    const { problems } = (await pharos.siteState(now())).resolved;
    const isOk = [...rows, ...targets].every((row) => row.isOk);
    progress.end();
    print(
      options.json === true,
      { ok: isOk, config: config.file, upstreams: rows, targets, problems },
      `${config.file ?? 'configuration'}: right\n\n${[rowsText(rows), ...targets.map(targetText), ...problems.map(problemText)].join('\n')}`,
    );
    return isOk ? EXIT_DONE : EXIT_FAILED;
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

/** By what is stored: a page of an upstream that was never asked is waited for. */
function problemText({ slug, message }: DefinitionProblem): string {
  return `${paint('middling', '!')} page ${slug}: ${plain(message)}`;
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
