/**
 * The signed log of a page: what entering a release costs, how large a year of 50 components is, and how long checking it
 * takes. Each day has three releases and one component with an outage.
 */

import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { DayRecord } from '../../src/model/days.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { addDays, DAY_MS, type Day, toEpochMs } from '../../src/model/time.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import {
  CHECKPOINT_PATH,
  ENTRIES_PER_FILE,
  entriesPath,
  FILES_PATH,
  KEY_PATH,
} from '../../src/transparency/entries.ts';
import { type DaysCommit, readLines } from '../../src/transparency/page-log.ts';
import { verifyPage } from '../../src/transparency/verify.ts';
import { testPageLog } from '../helpers/page-log.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { judge, quantile } from './budget.ts';

const COMPONENTS = Array.from({ length: 50 }, (_, index) => `component-${index}`);
const DAYS = 365;
const SHOWN_DAYS = 90;
const RELEASES_A_DAY = 3;
/** What a page of 50 components has. */
const FILES = 900;
const BEGIN = toEpochMs(Date.UTC(2026, 0, 1));
const PAGE = toPageKey('acme', 1);
const ORIGIN = 'status.example.com/acme';

export async function run(): Promise<void> {
  const folder = temporaryFolder();
  const { database } = openSqlite(join(folder.path, 'log.db'), 0);
  const log = testPageLog(database);
  const [releases, closings]: [number[], number[]] = [[], []];
  const sums = Array.from({ length: FILES }, (_, at) => `${hash('sha256', String(at))}  file-${at}\n`).join('');
  const place = { page: PAGE, origin: ORIGIN, seen: null };
  let last: Awaited<ReturnType<typeof log.commitRelease>> | null = null;
  for (let day = 0; day < DAYS; day += 1) {
    const at = toEpochMs(BEGIN + day * DAY_MS);
    const commit = closingOf(day);
    closings.push(await timed(() => log.commitDays({ ...place, ...commit, at, revision: day })));
    for (let one = 0; one < RELEASES_A_DAY; one += 1) {
      const release = {
        ...place,
        at,
        revision: day,
        event: hash('sha256', `${day} ${one}`),
        root: hash('sha256', sums),
      };
      releases.push(
        await timed(async () => {
          last = await log.commitRelease(release);
        }),
      );
    }
  }
  const lines = await readLines(database, PAGE, { from: 0, to: Number.MAX_SAFE_INTEGER });
  const files = new Map<string, string>([
    [CHECKPOINT_PATH, last === null ? '' : (last as { checkpoint: string }).checkpoint],
    [KEY_PATH, JSON.stringify({ keys: [last === null ? '' : (last as { verifier: string }).verifier] })],
    [FILES_PATH, sums],
    ['api/uptime.json', JSON.stringify(uptimeOf(DAYS - 1))],
    ...Array.from({ length: FILES }, (_, at): [string, string] => [`file-${at}`, String(at)]),
  ]);
  for (let from = 0; from < lines.length; from += ENTRIES_PER_FILE)
    files.set(
      entriesPath(from),
      lines
        .slice(from, from + ENTRIES_PER_FILE)
        .map((line) => `${line}\n`)
        .join(''),
    );
  const now = toEpochMs(BEGIN + (DAYS - 1) * DAY_MS);
  const read = async (path: string) => Buffer.from(files.get(path) ?? '');
  let faults: readonly string[] = [];
  const verifying = await timed(async () => {
    ({ faults } = await verifyPage({ read, seen: null, siteKeys: null, url: 'https://status.example/acme/', now }));
  });
  if (faults.length > 0) throw new Error(`the log is not what it says: ${faults.slice(0, 3).join(' ')}`);
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  judge({ name: 'entering and signing a release, median', figure: quantile(releases, 0.5), unit: 'ms', atMost: 2 });
  judge({ name: 'the same, 95 of 100', figure: quantile(releases, 0.95), unit: 'ms' });
  judge({ name: 'entering a closed day of 50 components, median', figure: quantile(closings, 0.5), unit: 'ms' });
  judge({ name: `a year: ${lines.length} entries`, figure: bytes / 1e6, unit: 'MB', atMost: 1 });
  judge({ name: 'verifying it, without the network', figure: verifying / 1_000, unit: 's', atMost: 5 });
  await database.close();
  folder.remove();
}

const dayAt = (day: number): Day => addDays('2026-01-01' as Day, day - 1);

/** What 50 components say of the days up to the one before. */
function recordsOf(day: number): DayRecord[] {
  return Array.from({ length: Math.min(SHOWN_DAYS, day) }, (_, back) => day - back).flatMap((closed) =>
    COMPONENTS.map((component, index) => ({
      component,
      day: dayAt(closed),
      figures: JSON.stringify({ seconds: secondsOf(closed, index) }),
    })),
  );
}

function secondsOf(day: number, index: number): Readonly<Record<string, number>> {
  if (day % COMPONENTS.length !== index) return { operational: 86_400 };
  return { operational: 84_000 - day, major_outage: 2_400 + day };
}

function closingOf(day: number): Pick<DaysCommit, 'through' | 'shown' | 'digest' | 'components'> {
  return { through: dayAt(day), shown: recordsOf(day), digest: String(day), components: COMPONENTS };
}

function uptimeOf(day: number): object {
  const days = Array.from({ length: SHOWN_DAYS }, (_, back) => day - SHOWN_DAYS + 1 + back);
  return {
    utc_days: days.map(dayAt),
    components: COMPONENTS.map((id, index) => ({
      id,
      name: id,
      utc: days.map((one, at) => ({ seconds: secondsOf(one, index), days: [at] })),
    })),
  };
}

async function timed(task: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await task();
  return performance.now() - from;
}
