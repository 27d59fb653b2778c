/** Listens to what other processes announce, on a connection of its own that is opened again whenever it is lost. */

import type pg from 'pg';
import { createClient } from './pool.ts';

/** Of one database: whatever is said there, the tables say what it was. */
export const CHANNEL = 'pharos';

const RECONNECT_MS = 1_000;
/** A server that is gone without a word is noticed by a question that gets no answer. */
const QUESTION_EVERY_MS = 5_000;

/** Calls `listener` for every announcement, and each time the connection is there again. @returns what ends it */
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
      // Until then the tables are looked at all the same.
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
