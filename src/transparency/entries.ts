/** The lines of a page's log: their kinds, and how they are written and read. Pure. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  CORRECTION_REASONS,
  correctionReason,
  type DayChange,
  type DayFigures,
  type DayRecord,
} from '../model/days.ts';
import type { Day } from '../model/time.ts';

/** Entries of one file of the log. A file that is full never changes again. */
export const ENTRIES_PER_FILE = 256;

/** Paths below the page. */
export const LOG_FOLDER = 'log/';
export const CHECKPOINT_PATH = `${LOG_FOLDER}checkpoint`;
export const FILES_PATH = `${LOG_FOLDER}SHA256SUMS`;
export const KEY_PATH = `${LOG_FOLDER}key.json`;

/** The file that entry `n` is in. */
export function entriesPath(n: number): string {
  return `${LOG_FOLDER}entries/${String(Math.floor(n / ENTRIES_PER_FILE)).padStart(6, '0')}.jsonl`;
}

/** Whether a file of a release belongs to what the list of its files can't cover: the list itself and what signs it. */
export function isLogFile(path: string): boolean {
  if (!path.startsWith(LOG_FOLDER)) return false;
  return [CHECKPOINT_PATH, FILES_PATH, KEY_PATH].includes(path) || path.startsWith(`${LOG_FOLDER}entries/`);
}

const Digest = z.string().regex(/^[0-9a-f]{64}$/);
const DaySchema = z.iso.date();
const Seconds = z.record(z.string(), z.number().min(0).max(86_400));
const Figures = z.strictObject({ seconds: Seconds, counted: Seconds.exactOptional() });
const head = { n: z.int().min(0), at: z.iso.datetime() };

const EntrySchema = z.discriminatedUnion('kind', [
  /** News was published: the digest of the list of files. */
  z.strictObject({ ...head, kind: z.literal('release'), root: Digest }),
  /** An operator brought an earlier release back. */
  z.strictObject({ ...head, kind: z.literal('rollback'), root: Digest }),
  /** Days that are over, each list of components beside what they all had. */
  z.strictObject({
    ...head,
    kind: z.literal('days'),
    days: z.record(DaySchema, z.array(z.tuple([Figures, z.array(z.string()).min(1)]))),
  }),
  z.strictObject({
    ...head,
    kind: z.literal('corrections'),
    corrections: z
      .array(
        z.strictObject({
          component: z.string(),
          day: DaySchema,
          was: Figures.nullable(),
          now: Figures.nullable(),
          why: z.enum(CORRECTION_REASONS),
        }),
      )
      .min(1),
  }),
  /** Another key signs from here on. Each signed `keyChangeText`; null: the old one was lost. */
  z.strictObject({
    ...head,
    kind: z.literal('key'),
    from: z.string(),
    to: z.string(),
    signatures: z.strictObject({ from: z.string().nullable(), to: z.string() }),
  }),
  /** What was published last can't be continued, because the database is from before it. */
  z.strictObject({ ...head, kind: z.literal('restart'), size: z.int(), root: z.string() }),
]);
export type LogEntry = z.output<typeof EntrySchema>;
/** An entry before it has a place. */
export type EntryDraft = LogEntry extends infer One ? (One extends LogEntry ? Omit<One, 'n'> : never) : never;

/** An entry as a line, without a line break. */
export function formatEntry(n: number, { at, kind, ...rest }: EntryDraft): string {
  return JSON.stringify({ n, at, kind, ...rest });
}

/** Reads a line. Null: it isn't an entry. */
export function parseEntry(line: string): LogEntry | null {
  return parseJson(EntrySchema, line);
}

