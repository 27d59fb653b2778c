/** The parts of the gates. */

import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { StatusError } from '../errors.ts';
import { HOUR_MS } from '../model/time.ts';
import type { Database } from '../store/database.ts';
import { createAttempts } from './attempts.ts';
import { type RandomBytes, type Revealing, systemRandom } from './digest.ts';
import { createGates, HASHES_AT_ONCE } from './gate/gates.ts';
import { createLoginDocuments, type RenderLogin } from './login/login-documents.ts';
import type { Oidc } from './oidc/oidc.ts';
import { createPrincipals, createSessions, SESSION_MAX_MS } from './sessions.ts';
import type { SignInMailOptions } from './sign-in-mail.ts';

/** Password checks that may wait; beyond that the answer is "try again later". */
export const HASHES_WAITING_MAX = 64;
/** Networks with waiting password checks, and checks that may wait per network: a large office. */
const TURNS_MAX = 10_000;
const TURNS_WAITING_MAX = 1_000;

export interface AccessOptions extends Omit<SignInMailOptions, 'gates' | 'random' | 'localeOf'> {
  /** Key for hashes of addresses; not stored in the database. */
  readonly key: Revealing;
  /** How long a session may stay unused. */
  readonly sessionHours: number;
  /** Called with errors hidden from the visitor; they never contain a secret. */
  readonly onError: (error: unknown, where: string) => void;
  /** If it fails, a plain document in English is shown instead. */
  readonly renderLogin: RenderLogin;
  /** The language of the page at `to`, one of few; null: the site's. Default: null. */
  readonly localeOf?: (to: string) => string | null;
  readonly oidc: Oidc;
  /** Default: the system's. */
  readonly random?: RandomBytes;
  /** Default: every five seconds; null: only when `tend` is called. */
  readonly tendIntervalMs?: number | null;
}

/** Limits concurrent tasks, and how many may wait. */
export function createSemaphore(atOnce: number, waitingMax: number) {
  const limit = pLimit(atOnce);
  return {
    /** Runs `task` when a slot is free; null if too many are waiting already. */
    run: async <T>(task: () => Promise<T>): Promise<T | null> =>
      limit.activeCount + limit.pendingCount >= atOnce + waitingMax ? null : limit(task),
  };
}

export type GateParts = ReturnType<typeof createParts>;

/** In two steps, because a process that was busy notices answers late. */
const READ_MS = [1_500, 500] as const;

/** The database for visitors. If a read hangs, as when packets are dropped, it fails, and others do at once until it has ended. */
function withPatience(database: Database): Database {
  const hanging = new Set<unknown>();
  const fault = () => new StatusError({ code: 'STORE_UNAVAILABLE', message: 'The database doesn’t answer.' });
  const all: Database['all'] = async (...query) => {
    if (hanging.size > 0) throw fault();
    const rows = database.all(...query);
    const late = Promise.withResolvers<never>();
    const giveUp = (): void => {
      hanging.add(rows);
      rows.catch(() => undefined).finally(() => hanging.delete(rows));
      late.reject(fault());
    };
    const timers = [setTimeout(() => timers.push(setTimeout(giveUp, READ_MS[1])), READ_MS[0])];
    return Promise.race([rows, late.promise]).finally(() => timers.forEach(clearTimeout));
  };
  return { ...database, all };
}

/** @param mailSoon triggers sending of queued mails, but not before the current request was answered */
export function createParts(options: AccessOptions, mailSoon: () => void) {
  const { oidc, siteUrl, onError, random = systemRandom } = options;
  const database = withPatience(options.database);
  const idleMs = Math.min(options.sessionHours * HOUR_MS, SESSION_MAX_MS);
  const gates = createGates(database, random, onError);
  const sessions = createSessions(database, random, idleMs, onError);
  return {
    ...{ database, random, gates, sessions, oidc, siteUrl, onError, mailSoon },
    attempts: createAttempts(database, random, options.key),
    documents: createLoginDocuments(options.renderLogin, onError, options.localeOf),
    hashing: createSemaphore(HASHES_AT_ONCE, HASHES_WAITING_MAX),
    /** Sign-ins from one network are evaluated one after the other. */
    turns: new LRUCache<string, ReturnType<typeof createSemaphore>>({
      max: TURNS_MAX,
      memoMethod: () => createSemaphore(1, TURNS_WAITING_MAX),
    }),
    principals: createPrincipals(sessions, gates, oidc, onError),
  };
}
