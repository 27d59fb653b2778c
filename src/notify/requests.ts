/**
 * Records every request of the subscription form in the same way, whatever the address, and decides on it afterwards: neither
 * the response nor its timing reveals who is subscribed.
 */

import type { PageKey } from '../model/slugs.ts';
import { type EpochMs, HOUR_MS } from '../model/time.ts';
import type { Database, Writer } from '../store/database.ts';
import type { AddressSeal } from './address-seal.ts';
import { queueLink } from './queue.ts';
import { addSubscriber } from './subscribers.ts';

/** Emails with a link to an address that has not confirmed. */
const CONFIRMATIONS_MAX = 3;
/** A subscriber who subscribes again gets one email in this time. */
const REMINDED_AFTER_MS = 24 * HOUR_MS;
/** A request that can't be read is forgotten after this. */
const KEPT_MS = 24 * HOUR_MS;

interface SubscribeRequest {
  /** The address is encrypted for this id. */
  readonly id: string;
  readonly page: PageKey;
  /** Null: no email is sent. */
  readonly address: string | null;
  readonly components: readonly string[];
  readonly gate: string;
  /** Empty: that of the page. */
  readonly locale: string;
}

/** Records a request, with the same statement for every address. */
export async function recordRequest(
  tx: Writer,
  seal: AddressSeal,
  { id, page, address, components, gate, locale }: SubscribeRequest,
  now: EpochMs,
): Promise<void> {
  await tx.run(
    'INSERT INTO subscriber_request (id, page, address, components, gate, locale, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [id, page, seal.seal(address ?? '', id), JSON.stringify(components), gate, locale, now],
  );
}

interface DecideDeps {
  readonly database: Database;
  readonly seal: AddressSeal;
  readonly newId: () => string;
  readonly now: EpochMs;
}

/** Handles recorded requests: a new subscriber gets a link to confirm, a known one gets a reminder. */
export async function decideRequests({ database, seal, newId, now }: DecideDeps): Promise<number> {
  const waiting = await database.all('SELECT id FROM subscriber_request LIMIT 1');
  if (waiting.length === 0) return 0;
  return database.transaction(async (tx) => {
    const rows = await tx.all('SELECT * FROM subscriber_request ORDER BY at DESC, id LIMIT 100');
    for (const row of rows) {
      const id = String(row['id']);
      const address = seal.open(String(row['address']), id);
      // Encrypted with another key, which may come back.
      if (address === null && Number(row['at']) > now - KEPT_MS) continue;
      await tx.run('DELETE FROM subscriber_request WHERE id = ?', [id]);
      if (address === null || address === '') continue;
      const [page, components] = [String(row['page']) as PageKey, String(row['components'])];
      const [gate, locale] = [String(row['gate']), String(row['locale'])];
      await decide(tx, { seal, newId, now }, { id, page, address, gate, locale, components });
    }
    return rows.length;
  });
}

async function decide(
  tx: Writer,
  { seal, newId, now }: Omit<DecideDeps, 'database'>,
  asked: { id: string; page: PageKey; address: string; gate: string; locale: string; components: string },
): Promise<void> {
  const { page, address, gate, locale } = asked;
  const addressHash = seal.hash(page, address);
  const fresh = newId();
  await addSubscriber(tx, {
    id: fresh,
    page,
    addressHash,
    address: seal.seal(address, fresh),
    state: 'pending',
    components: JSON.parse(asked.components) as string[],
    gate,
    locale,
    now,
  });
  const [row] = await tx.all(
    'SELECT id, state, asked_at, asked_count FROM subscriber WHERE page = ? AND address_hash = ?',
    [page, addressHash],
  );
  const [id, isPending, count] = [String(row?.['id']), row?.['state'] === 'pending', Number(row?.['asked_count'])];
  const isReminded = count > 0 && Number(row?.['asked_at']) > now - REMINDED_AFTER_MS;
  if (isPending ? count >= CONFIRMATIONS_MAX : isReminded) return;
  // Before it is confirmed, the last choice counts; afterwards only its owner can change it.
  if (isPending)
    await tx.run('UPDATE subscriber SET components = ?, gate = ?, locale = ? WHERE id = ?', [
      ...[asked.components, gate, locale, id],
    ]);
  await tx.run('UPDATE subscriber SET asked_at = ?, asked_count = asked_count + 1 WHERE id = ?', [now, id]);
  await queueLink(tx, { subscriber: id, kind: isPending ? 'confirm' : 'known', request: asked.id, now });
}
