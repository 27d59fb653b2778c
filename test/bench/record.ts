/**
 * The figures of the latest recorded run of each benchmark: docs/benchmarks.json, and the tables of docs/benchmarks.md, which are
 * drawn from it. What a table means is written by hand around it.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { BENCHES } from './benches.ts';
import { type Judged, number } from './budget.ts';

const ROOT = join(import.meta.dirname, '../..');
const RECORD = join(ROOT, 'docs/benchmarks.json');
export const DOCUMENT = join(ROOT, 'docs/benchmarks.md');
/** Commits between a figure and the last change of what it measures. */
const AGE_MAX = 200;
/** Average of a minute, before the run begins. */
const QUIET_LOAD_MAX = 0.5;
/** A run's pace beside the best that was recorded on such a machine. */
const QUIET_PACE_MAX = 1.3;

/** Under what a run is made. */
interface Circumstances {
  readonly commit: string;
  /** How many commits lead to it: stays meaningful when a commit is made anew on top of others. */
  readonly commitNumber: number;
  readonly version: string;
  readonly date: string;
  readonly machine: string;
  /** Processes that ran or waited on average, in the minute before the run. */
  readonly load: number;
  /** At real-time priority, so that other work hardly disturbs it. */
  readonly isRealTime: boolean;
  /** What the environment chose. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface RecordedRun extends Circumstances {
  /** Milliseconds that fixed work took just before (`measurePace`); absent in the oldest records. */
  readonly paceMs?: number;
  readonly figures: readonly Judged[];
}

export type BenchRecord = Readonly<Record<string, RecordedRun>>;

export function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

export function readRecord(): BenchRecord {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as BenchRecord;
}

/** Throws when what would be measured isn't what a commit has. */
export function readCircumstances(load: number): Circumstances {
  const changed = git('status', '--porcelain', '--', 'src', 'bin', 'test/bench', 'package-lock.json');
  if (changed !== '') throw new Error(`Commit these first, so that figures can name what they measure:\n${changed}`);
  const [processor] = cpus();
  const settings = Object.entries(process.env).filter(([name]) => /^PHAROS_(?:BENCH|SOAK)_/.test(name));
  return {
    commit: git('rev-parse', 'HEAD').slice(0, 12),
    commitNumber: Number(git('rev-list', '--count', 'HEAD')),
    version: packageVersion(),
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${processor?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`,
    load: Math.round(load * 10) / 10,
    isRealTime: isRealTime(),
    settings: Object.fromEntries(settings.map(([name, value = '']) => [name, value])),
  };
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The 41st field of Linux is the policy: 1 and 2 are those of real time (`chrt -f`, `chrt -r`). */
function isRealTime(): boolean {
  if (process.platform !== 'linux') return false;
  const policy = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')[38];
  return policy === '1' || policy === '2';
}

/** Keeps a run in place of the one before, in the record and in the document. */
export function keepRun(name: string, run: RecordedRun): void {
  const record = { ...readRecord(), [name]: run };
  const sorted = Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(RECORD, `${JSON.stringify(sorted, null, 2)}\n`);
  writeFileSync(DOCUMENT, drawDocument(readFileSync(DOCUMENT, 'utf8'), sorted));
}

/** The document with the tables of a record between its marks. Throws when a recorded run has no marks. */
export function drawDocument(text: string, record: BenchRecord): string {
  return Object.entries(record).reduce((drawn, [name, run]) => {
    const [begin, end] = [`<!-- figures of ${name} -->`, `<!-- end of ${name} -->`];
    const [from, to] = [drawn.indexOf(begin), drawn.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`docs/benchmarks.md has no place for ${name}: ${begin} ${end}`);
    return `${drawn.slice(0, from + begin.length)}\n${drawRun(run)}\n${drawn.slice(to)}`;
  }, text);
}

function drawRun({ figures, ...of }: RecordedRun): string {
  const rows = figures.map(({ name, figure, unit, atMost = null, atLeast = null, remark = '' }) => {
    const budget = atMost === null ? atLeast : atMost;
    const isKept = atMost === null ? atLeast === null || figure >= atLeast : figure <= atMost;
    const promise =
      budget === null ? '' : `${atMost === null ? '≥' : '≤'} ${number(budget)}${isKept ? '' : ': missed'}`;
    return `| ${cell(name.replace(/^ +/, '… '))} | ${number(figure)} ${unit} | ${promise} | ${cell(remark)} |`;
  });
  const settings = Object.entries(of.settings).map(([name, value]) => `, \`${name}=${value}\``);
  const pace = of.paceMs === undefined ? '' : `, pace ${of.paceMs} ms`;
  const priority = of.isRealTime ? ', at real-time priority' : '';
  return [
    '| what | figure | budget | remark |',
    '|---|---|---|---|',
    ...rows,
    '',
    `Commit ${of.commit.slice(0, 8)} (${number(of.commitNumber)}) of version ${of.version}, ${of.date}; load ${of.load}${pace}${priority}${settings.join('')}; ${of.machine}.`,
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/**
 * Benchmarks whose figures say little of the code as it is.
 *
 * @param changedAt the number of the latest commit that changed one of these paths
 */
export function outdated(record: BenchRecord, changedAt: (paths: readonly string[]) => number): readonly string[] {
  return Object.entries(record).flatMap(([name, { commitNumber }]) => {
    const age = changedAt(BENCHES[name]?.measures ?? []) - commitNumber;
    return age > AGE_MAX
      ? [`${name}: what it measures changed ${age} commits after its figures; npm run bench -- --record ${name}`]
      : [];
  });
}

/** What a release of this version still lacks: each benchmark is run at it, on a quiet machine. */
export function lackingForRelease(record: BenchRecord, version: string): readonly string[] {
  return Object.keys(BENCHES).flatMap((name) => {
    const run = record[name];
    if (run?.version !== version) return [`${name} has not been recorded at version ${version}`];
    if (run.load > QUIET_LOAD_MAX) return [`${name} was recorded at load ${run.load}; ${QUIET_LOAD_MAX} is quiet`];
    const best = bestPace(record, run.machine);
    return (run.paceMs ?? best) > QUIET_PACE_MAX * best
      ? [`${name} was recorded at a pace of ${run.paceMs} ms, and such a machine has had ${best} ms`]
      : [];
  });
}

function bestPace(record: BenchRecord, machine: string): number {
  const same = Object.values(record).filter((run) => run.machine === machine);
  return Math.min(...same.map(({ paceMs = Infinity }) => paceMs));
}
