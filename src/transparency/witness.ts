/**
 * The signed results that a witness publishes, and how a watched page uses them. Pure.
 */

import { z } from 'zod';
import type { WitnessWord } from '../model/page.ts';
import {
  cosignedAt,
  cosignNote,
  formatKey,
  isSignedBy,
  parseCheckpoint,
  parseKey,
  type SigningKey,
  signNote,
} from './note.ts';
import type { Verdict } from './verify.ts';

const WatchedSchema = z.object({
  url: z.string(),
  /** When it was looked at, ISO 8601. */
  at: z.string(),
  /** Null: it couldn't be reached, or has no log that could be read. */
  origin: z.string().nullable(),
  /** What is wrong, each as a sentence; empty: everything agrees. */
  faults: z.array(z.string()),
  /** The checkpoint that was seen, with the witness's signature; null: it had none, or contradicts one that was seen before. */
  checkpoint: z.string().nullable(),
  /** Components of the page, and the witness's own state of the same targets. */
  compared: z.array(z.object({ component: z.string(), theirs: z.string(), ours: z.string() })),
});
export type Watched = z.output<typeof WatchedSchema>;

const WitnessSchema = z.object({ key: z.string(), watched: z.array(WatchedSchema) });

/** The result for a watched page. If nothing could be read, it is an error. */
export function watchedRecord(
  seen: Pick<Watched, 'url' | 'at' | 'compared'>,
  { faults, checkpoint, head }: Pick<Verdict, 'faults' | 'checkpoint' | 'head'>,
  key: SigningKey,
): Watched {
  const time = Math.trunc(Date.parse(seen.at) / 1_000);
  const isSigned = checkpoint !== null && faults.length === 0;
  return {
    ...seen,
    origin: head?.origin ?? null,
    faults: [...faults],
    checkpoint: isSigned ? checkpoint + cosignNote(checkpoint, key, time) : null,
  };
}

/** What a witness publishes: a signed note whose text is one JSON object. */
export function formatWitness(watched: readonly Watched[], key: SigningKey): string {
  return signNote(`${JSON.stringify({ key: formatKey(key), watched })}\n`, [key]);
}

/** Reads it. Null: it is damaged, or not signed with its own key. */
export function parseWitness(note: string): z.output<typeof WitnessSchema> | null {
  try {
    const document = WitnessSchema.parse(JSON.parse(note.slice(0, note.indexOf('\n'))));
    const key = parseKey(document.key);
    return key !== null && isSignedBy(note, key) ? document : null;
  } catch {
    return null;
  }
}

/**
 * @param note  what the witness publishes; null: it couldn't be reached
 * @param rootAt  the root of the page's own log at a size; null: the log is shorter
 */
export async function judgeWitness(
  { url, note }: { readonly url: string; readonly note: string | null },
  origin: string,
  rootAt: (size: number) => Promise<string | null>,
): Promise<WitnessWord> {
  const away = (...faults: string[]): WitnessWord => ({ url, word: 'away', faults });
  if (note === null) return away();
  const document = parseWitness(note);
  if (document === null) return away('What it publishes is damaged, or not signed by its key.');
  const record = document.watched.find((one) => one.origin === origin);
  if (record === undefined) return away('It does not watch this page.');
  if (record.faults.length > 0) return { url, word: 'differs', faults: record.faults };
  const key = parseKey(document.key);
  const checkpoint = record.checkpoint === null ? null : parseCheckpoint(record.checkpoint);
  const isSigned = key !== null && record.checkpoint !== null && cosignedAt(record.checkpoint, key) !== null;
  if (checkpoint === null || !isSigned) return away('It signed no checkpoint of this page.');
  if ((await rootAt(checkpoint.size)) === checkpoint.root) return { url, word: 'agrees', faults: [] };
  return { url, word: 'differs', faults: [`It signed another log of ${checkpoint.size} entries.`] };
}
