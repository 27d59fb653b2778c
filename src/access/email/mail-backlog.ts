/** How many mails wait to be taken by the mail server; never to whom. */

import type { EpochMs } from '../../model/time.ts';
import type { Reader } from '../../store/database.ts';

export async function mailsWaiting(reader: Reader, now: EpochMs): Promise<number> {
  const [row] = await reader.all(
    'SELECT COUNT(*) AS n FROM access_challenge WHERE address IS NOT NULL AND used_at IS NULL AND expires_at > ?',
    [now],
  );
  return Number(row?.['n'] ?? 0);
}
