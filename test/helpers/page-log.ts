/** Logs of pages under keys that last as long as the process. */

import type { Database } from '../../src/store/database.ts';
import { generateKey, readSigningKey, type SigningKey } from '../../src/transparency/note.ts';
import { createPageLog, type PageLog } from '../../src/transparency/page-log.ts';

/** A key that signs, under a name. */
export function testKey(name = 'status.example.com'): SigningKey {
  const key = readSigningKey(name, generateKey());
  if (key === null) throw new Error('a new key is no key');
  return key;
}

export const TEST_KEY = testKey();

/** Logs that one key signs. */
export function testPageLog(database: Database, current: SigningKey = TEST_KEY): PageLog {
  return createPageLog(database, async () => ({ current, find: () => null }));
}
