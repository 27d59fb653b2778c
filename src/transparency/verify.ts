/** Checks a published page against its log: signatures, the chain, the files that are served, and what past days say. */

import { hash } from 'node:crypto';
import pLimit from 'p-limit';
import { z } from 'zod';
import { lastClosedDay } from '../model/days.ts';
import { STATES } from '../model/state.ts';
import { type Day, type EpochMs, HOUR_MS, toEpochMs } from '../model/time.ts';
import {
  CHECKPOINT_PATH,
  committedDays,
  ENTRIES_PER_FILE,
  entriesPath,
  FILES_PATH,
  KEY_PATH,
  keyChangeText,
  type LogEntry,
  parseEntry,
  parseJson,
  rootAfter,
} from './entries.ts';
import { type Checkpoint, isSignedBy, isValid, parseCheckpoint, parseKey } from './note.ts';

/** Reads a file below the page. Null: there is none. @throws when the host can't be reached */
export type ReadFile = (path: string) => Promise<Uint8Array | null>;

/** The head of a log as seen before. */
export const SeenHeadSchema = z.object({
  origin: z.string(),
  size: z.int().min(0),
  root: z.string(),
  /** The key that signed it. */
  key: z.string(),
  at: z.string(),
});
export type SeenHead = z.output<typeof SeenHeadSchema>;

export type Verdict = Awaited<ReturnType<typeof verifyOnce>>;

interface VerifyOptions {
  readonly read: ReadFile;
  /** The address at which the page is read. */
  readonly url: string;
  /** The head that was seen before; null: none. */
  readonly seen: SeenHead | null;
  /** Keys that the site as a whole publishes; null: it publishes none at its root. */
  readonly siteKeys: readonly string[] | null;
  readonly now: EpochMs;
}

/** A page that changes while it is read is read again. */
const TRIES = 4;
const FILES_AT_ONCE = 8;
/** At the root of a host, or of a site below the address of its home page, these are about all pages. */
const SITE_FILES = new Set(['404.html', 'llms.txt', 'robots.txt', 'sitemap.xml']);
/** A page is published every quarter of an hour, whatever happens. */
const STALE_MS = HOUR_MS;

const KeyFileSchema = z.object({ keys: z.array(z.string()).min(1) });
const Seconds = z.partialRecord(z.enum(STATES), z.number());
const UptimeSchema = z.object({
  utc_days: z.array(z.string()),
  components: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      utc: z.array(z.object({ seconds: Seconds, counted: Seconds.optional(), days: z.array(z.int()) })),
    }),
  ),
});

/** Verifies one page. @throws whatever `read` throws */
export async function verifyPage(options: VerifyOptions): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    const verdict = await verifyOnce(options);
    const { faults, checkpoint } = verdict;
    const isDoubtful = attempt < TRIES && checkpoint !== null && faults.length > 0;
    if (!isDoubtful || (await readText(options.read, CHECKPOINT_PATH)) === checkpoint) return verdict;
  }
}

async function verifyOnce(options: VerifyOptions) {
  const { read, now, seen } = options;
  const note = await readText(read, CHECKPOINT_PATH);
  const checkpoint = note === null ? null : parseCheckpoint(note);
  if (note === null) return nothing(NO_LOG);
  if (checkpoint === null) return nothing(`${CHECKPOINT_PATH} is damaged: it isn’t a checkpoint.`);
  const faults: string[] = [];
  const notes: string[] = [];
  const key = await checkKey(options, note, faults, notes);
  const log = await readLog(read, checkpoint);
  faults.push(...log.faults);
  if (seen !== null) faults.push(...compareSeen(seen, checkpoint, log, key));
  const files = await checkFiles(options, checkpoint);
  faults.push(...files.faults);
  const days = log.faults.length > 0 ? { faults: [], count: 0 } : await checkDays(read, log.entries, now);
  faults.push(...days.faults);
  const age = now - Date.parse(checkpoint.at);
  if (age > STALE_MS)
    notes.push(
      `The page was last published at ${checkpoint.at}. A page that is kept up to date is published every 15 minutes.`,
    );
  const { origin, size, root, at } = checkpoint;
  return {
    /** Errors, each as a sentence; empty: everything agrees. */
    faults,
    /** What agrees, or couldn't be checked, each as a short line. */
    notes,
    /** As it was read; null: there is none. */
    checkpoint: note,
    /** Null: there is no log that could be read. */
    head: key === null ? null : { origin, size, root, key, at },
    filesChecked: files.count,
    daysChecked: days.count,
    /** Days that were corrected openly since the head that was seen; all, if none was. */
    corrections: listCorrections(log.entries.slice(seen?.size ?? 0)),
  };
}

