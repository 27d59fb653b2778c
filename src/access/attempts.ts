/**
 * Counts sign-in attempts in the store over a sliding window, so that restarts and other processes share the counts.
 */

import type { EpochMs } from '../model/time.ts';
import type { Database, Reader, Writer } from '../store/database.ts';
import { clientNetwork } from './client-address.ts';
import { keyedDigest, newToken, type RandomBytes, type Revealing } from './digest.ts';
import { ATTEMPT_LIMITS, ATTEMPT_WINDOW_MS, type AttemptKind, MAILS_PER_ADDRESS_MAX } from './limits.ts';

interface Attempt {
  readonly kind: AttemptKind;
  /** From the address; counted the same whether the page exists or not. */
  readonly slug: string;
  /** Empty: unknown. Such clients can't be told apart, so they are counted together. */
  readonly clientAddress: string;
  readonly now: EpochMs;
}

type Admission =
  | { readonly isAdmitted: true; readonly attempt: string }
  | { readonly isAdmitted: false; readonly retryAfterMs: number };

interface Bucket {
  readonly name: string;
  readonly limit: number;
}

interface AttemptsOptions {
  readonly database: Database;
  readonly random: RandomBytes;
  /** Shared by all processes that share the counts. */
  readonly key: Revealing;
}

export type Attempts = ReturnType<typeof createAttempts>;

/** Creates the counters over the database; addresses of clients and mailboxes are stored as keyed hashes only. */
export function createAttempts({ database, random, key }: AttemptsOptions) {
  function nameBuckets({ kind, slug, clientAddress }: Attempt): Buckets {
    const limits = ATTEMPT_LIMITS[kind];
    const client = clientNetwork(clientAddress);
    const name = (...parts: string[]): string => keyedDigest(key, kind, ...parts);
    if (clientAddress === '') return { client: null, unknown: { name: name('unknown', slug), limit: limits.firsts } };
    return {
      client: { name: name('client', slug, client), limit: limits.client },
      everywhere: { name: name('everywhere', client), limit: limits.clientEverywhere },
      firsts: { name: name('firsts', slug), limit: limits.firsts },
      repeats: { name: name('repeats', slug), limit: limits.repeats },
    };
  }

  return {
    /** Counts an attempt before it is evaluated, or says how long to wait. */
    admit: async (attempt: Attempt): Promise<Admission> => {
      const buckets = nameBuckets(attempt);
      // Checked before taking the write lock: refusing must stay cheap under a flood.
      const early = await refusal(database, buckets, attempt.now);
      if (early.retryAfterMs !== null) return { isAdmitted: false, retryAfterMs: early.retryAfterMs };
      return database.transaction(async (tx): Promise<Admission> => {
        const { retryAfterMs, counted } = await refusal(tx, buckets, attempt.now);
        if (retryAfterMs !== null) return { isAdmitted: false, retryAfterMs };
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
    /** Prepares to count a mail to a mailbox; in the transaction, false means that the mailbox has had enough for now. */
    mailCounter: async (
      mailbox: string,
      kind: 'mailbox' | 'subscription' = 'mailbox',
    ): Promise<(tx: Writer, now: EpochMs) => Promise<boolean>> => {
      const bucket: Bucket = { name: keyedDigest(key, kind, mailbox), limit: MAILS_PER_ADDRESS_MAX };
      return async (tx, now) => {
        if ((await waitBefore(tx, bucket, now)) !== null) return false;
        await tx.run('INSERT INTO access_attempt (attempt, bucket, at) VALUES (?, ?, ?)', [
          newToken(random),
          bucket.name,
          now,
        ]);
        return true;
      };
    },
  };
}

/** Deletes attempts older than the window. */
export async function forgetAttempts(tx: Writer, until: EpochMs): Promise<void> {
  await tx.run('DELETE FROM access_attempt WHERE at <= ?', [until]);
}

type Buckets =
  | { readonly client: null; readonly unknown: Bucket }
  | { readonly client: Bucket; readonly everywhere: Bucket; readonly firsts: Bucket; readonly repeats: Bucket };

/** The counters that an attempt adds to, and the longest wait that any of them requires. */
async function refusal(
  reader: Reader,
  buckets: Buckets,
  now: EpochMs,
): Promise<{ readonly retryAfterMs: number | null; readonly counted: readonly Bucket[] }> {
  const counted = await bucketsToCount(reader, buckets, now);
  let retryAfterMs: number | null = null;
  for (const bucket of counted) {
    const wait = await waitBefore(reader, bucket, now);
    if (wait !== null) retryAfterMs = Math.max(retryAfterMs ?? 0, wait);
  }
  return { retryAfterMs, counted };
}

async function bucketsToCount(reader: Reader, buckets: Buckets, now: EpochMs): Promise<readonly Bucket[]> {
  if (buckets.client === null) return [buckets.unknown];
  const { client, everywhere, firsts, repeats } = buckets;
  const isFirst = (await attemptCount(reader, client, now)) === 0;
  return [client, everywhere, isFirst ? firsts : repeats];
}

/** Null while there is room, else the time until there is (at least a second). */
async function waitBefore(reader: Reader, { name, limit }: Bucket, now: EpochMs): Promise<number | null> {
  // Once the `limit`-th newest attempt leaves the window, there is room again.
  const rows = await reader.all(
    'SELECT at FROM access_attempt WHERE bucket = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?',
    [name, now - ATTEMPT_WINDOW_MS, limit - 1],
  );
  const at = rows[0]?.['at'];
  if (at === undefined) return null;
  return Math.min(Math.max(Number(at) + ATTEMPT_WINDOW_MS - now, 1_000), ATTEMPT_WINDOW_MS);
}

async function attemptCount(reader: Reader, { name }: Bucket, now: EpochMs): Promise<number> {
  const rows = await reader.all('SELECT COUNT(*) AS n FROM access_attempt WHERE bucket = ? AND at > ?', [
    name,
    now - ATTEMPT_WINDOW_MS,
  ]);
  return Number(rows[0]?.['n'] ?? 0);
}
