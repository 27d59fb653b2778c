/**
 * The log of a page in the database, which all nodes share: each entry is added in one transaction, so two nodes can't continue
 * it in different ways.
 */

import { hash, sign } from 'node:crypto';
import { z } from 'zod';
import { compareDays, DAYS_COUNT, type DayRecord } from '../model/days.ts';
import type { LogSummary } from '../model/page.ts';
import type { PageKey } from '../model/slugs.ts';
import { addDays, type Day, type EpochMs, toIso } from '../model/time.ts';
import type { Database, Reader, Writer } from '../store/database.ts';
import { bumpRevision } from '../store/revisions.ts';
import {
  committedDays,
  correctionsEntry,
  daysEntry,
  ENTRIES_PER_FILE,
  type EntryDraft,
  type Frontier,
  formatEntry,
  growTree,
  keyChangeText,
  parseEntry,
  treeRoot,
} from './entries.ts';
import { type Checkpoint, formatCheckpoint, formatKey, type SigningKey, signNote } from './note.ts';
import { type SeenHead, SeenHeadSchema } from './verify.ts';
import { judgeWitness } from './witness.ts';

/** A log, and the revision of the store that its news was made from. News older than the log is left out. */
interface LogPlace {
  readonly page: PageKey;
  /** Names a log that doesn't exist yet. */
  readonly origin: string;
  readonly revision: number;
  readonly at: EpochMs;
  /** The log of the release being served, with the lines of its last file; null: there is none. */
  readonly seen: (Pick<Checkpoint, 'size' | 'root'> & { readonly tail: readonly string[] }) | null;
}

/** The current figures of past days. */
export interface DaysCommit extends LogPlace {
  readonly through: Day;
  readonly shown: readonly DayRecord[];
  /** Digest of `shown` and `through`. */
  readonly digest: string;
  /** Ids of the components on the page. */
  readonly components: readonly string[];
}

/** A release that is about to be served. */
interface ReleaseCommit extends LogPlace {
  /** Digest of its news. */
  readonly event: string;
  /** SHA-256 of the list of its files, in hex. */
  readonly root: string;
  readonly isRollback?: boolean;
}

/** The keys in use. */
export interface LogKeys {
  readonly current: SigningKey;
  /** The private part of an earlier key; null: it is lost. */
  readonly find: (verifier: string) => SigningKey | null;
}

const RowSchema = z.object({
  origin: z.string(),
  size: z.coerce.number(),
  frontier: z.string().transform((text): Frontier => JSON.parse(text)),
  event: z.string(),
  revision: z.coerce.number(),
  /** Null: no day yet. */
  through: z.string().transform((day) => (day === '' ? null : (day as Day))),
  days: z.string(),
  verifier: z.string(),
});
type Log = z.output<typeof RowSchema>;

/** The number of the release, which is taken after this and before anything of it is served, makes it durable. */
const WITH_NUMBER = { isDurable: false } as const;

export type PageLog = ReturnType<typeof createPageLog>;

/** @param keys called with the name that a new key gets */
export function createPageLog(database: Database, keys: () => Promise<LogKeys>) {
  return {
    /** Enters days that are over, and corrections of those that are in it. */
    commitDays: async (commit: DaysCommit) => {
      const { current } = await keys();
      await database.transaction(async (tx) => {
        const log = await readLog(tx, commit, formatKey(current));
        if (commit.revision < log.revision) return;
        await commitDays(tx, await continueSeen(tx, log, commit), commit);
      }, WITH_NUMBER);
    },
    /** Enters a release if it has news, and signs. */
    commitRelease: async (commit: ReleaseCommit): Promise<LogHead> => {
      const known = await keys();
      return database.transaction((tx) => commitRelease(tx, known, commit), WITH_NUMBER);
    },
  };
}

async function readLog(tx: Reader, { page, origin }: LogPlace, verifier: string): Promise<Log> {
  const [row] = await tx.all('SELECT * FROM page_log WHERE page = ?', [page]);
  if (row === undefined)
    return { origin, size: 0, frontier: [], event: '', revision: 0, through: null, days: '', verifier };
  return RowSchema.parse(row);
}

async function writeLog(tx: Writer, page: PageKey, log: Log): Promise<void> {
  const { origin, size, frontier, event, revision, through, days, verifier } = log;
  await tx.run(
    `INSERT INTO page_log (page, origin, size, frontier, event, revision, through, days, verifier) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (page) DO UPDATE SET size = excluded.size, frontier = excluded.frontier, event = excluded.event,
       revision = excluded.revision, through = excluded.through, days = excluded.days, verifier = excluded.verifier`,
    [page, origin, size, JSON.stringify(frontier), event, revision, through ?? '', days, verifier],
  );
}

async function appendLines(tx: Writer, page: PageKey, log: Log, lines: readonly string[]): Promise<Log> {
  const { size } = log;
  const frontier = growTree(log.frontier, size, lines);
  const last = lines.length - 1;
  await tx.runMany(
    'INSERT INTO log_entry (page, n, line, root) VALUES (?, ?, ?, ?)',
    lines.map((line, index) => [page, size + index, line, index === last ? treeRoot(frontier) : null]),
  );
  return { ...log, size: size + lines.length, frontier };
}

