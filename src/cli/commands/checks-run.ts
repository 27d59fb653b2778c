import { checkPlace, checksHere, listChecks, makeChecker } from '../../app/nodes/checks.ts';
import type { Finished, OwnCheck } from '../../checks/checker.ts';
import { checkTarget } from '../../sync/connectors/check.ts';
import { EXIT_DONE, EXIT_FAILED } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { paint, plain, table } from '../terminal/table.ts';
import { openToRead, print, requireConfig, unknownName } from './common.ts';

export interface ChecksRunOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Makes checks once and prints what came of it; nothing is stored. Fails when something is down, or couldn't be checked. */
export async function checksRun(names: readonly string[], options: ChecksRunOptions): Promise<number> {
  const config = requireConfig(options.config);
  await using base = await openToRead(config);
  const all = checksHere(base, await listChecks(base));
  const wanted = names.length === 0 ? all : names.flatMap((name) => named(name, all));
  const progress = createProgress(options.json ?? false);
  progress.doing(`checking ${wanted.length}`);
  try {
    const checker = makeChecker(base, [...new Set(wanted)], { write: async () => undefined });
    const finished = await checker.runOnce(true);
    progress.end();
    const isOk = finished.every(({ verdict }) => verdict.state === 'operational' || verdict.state === 'degraded');
    const text = finished.length === 0 ? 'There is no active check to make here.' : drawTable(finished);
    print(options.json === true, { ok: isOk, place: checkPlace(base), checks: finished.map(toResult) }, text);
    return isOk ? EXIT_DONE : EXIT_FAILED;
  } finally {
    progress.end();
  }
}

/** By its id, its name, or `<upstream id>/<id>`. @throws UsageError where nothing is called so */
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
  operational: paint('good', '✓'),
  degraded: paint('middling', '!'),
  major_outage: paint('bad', '✗'),
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
