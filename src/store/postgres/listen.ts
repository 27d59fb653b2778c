/** Listens to announcements of other processes, on its own connection, which is reopened when it is lost. */

import type pg from 'pg';
import { createClient } from './pool.ts';

/** The notification channel. Its messages are empty, because the tables have the details. */
export const CHANNEL = 'pharos';

const RECONNECT_MS = 1_000;
/** A query at this interval detects a server that has disappeared silently. */
const QUESTION_EVERY_MS = 5_000;

/**
 * Calls `listener` for every announcement and after each reconnection.
 * @returns a function that stops listening
 */
export function listenTo(url: string, listener: () => void): () => Promise<void> {
  let client: pg.Client | null = null;
  let isEnded = false;
  let timer: NodeJS.Timeout | null = null;

  function later(task: () => void, ms: number): void {
    if (isEnded) return;
    timer = setTimeout(task, ms);
    timer.unref();
  }

  async function connect(): Promise<void> {
    const mine = createClient(url);
    client = mine;
    const lose = (): void => {
      if (client !== mine) return;
      client = null;
      if (timer !== null) clearTimeout(timer);
      void mine.end().catch(() => undefined);
      // Until then, polling finds changes.
      later(() => void connect(), RECONNECT_MS);
    };
    mine.on('error', lose);
    mine.on('end', lose);
    mine.on('notification', listener);
    const ask = async (): Promise<void> => {
      await mine.query('SELECT 1');
      if (client === mine) later(() => void ask().catch(lose), QUESTION_EVERY_MS);
    };
    try {
      await mine.connect();
      await mine.query(`LISTEN ${CHANNEL}`);
      listener();
      await ask();
    } catch {
      lose();
    }
  }

  void connect();
  return async () => {
    isEnded = true;
    if (timer !== null) clearTimeout(timer);
    const last = client;
    client = null;
    await last?.end().catch(() => undefined);
  };
}