function append(tx: Writer, page: PageKey, log: Log, drafts: readonly EntryDraft[]): Promise<Log> {
  const lines = drafts.map((draft, index) => formatEntry(log.size + index, draft));
  return appendLines(tx, page, log, lines);
}

async function commitDays(tx: Writer, log: Log, commit: DaysCommit): Promise<void> {
  const { page, through, shown, components, at, revision } = commit;
  const from = addDays(through, 1 - DAYS_COUNT);
  const rows = await tx.all('SELECT component, day, figures FROM log_day WHERE page = ? AND day >= ?', [page, from]);
  const days = rows.map(({ component, day, figures }) => ({
    component: String(component),
    day: String(day) as Day,
    figures: figures as string | null,
  }));
  const { fresh, changes } = compareDays({ through: log.through, days }, { shown, components, from });
  const isClosed = log.through !== null && log.through >= through;
  const entered = await append(tx, page, log, [
    ...(fresh.length === 0 ? [] : [daysEntry(toIso(at), fresh)]),
    ...(changes.length === 0 ? [] : [correctionsEntry(toIso(at), changes)]),
  ]);
  await writeDays(tx, [
    ...fresh.map(({ component, day, figures }): LogDay => [page, component, day, figures, null]),
    ...changes.map(({ component, day, now }): LogDay => [page, component, day, now, at]),
  ]);
  await writeLog(tx, page, { ...entered, revision, days: commit.digest, through: isClosed ? log.through : through });
}

type LogDay = readonly [page: PageKey, component: string, day: Day, figures: string | null, correctedAt: number | null];

function writeDays(tx: Writer, rows: readonly LogDay[]): Promise<unknown> {
  return tx.runMany(
    `INSERT INTO log_day (page, component, day, figures, corrected_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (page, component, day) DO UPDATE SET figures = excluded.figures, corrected_at = excluded.corrected_at`,
    rows,
  );
}

/** The log to publish with a release. */
export type LogHead = Awaited<ReturnType<typeof commitRelease>>;

async function commitRelease(tx: Writer, keys: LogKeys, commit: ReleaseCommit) {
  const { page, revision, event, root, at, isRollback = false } = commit;
  const verifier = formatKey(keys.current);
  const before = await readLog(tx, commit, verifier);
  let log = await continueSeen(tx, before, commit);
  if (log.verifier !== verifier) log = await changeKey(tx, log, commit, keys);
  if (isRollback) log = await append(tx, page, log, [{ at: toIso(at), kind: 'rollback', root }]);
  else if (event !== log.event && revision >= log.revision) {
    log = await append(tx, page, log, [{ at: toIso(at), kind: 'release', root }]);
    log = { ...log, event, revision };
  }
  if (log !== before) await writeLog(tx, page, log);
  const { origin, size, frontier } = log;
  const text = formatCheckpoint({ origin, size, root: treeRoot(frontier), release: root, at: toIso(at) });
  const from = size - 1 - ((size - 1) % ENTRIES_PER_FILE);
  return {
    size,
    // Public key of the signer.
    verifier,
    checkpoint: signNote(text, [keys.current]),
    // The lines of the last file.
    tail: await readLines(tx, page, { from, to: size }),
  };
}

