/** What was seen of other sites, in the database. */

import { hash } from 'node:crypto';
import { z } from 'zod';
import type { EpochMs } from '../model/time.ts';
import type { Database, Reader } from '../store/database.ts';
import { bumpRevision } from '../store/revisions.ts';
import { type SeenHead, SeenHeadSchema } from './verify.ts';

/** `watched`: a page that this site looks at. `witness`: what a witness of this site publishes. `word`: what this site does. */
const KINDS = ['watched', 'witness', 'word'] as const;

const RecordSchema = z.object({
  kind: z.enum(KINDS),
  url: z.string(),
  at: z.coerce.number() as unknown as z.ZodType<EpochMs>,
  text: z.string().nullable(),
  head: z.string().nullable(),
});

interface WitnessRecord {
  readonly kind: (typeof KINDS)[number];
  readonly url: string;
  readonly at: EpochMs;
  /** Null: it couldn't be reached. */
  readonly text: string | null;
  /** The last head that agreed. */
  readonly head?: SeenHead | null;
}

export async function readRecords(reader: Reader): Promise<readonly WitnessRecord[]> {
  const rows = await reader.all('SELECT kind, url, at, text, head FROM witness_record ORDER BY kind, url');
  return rows.map((row) => {
    const { head, ...record } = RecordSchema.parse(row);
    return { ...record, head: head === null ? null : SeenHeadSchema.parse(JSON.parse(head)) };
  });
}

/** Changes with what witnesses say. Empty: there are none. */
export async function witnessDigest(reader: Reader): Promise<string> {
  const said = await reader.lists("SELECT url, text FROM witness_record WHERE kind = 'witness' ORDER BY url", []);
  return said.length === 0 ? '' : hash('sha256', JSON.stringify(said));
}

export async function writeRecord(
  database: Database,
  { kind, url, at, text, head = null }: WitnessRecord,
): Promise<void> {
  await database.transaction(async (tx) => {
    const [before] = await tx.all('SELECT text FROM witness_record WHERE kind = ? AND url = ?', [kind, url]);
    // Pages show what their witnesses say.
    if (kind === 'witness' && (before === undefined || before['text'] !== text))
      await tx.run('UPDATE page SET revision = ?', [await bumpRevision(tx)]);
    await tx.run(
      `INSERT INTO witness_record (kind, url, at, text, head) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (kind, url) DO UPDATE SET at = excluded.at, text = excluded.text, head = excluded.head`,
      [kind, url, at, text, head === null ? null : JSON.stringify(head)],
    );
  });
}
