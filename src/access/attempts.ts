/**
 * Counts sign-in attempts in the store over a sliding window, so that restarts and other processes share the counts.
 */

import { type EpochMs, MINUTE_MS } from '../model/time.ts';
import type { Database, Reader, Writer } from '../store/database.ts';
import type { GateRequest } from './access.ts';
import { clientNetwork } from './client-address.ts';
import { keyedDigest, newToken, type RandomBytes, type Revealing } from './digest.ts';

/** Attempts are counted over a sliding window of this length. */
export const ATTEMPT_WINDOW_MS = 15 * MINUTE_MS;
const MAILS_PER_ADDRESS_MAX = 3;

/**
 * Limits by kind of attempt; each kind has its own counters. Successful attempts are not counted.
 *
 * `client`: one client on one page. `clientEverywhere`: one client on all pages, existing or not. `repeats`: everybody on
 * one page, not counting each client's first attempt. `firsts`: first attempts of all clients on one page; counted
 * separately, so that many guessing clients cannot lock out a newcomer. All unknown clients together have the same
 * limit.
 */
export const ATTEMPT_LIMITS = {
  password: { client: 10, clientEverywhere: 50, repeats: 200, firsts: 1_500 },
  mail: { client: 10, clientEverywhere: 20, repeats: 100, firsts: 500 },
  code: { client: 10, clientEverywhere: 20, repeats: 100, firsts: 100 },
  provider: { client: 10, clientEverywhere: 50, repeats: 200, firsts: 1_500 },
  subscribe: { client: 10, clientEverywhere: 10, repeats: 200, firsts: 1_500 },
} as const;

/**
 * `slug`: from the address; counted the same whether the page exists or not. `clientAddress`, empty: unknown. Such
 * clients can't be told apart, so they are counted together.
 */
interface Attempt extends Pick<GateRequest, 'slug' | 'clientAddress' | 'now'> {
  readonly kind: keyof typeof ATTEMPT_LIMITS;
}

type Admission =
  | { readonly isAdmitted: true; readonly attempt: string }
  | { readonly isAdmitted: false; readonly retryAfterMs: number };

interface Bucket {
  readonly name: string;
  readonly limit: number;
}

export type Attempts = ReturnType<typeof createAttempts>;

/**
 * Creates the counters over the database; addresses of clients and mailboxes are stored as keyed hashes only.
 *
 * @param key shared by all processes that share the counts
 */
export function createAttempts(database: Database, random: RandomBytes, key: Revealing) {
  /** The counters that an attempt adds to. */
  async function bucketsOf(reader: Reader, attempt: Attempt): Promise<readonly Bucket[]> {
    const { kind, slug, clientAddress, now } = attempt;
    const limits = ATTEMPT_LIMITS[kind];
    const network = clientNetwork(clientAddress);
    const bucket = (limit: number, ...parts: string[]): Bucket => ({ name: keyedDigest(key, kind, ...parts), limit });
    if (clientAddress === '') return [bucket(limits.firsts, 'unknown', slug)];
    const client = bucket(limits.client, 'client', slug, network);
    const everywhere = bucket(limits.clientEverywhere, 'everywhere', network);
    const sql = 'SELECT COUNT(*) AS n FROM access_attempt WHERE bucket = ? AND at > ?';
    const [row] = await reader.all(sql, [client.name, now - ATTEMPT_WINDOW_MS]);
    const isFirst = Number(row?.['n'] ?? 0) === 0;
    return [
      client,
      everywhere,
      isFirst ? bucket(limits.firsts, 'firsts', slug) : bucket(limits.repeats, 'repeats', slug),
    ];
  }

  /** Those counters, and the longest wait that any of them requires; 0: none. */
  async function weigh(reader: Reader, attempt: Attempt) {
    const counted = await bucketsOf(reader, attempt);
    const waits = await Array.fromAsync(counted, (bucket) => waitBefore(reader, bucket, attempt.now));
    return { counted, retryAfterMs: Math.max(...waits) };
  }

  return {
    /** Counts an attempt before it is evaluated, or says how long to wait. */
    admit: async (attempt: Attempt): Promise<Admission> => {
      // Checked before taking the write lock: refusing must stay cheap under a flood.
      const early = await weigh(database, attempt);
      if (early.retryAfterMs > 0) return { isAdmitted: false, retryAfterMs: early.retryAfterMs };
      return database.transaction(async (tx): Promise<Admission> => {
        const { retryAfterMs, counted } = await weigh(tx, attempt);
        if (retryAfterMs > 0) return { isAdmitted: false, retryAfterMs };
        const id = newToken(random);
        await tx.runMany(
          'INSERT INTO access_attempt (attempt, bucket, at) VALUES (?, ?, ?)',
          counted.map((bucket) => [id, bucket.name, attempt.now]),
        );
        return { isAdmitted: true, attempt: id };
      });
    },
    /** Removes a successful attempt from the count: a whole office may sign in from one address. */
    forgive: async (attempt: string) => {
      await database.transaction((tx) => tx.run('DELETE FROM access_attempt WHERE attempt = ?', [attempt]));
    },
    /** Counts a mail to a mailbox; false: the mailbox has had enough for now. */
    countMail: async (tx: Writer, kind: 'mailbox' | 'subscription', mailbox: string, now: EpochMs) => {
      const bucket = { name: keyedDigest(key, kind, mailbox), limit: MAILS_PER_ADDRESS_MAX };
      if ((await waitBefore(tx, bucket, now)) > 0) return false;
      const row = [newToken(random), bucket.name, now];
      await tx.run('INSERT INTO access_attempt (attempt, bucket, at) VALUES (?, ?, ?)', row);
      return true;
    },
  };
}

/** Deletes attempts older than the window. */
export async function forgetAttempts(tx: Writer, until: EpochMs): Promise<void> {
  await tx.run('DELETE FROM access_attempt WHERE at <= ?', [until]);
}

/** 0 while there is room, else the time until there is (at least a second). */
async function waitBefore(reader: Reader, { name, limit }: Bucket, now: EpochMs): Promise<number> {
  // Once the `limit`-th newest attempt leaves the window, there is room again.
  const rows = await reader.all(
    'SELECT at FROM access_attempt WHERE bucket = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?',
    [name, now - ATTEMPT_WINDOW_MS, limit - 1],
  );
  const at = rows[0]?.['at'];
  if (at === undefined) return 0;
  return Math.min(Math.max(Number(at) + ATTEMPT_WINDOW_MS - now, 1_000), ATTEMPT_WINDOW_MS);
}
