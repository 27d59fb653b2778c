/**
 * Identities signed in with an identity provider, encrypted, so that a copy of the database reveals nobody. They are
 * checked again with the provider every hour; sessions that the provider ended end here at once. While it cannot be
 * reached, sessions continue.
 */

import { LRUCache } from 'lru-cache';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../model/time.ts';
import type { Database, Writer } from '../../store/database.ts';
import { createSeal, keyedDigest, newToken, type RandomBytes, type Revealing } from '../digest.ts';
import {
  askAgain,
  discover,
  type Identified,
  type OidcClient,
  type Person,
  ProviderFault,
  type ProviderFetch,
  readLogoutToken,
  signOutUrl,
} from './provider.ts';

/** How long the provider's answer is valid. */
const BELIEVED_MS = HOUR_MS;
/** Time before another attempt, because another process may be asking, or the provider is unreachable. */
const ASK_AGAIN_MS = MINUTE_MS;
const ASKING_MAX = 10_000;

interface IdentitiesOptions {
  readonly database: Database;
  readonly random: RandomBytes;
  readonly key: Revealing;
  readonly fetch: ProviderFetch;
  readonly onError: (error: unknown, where: string) => void;
}

interface Kept extends Identified {
  readonly readAt: EpochMs;
}

export type Identities = ReturnType<typeof createIdentities>;

export function createIdentities({ database, random, key, fetch, onError }: IdentitiesOptions) {
  const seal = createSeal(key, 'identities', random);
  const hashAccount = ({ issuer, client_id: id }: OidcClient, kind: 'subject' | 'sid', text: string): string =>
    keyedDigest(key, kind, issuer, id, text);
  /** Requests in progress, so that concurrent callers share one. */
  const asking = new LRUCache<string, Promise<Person | null>>({ max: ASKING_MAX });

  async function read(client: OidcClient, id: string): Promise<Kept | null> {
    const sql = 'SELECT * FROM access_identity WHERE id = ? AND issuer = ? AND client_id = ?';
    const [row] = await database.all(sql, [id, client.issuer, client.client_id]);
    const facts = row === undefined ? null : seal.open(String(row['facts']), id);
    if (row === undefined || facts === null) return null;
    return { ...(JSON.parse(facts) as Identified), readAt: toEpochMs(Number(row['read_at'])) };
  }

  const end = async (id: string): Promise<void> => {
    await database.transaction((tx) => tx.run('DELETE FROM access_identity WHERE id = ?', [id]));
  };

  /** Only the process that writes its claim asks the provider. The others use the known answer for another minute. */
  async function refresh(client: OidcClient, id: string, kept: Kept, now: EpochMs): Promise<Person | null> {
    const { refreshToken, person, readAt } = kept;
    if (refreshToken === null || database.isReadOnly) return null;
    const claim = [now - BELIEVED_MS + ASK_AGAIN_MS, id, readAt];
    const claimed = await database.transaction((tx) =>
      tx.run('UPDATE access_identity SET read_at = ? WHERE id = ? AND read_at = ?', claim),
    );
    if (claimed !== 1) return (await read(client, id))?.person ?? null;
    try {
      const identified = await askAgain(await discover(client, fetch), refreshToken, person.subject);
      // Signing out needs the first answer's token if later answers have none.
      const facts = { ...identified, idToken: identified.idToken ?? kept.idToken, sid: identified.sid ?? kept.sid };
      const values = [seal.seal(JSON.stringify(facts), id), now, id];
      const written = await database.transaction((tx) =>
        tx.run('UPDATE access_identity SET facts = ?, read_at = ? WHERE id = ?', values),
      );
      return written === 1 ? identified.person : null;
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
      onError(error, 'identity provider');
      if (error.kind === 'away') return person;
      await end(id);
      return null;
    }
  }

  return {
    /** Stores an identity; returns the id for `current`. */
    keep: async (tx: Writer, client: OidcClient, identified: Identified, now: EpochMs): Promise<string> => {
      const id = newToken(random);
      const { person, sid } = identified;
      const subjectHash = hashAccount(client, 'subject', person.subject);
      const sidHash = sid === null ? null : hashAccount(client, 'sid', sid);
      const facts = seal.seal(JSON.stringify(identified), id);
      await tx.run(
        `INSERT INTO access_identity (id, issuer, client_id, subject_hash, sid_hash, facts, created_at, read_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [id, client.issuer, client.client_id, subjectHash, sidHash, facts, now, now],
      );
      return id;
    },
    /** The person, as confirmed by the provider within the last hour; null: their session is over. */
    current: async (client: OidcClient | null, id: string, now: EpochMs): Promise<Person | null> => {
      const kept = client === null ? null : await read(client, id);
      if (client === null || kept === null) return null;
      if (now - kept.readAt < BELIEVED_MS) return kept.person;
      const asked = asking.get(id) ?? refresh(client, id, kept, now).finally(() => asking.delete(id));
      asking.set(id, asked);
      return asked;
    },
    end,
    /** Where to sign out at the provider; null: nowhere, or it is unreachable. */
    signOutUrl: async (client: OidcClient, id: string, returnTo: string): Promise<string | null> => {
      const kept = await read(client, id);
      if (kept === null) return null;
      try {
        return signOutUrl(await discover(client, fetch), kept.idToken, returnTo);
      } catch (error) {
        onError(error, 'identity provider');
        return null;
      }
    },
    /** Ends the sessions that a logout token names. False: the token is not valid. */
    endByToken: async (client: OidcClient, token: string): Promise<boolean> => {
      try {
        const { subject, sid, issuedAt } = await readLogoutToken(await discover(client, fetch), token, fetch);
        const bySid = sid === null ? null : hashAccount(client, 'sid', sid);
        const bySubject = subject === null ? null : hashAccount(client, 'subject', subject);
        await database.transaction((tx) => endAll(tx, bySid, bySubject, issuedAt));
        return true;
      } catch (error) {
        if (!(error instanceof ProviderFault)) throw error;
        onError(error, 'identity provider');
        return false;
      }
    },
  };
}

/** Ends one session at the provider if the token names it, else every session of the account. */
async function endAll(tx: Writer, bySid: string | null, bySubject: string | null, issuedAt: number): Promise<void> {
  if (bySid !== null) await tx.run('DELETE FROM access_identity WHERE sid_hash = ?', [bySid]);
  if (bySubject === null) return;
  // In seconds. Later sessions are unaffected, so replaying a token ends nothing new.
  const before = (issuedAt + 1) * 1_000;
  const which = bySid === null ? '' : 'AND sid_hash IS NULL';
  await tx.run(`DELETE FROM access_identity WHERE subject_hash = ? AND created_at < ? ${which}`, [bySubject, before]);
}

/** Deletes identities without a session. */
export async function forgetIdentities(tx: Writer): Promise<void> {
  await tx.run(
    `DELETE FROM access_identity WHERE
       id NOT IN (SELECT identity FROM access_grant WHERE identity IS NOT NULL) AND
       'oidc:' || id NOT IN (SELECT credential FROM operator_session)`,
  );
}