const NO_LOG =
  'There is no log at this address. Pass the address of a status page that Pharos publishes, such as https://status.example.com/acme/.';

function nothing(fault: string) {
  return { faults: [fault], notes: [], head: null, checkpoint: null, filesChecked: 0, daysChecked: 0, corrections: [] };
}

async function readText(read: ReadFile, path: string): Promise<string | null> {
  const bytes = await read(path);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

/** The key that signed the checkpoint. Null: none that the page names. */
async function checkKey({ read, siteKeys }: VerifyOptions, note: string, faults: string[], notes: string[]) {
  const named = parseJson(KeyFileSchema, (await readText(read, KEY_PATH)) ?? '')?.keys ?? [];
  const signer = named.find((candidate) => {
    const key = parseKey(candidate);
    return key !== null && isSignedBy(note, key);
  });
  if (signer === undefined) {
    faults.push(`The checkpoint isn’t signed by the key in ${KEY_PATH}.`);
    return null;
  }
  if (siteKeys === null)
    notes.push('The site has no /.well-known/pharos-key.json here, so the key is the page’s own word.');
  else if (!siteKeys.includes(signer))
    faults.push('The key that signed the page isn’t the one in /.well-known/pharos-key.json of the site.');
  return signer;
}

type ReadLog = Awaited<ReturnType<typeof readLog>>;

async function readLog(read: ReadFile, { size, root }: Checkpoint) {
  const paths = Array.from({ length: Math.ceil(size / ENTRIES_PER_FILE) }, (_, at) =>
    entriesPath(at * ENTRIES_PER_FILE),
  );
  const texts = await pLimit(FILES_AT_ONCE).map(paths, (path) => readText(read, path));
  const missing = paths.find((_, at) => texts[at] === null);
  const failed = (fault: string) => ({ lines: [] as string[], entries: [] as LogEntry[], faults: [fault] });
  if (missing !== undefined) return failed(`${missing} is missing, so the log can’t be read.`);
  const lines = texts.flatMap((text) => (text ?? '').split('\n').slice(0, -1));
  if (lines.length < size)
    return failed(`The log is truncated: ${size} entries are signed, and ${lines.length} are there.`);
  const signed = lines.slice(0, size);
  if (rootAfter(signed, size) !== root) return failed('The entries of the log aren’t those that were signed.');
  const entries = signed.map(parseEntry);
  const bad = entries.findIndex((entry, n) => entry?.n !== n);
  if (bad !== -1) return failed(`Entry ${bad} of the log can’t be read, or isn’t in its place.`);
  return { lines: signed, entries: entries.filter((entry) => entry !== null), faults: [] as string[] };
}

/** Contradictions to the head that was seen before. */
function compareSeen(seen: SeenHead, checkpoint: Checkpoint, log: ReadLog, key: string | null): string[] {
  if (seen.origin !== checkpoint.origin)
    return [
      `This is the log of ${checkpoint.origin}; the one seen before was that of ${seen.origin}. The address was given to another page, or the log began anew.`,
    ];
  if (log.faults.length > 0) return [];
  if (checkpoint.size < seen.size)
    return [
      `The log is shorter than when it was seen before: ${checkpoint.size} entries now, and ${seen.size} at ${seen.at}. An old copy is being served, or entries were removed.`,
    ];
  if (rootAfter(log.lines, seen.size) !== seen.root)
    return [`The past was rewritten: the first ${seen.size} entries aren’t those that were signed at ${seen.at}.`];
  const faults = log.entries
    .slice(seen.size)
    .filter((entry) => entry.kind === 'restart')
    .map(({ at, size }) => `The log was forked at ${at}: what it had said before, ${size} entries, was given up.`);
  if (key === null || key === seen.key) return faults;
  const before = seen.key.split('+').slice(0, 2).join('+');
  if (!leadsToKey(seen, key, log.entries))
    faults.push(`Another key signs now, and the one seen before (${before}) never agreed to it.`);
  return faults;
}

/** Whether entries since lead from one key to the other, each change signed by both. */
function leadsToKey({ origin, key: from }: SeenHead, key: string, entries: readonly LogEntry[]): boolean {
  let current = from;
  for (const entry of entries) {
    if (entry.kind !== 'key' || entry.from !== current || entry.signatures.from === null) continue;
    const { n, from, to, signatures } = entry;
    const text = keyChangeText(origin, n, from, to);
    if (!isSignature(text, from, entry.signatures.from) || !isSignature(text, to, signatures.to)) return false;
    current = to;
  }
  return current === key;
}

function isSignature(text: string, verifier: string, signature: string): boolean {
  const key = parseKey(verifier);
  return key !== null && isValid(text, Buffer.from(signature, 'base64'), key);
}

/** Compares the served files with the signed list. */
async function checkFiles({ read, url }: VerifyOptions, { release, origin }: Checkpoint) {
  const { host, pathname } = new URL(url);
  const isAtRoot = pathname === '/' || origin.startsWith(host + pathname);
  const sums = await readText(read, FILES_PATH);
  if (sums === null) return { faults: [`${FILES_PATH} is missing, so files can’t be compared.`], count: 0 };
  if (hash('sha256', sums) !== release) return { faults: [`${FILES_PATH} isn’t the list that was signed.`], count: 0 };
  const listed = sums
    .split('\n')
    .slice(0, -1)
    .map((line) => ({ sha256: line.slice(0, 64), path: line.slice(66) }))
    .filter(({ path }) => !(isAtRoot && SITE_FILES.has(path)));
  const faults = await pLimit(FILES_AT_ONCE).map(listed, async ({ sha256, path }) => {
    const bytes = await read(path);
    if (bytes === null) return `${path} is missing.`;
    return hash('sha256', bytes) === sha256 ? null : `${path} isn’t what was signed.`;
  });
  return { faults: faults.filter((fault) => fault !== null), count: listed.length };
}

/** Compares the page's past days with those in its log. */
async function checkDays(read: ReadFile, entries: readonly LogEntry[], now: EpochMs) {
  const document = parseJson(UptimeSchema, (await readText(read, 'api/uptime.json')) ?? '');
  if (document === null)
    return { faults: ['api/uptime.json is missing or damaged, so days can’t be compared.'], count: 0 };
  const faults: string[] = [];
  const committed = committedDays(entries, (fault) => faults.push(fault));
  // Days that were over an hour before: the log closes them with the next release.
  const closed = lastClosedDay(toEpochMs(now - HOUR_MS));
  let count = 0;
  for (const { id, name, utc } of document.components) {
    const isCommitted = [...committed.keys()].some((place) => place.startsWith(`${id} `));
    const byPlace = new Map(utc.flatMap(({ days, ...figures }) => days.map((place) => [place, figures] as const)));
    document.utc_days.forEach((day, at) => {
      if (day > closed || !isCommitted) return;
      const shown = byPlace.get(at) ?? null;
      const signed = committed.get(`${id} ${day}`)?.figures ?? null;
      count += 1;
      if (signed === (shown === null ? null : JSON.stringify(shown))) return;
      faults.push(
        `${name} on ${day as Day}: the page says ${figures(shown)}, and its log ${figures(signed === null ? null : JSON.parse(signed))}.`,
      );
    });
  }
  return { faults, count };
}

function listCorrections(entries: readonly LogEntry[]) {
  return entries.flatMap((entry) =>
    entry.kind === 'corrections'
      ? entry.corrections.map((one) => ({ at: entry.at, ...one, was: figures(one.was), now: figures(one.now) }))
      : [],
  );
}

function figures(of: { readonly seconds: object } | null): string {
  if (of === null) return 'nothing';
  return Object.entries(of.seconds)
    .map(([state, seconds]) => `${seconds} s ${state}`)
    .join(', ');
}