/** @returns null: not JSON of this shape */
export function parseJson<Output>(schema: z.ZodType<Output>, text: string): Output | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** The entry about days that are recorded for the first time. */
export function daysEntry(at: string, fresh: readonly DayRecord[]): EntryDraft {
  const byDay = Map.groupBy(
    fresh.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0)),
    ({ day }) => day,
  );
  const days = [...byDay].map(([day, records]): [Day, [DayFigures, string[]][]] => [
    day,
    [...Map.groupBy(records, ({ figures }) => figures)].map(([figures, of]) => [
      JSON.parse(figures),
      of.map(({ component }) => component),
    ]),
  ]);
  return { at, kind: 'days', days: Object.fromEntries(days) as never };
}

/** The entry about days that changed. */
export function correctionsEntry(at: string, changes: readonly DayChange[]): EntryDraft {
  const parse = (figures: string | null): DayFigures | null => (figures === null ? null : JSON.parse(figures));
  const corrections = changes.map((change) => ({
    component: change.component,
    day: change.day as string,
    was: parse(change.was),
    now: parse(change.now),
    why: correctionReason(change),
  }));
  return { at, kind: 'corrections', corrections: corrections as never };
}

/** What both keys sign when one takes over from the other. */
export function keyChangeText(origin: string, n: number, from: string, to: string): string {
  return `pharos log key/v1\n${origin}\n${n}\n${from}\n${to}\n`;
}

/** The current figures of each day according to the entries, and when they were last corrected. */
export function committedDays(entries: readonly LogEntry[], onRewrite: (fault: string) => void = () => {}) {
  const days = new Map<string, { readonly figures: string | null; readonly correctedAt: string | null }>();
  const place = (entry: LogEntry, name: string, was: DayFigures | null, now: DayFigures | null): void => {
    const known = days.get(name)?.figures ?? null;
    if (known !== toText(was))
      onRewrite(`Entry ${entry.n} of the log changes what was signed of ${name}, and doesn’t say so.`);
    days.set(name, { figures: toText(now), correctedAt: entry.kind === 'corrections' ? entry.at : null });
  };
  for (const entry of entries) {
    // After a restart, the log doesn't continue what was before.
    if (entry.kind === 'restart') days.clear();
    if (entry.kind === 'days')
      for (const [day, lists] of Object.entries(entry.days))
        for (const [figures, components] of lists)
          for (const component of components) place(entry, `${component} ${day}`, null, figures);
    if (entry.kind === 'corrections')
      for (const { component, day, was, now } of entry.corrections) place(entry, `${component} ${day}`, was, now);
  }
  return days;
}

const toText = (figures: DayFigures | null): string | null => (figures === null ? null : JSON.stringify(figures));

// The Merkle tree of RFC 6962 over the lines of a log: a root that depends on every line, and grows at a cost of a
// few hashes. Pure.

/** Hashes of the complete subtrees at the right edge of a tree, largest first, as base64: all that growing it needs. */
export type Frontier = readonly string[];

/** Adds lines to a tree of `size` lines. @returns its new frontier */
export function growTree(frontier: Frontier, size: number, lines: readonly string[]): Frontier {
  const edge: Buffer[] = frontier.map((node) => Buffer.from(node, 'base64'));
  let leaves = size;
  for (const line of lines) {
    let node = hashLeaf(line);
    for (let left = leaves; left % 2 === 1; left = (left - 1) / 2) node = hashNode(edge.pop() as Buffer, node);
    edge.push(node);
    leaves += 1;
  }
  return edge.map((node) => node.toString('base64'));
}

/** The root of a tree, as base64. */
export function treeRoot(frontier: Frontier): string {
  const edge = frontier.map((node) => Buffer.from(node, 'base64'));
  const root = edge.reduceRight<Buffer | null>((right, left) => (right === null ? left : hashNode(left, right)), null);
  return (root ?? sha256(Buffer.alloc(0))).toString('base64');
}

/** The root over the first `size` lines of a log. */
export function rootAfter(lines: readonly string[], size: number): string {
  return treeRoot(growTree([], 0, lines.slice(0, size)));
}

function hashLeaf(line: string): Buffer {
  return sha256(Buffer.concat([Buffer.of(0), Buffer.from(line)]));
}

function hashNode(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.of(1), left, right]));
}

function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}