/** Lines `from` up to `to` of a page's log. */
export async function readLines(
  reader: Reader,
  page: PageKey,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<string[]> {
  const select = 'SELECT line FROM log_entry WHERE page = ? AND n >= ? AND n < ? ORDER BY n';
  const rows = await reader.lists(select, [page, from, to]);
  return rows.map(([line]) => String(line));
}

/**
 * A database that was restored from a backup is behind the published log. If its log is the beginning of the published one, the
 * missing lines are copied from there. Otherwise an entry says that the log can't be continued.
 */
async function continueSeen(tx: Writer, log: Log, { page, at, seen }: LogPlace): Promise<Log> {
  if (seen === null) return log;
  const { size, root, tail } = seen;
  const first = size - tail.length;
  if (log.size >= size) {
    const [last] = await readLines(tx, page, { from: size - 1, to: size });
    if (last === tail.at(-1)) return log;
  } else if (first <= log.size) {
    const missing = tail.slice(log.size - first);
    if (treeRoot(growTree(log.frontier, log.size, missing)) === root) return takeOver(tx, page, log, missing);
  }
  return append(tx, page, log, [{ at: toIso(at), kind: 'restart', size, root }]);
}

/** Takes over lines with what they say of days, so that no day is entered twice. */
async function takeOver(tx: Writer, page: PageKey, log: Log, lines: readonly string[]): Promise<Log> {
  const days = committedDays(lines.map(parseEntry).filter((entry) => entry !== null));
  const rows = [...days].map(([place, { figures, correctedAt }]): LogDay => {
    const at = place.lastIndexOf(' ');
    const correctedMs = correctedAt === null ? null : Date.parse(correctedAt);
    return [page, place.slice(0, at), place.slice(at + 1) as Day, figures, correctedMs];
  });
  await writeDays(tx, rows);
  const through = rows.reduce((last, [, , day]) => (day > last ? day : last), log.through ?? ('' as Day));
  return { ...(await appendLines(tx, page, log, lines)), days: '', through: through === '' ? null : through };
}

async function changeKey(tx: Writer, log: Log, { page, at }: LogPlace, keys: LogKeys): Promise<Log> {
  const to = formatKey(keys.current);
  const text = Buffer.from(keyChangeText(log.origin, log.size, log.verifier, to));
  const signatureOf = ({ privateKey }: SigningKey): string => sign(null, text, privateKey).toString('base64');
  const old = keys.find(log.verifier);
  const signatures = { from: old === null ? null : signatureOf(old), to: signatureOf(keys.current) };
  const entered = await append(tx, page, log, [{ at: toIso(at), kind: 'key', from: log.verifier, to, signatures }]);
  return { ...entered, verifier: to };
}

/** Null: the page has no log yet. */
export async function readLogSummary(reader: Reader, page: PageKey, from: Day): Promise<LogSummary | null> {
  const [row] = await reader.all('SELECT origin, size, frontier, days FROM page_log WHERE page = ?', [page]);
  if (row === undefined) return null;
  const notes = (await readRecords(reader)).filter(({ kind }) => kind === 'witness');
  // The root over the first lines. Null: there are fewer, or no checkpoint can have signed them.
  const rootAt = async (size: number): Promise<string | null> => {
    const [entry] = await reader.lists('SELECT root FROM log_entry WHERE page = ? AND n = ?', [page, size - 1]);
    return z.string().nullish().parse(entry?.[0]) ?? null;
  };
  const rows = await reader.all(
    'SELECT component, day, corrected_at FROM log_day WHERE page = ? AND day >= ? AND corrected_at IS NOT NULL ORDER BY corrected_at DESC, day DESC, component',
    [page, from],
  );
  return {
    size: Number(row['size']),
    root: treeRoot(JSON.parse(String(row['frontier'])) as Frontier),
    days: String(row['days']),
    witnesses: await Promise.all(
      notes.map(({ url, text }) => judgeWitness({ url, note: text }, String(row['origin']), rootAt)),
    ),
    corrected: rows.map(({ component, day, corrected_at: at }) => ({
      component: String(component),
      day: String(day) as Day,
      at: Number(at) as EpochMs,
    })),
  };
}

/** Public keys of logs, the latest first. */
export async function readVerifiers(reader: Reader): Promise<string[]> {
  const rows = await reader.all('SELECT verifier FROM log_key ORDER BY made_at DESC, verifier');
  return rows.map(({ verifier }) => String(verifier));
}

const RecordSchema = z.object({
  /** `watched`: a page that this site looks at. `witness`: what a witness of this site publishes. `word`: what this site does. */
  kind: z.enum(['watched', 'witness', 'word']),
  url: z.string(),
  at: z.coerce.number() as unknown as z.ZodType<EpochMs>,
  text: z.string().nullable(),
  head: z.string().nullable(),
});

/** `text`: null if it couldn't be reached. `head`: the last one that agreed. */
type WitnessRecord = Omit<z.output<typeof RecordSchema>, 'head'> & { readonly head?: SeenHead | null };

export async function readRecords(reader: Reader): Promise<readonly WitnessRecord[]> {
  const rows = await reader.all('SELECT kind, url, at, text, head FROM witness_record ORDER BY kind, url');
  return rows.map((row) => {
    const { head, ...record } = RecordSchema.parse(row);
    return { ...record, head: head === null ? null : SeenHeadSchema.parse(JSON.parse(head)) };
  });
}

/** Changes with the results of witnesses. Empty: there are none. */
export async function witnessDigest(reader: Reader): Promise<string> {
  const rows = await reader.lists("SELECT url, text FROM witness_record WHERE kind = 'witness' ORDER BY url", []);
  return rows.length === 0 ? '' : hash('sha256', JSON.stringify(rows));
}

export async function writeRecord(database: Database, { kind, url, at, text, head = null }: WitnessRecord) {
  await database.transaction(async (tx) => {
    const [before] = await tx.all('SELECT text FROM witness_record WHERE kind = ? AND url = ?', [kind, url]);
    // Pages show the results of their witnesses.
    if (kind === 'witness' && (before === undefined || before['text'] !== text))
      await tx.run('UPDATE page SET revision = ?', [await bumpRevision(tx)]);
    await tx.run(
      `INSERT INTO witness_record (kind, url, at, text, head) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (kind, url) DO UPDATE SET at = excluded.at, text = excluded.text, head = excluded.head`,
      [kind, url, at, text, head === null ? null : JSON.stringify(head)],
    );
  });
}
