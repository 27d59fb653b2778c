/** Alerts by the key of their sender: which incident each is, and what was heard of it last. */

import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Reader, Writer } from '../database.ts';
import { parseInstant } from '../rows.ts';

export interface KnownAlert {
  readonly intake: string;
  /** An alert is known on its page only. */
  readonly page: PageKey;
  readonly key: string;
  /** Id of the post; null: it was resolved before it was heard of. */
  readonly post: string | null;
  readonly state: 'firing' | 'resolved';
  /** When that began or ended by the sender's clock; null: it does not tell. */
  readonly toldAt: EpochMs | null;
}

/** What is known of a key; null: nothing. */
export async function findAlert(
  reader: Reader,
  { intake, page, key }: Pick<KnownAlert, 'intake' | 'page' | 'key'>,
): Promise<KnownAlert | null> {
  const [row] = await reader.all(
    'SELECT post, state, told_at FROM written_alert WHERE intake = ? AND page = ? AND alert_key = ?',
    [intake, page, key],
  );
  if (row === undefined) return null;
  return {
    intake,
    page,
    key,
    post: row['post'] === null ? null : String(row['post']),
    state: row['state'] === 'firing' ? 'firing' : 'resolved',
    toldAt: parseInstant(row['told_at']),
  };
}

/** Remembers it. */
export async function keepAlert(
  tx: Writer,
  { intake, page, key, post, state, toldAt }: KnownAlert,
  at: EpochMs,
): Promise<void> {
  await tx.run(
    `INSERT INTO written_alert (intake, page, alert_key, post, state, told_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (intake, alert_key) DO UPDATE SET page = excluded.page, post = excluded.post, state = excluded.state,
       told_at = excluded.told_at, changed_at = excluded.changed_at`,
    [intake, page, key, post, state, toldAt, at],
  );
}
