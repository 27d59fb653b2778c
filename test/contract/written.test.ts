import { describe, expect, it } from 'vitest';
import { toPageKey } from '../../src/model/slugs.ts';
import { DAY_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore } from '../../src/store/create-store.ts';
import type { Database } from '../../src/store/database.ts';
import { settlePages } from '../../src/store/pages.ts';
import { readRevision } from '../../src/store/revisions.ts';
import {
  type ApiToken,
  createApiTokens,
  deleteMade,
  deleteWritten,
  findAlert,
  findRequest,
  findWritten,
  keepAlert,
  keepRequest,
  type MadeComponent,
  readMade,
  readPlaced,
  readWritten,
  saveMade,
  saveWritten,
  type WrittenRow,
} from '../../src/store/written.ts';
import { DATABASES, eachWithDatabase, type TestDatabase } from '../helpers/databases.ts';

const AT = toEpochMs(Date.UTC(2026, 10, 21));
const later = (ms: number) => toEpochMs(AT + ms);
const ACME = toPageKey('acme', 1);
const OTHER = toPageKey('other', 1);
const ROW: WrittenRow = {
  id: 'a',
  page: ACME,
  isPrivate: false,
  version: 1,
  document: '{"post":{}}',
  createdAt: AT,
  updatedAt: AT,
  actor: 'operator',
};

describe.each(DATABASES)('what operators write in %s', (kind) => {
  let place: TestDatabase;
  let database: Database;

  eachWithDatabase(kind, (fresh) => {
    place = fresh;
    database = place.open();
  });

  it('is kept with its version, by page, until it is deleted', async () => {
    await database.transaction(async (tx) => {
      await saveWritten(tx, ROW);
      await saveWritten(tx, { ...ROW, id: 'b', page: OTHER, isPrivate: true, createdAt: later(1) });
    });
    const changed = { ...ROW, version: 2, document: '{"post":{"title":"é"}}', updatedAt: later(5), actor: 'token:x/y' };
    await database.transaction((tx) => saveWritten(tx, changed));
    expect(await findWritten(database, 'a')).toEqual(changed);
    expect((await readWritten(database)).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await readWritten(database, OTHER)).map(({ id }) => id)).toEqual(['b']);
    await database.transaction((tx) => deleteWritten(tx, 'a', later(9), 'operator'));
    expect(await findWritten(database, 'a')).toBe(null);
    expect((await readWritten(database)).map(({ id }) => id)).toEqual(['b']);
    const [row] = await database.all('SELECT version, deleted_at FROM written WHERE id = ?', ['a']);
    expect([Number(row?.['version']), Number(row?.['deleted_at'])]).toEqual([3, later(9)]);
    // What was deleted goes with the history of its time; what is there stays, however old.
    await createStore(database).retain(later(DAY_MS));
    expect(await database.all('SELECT id FROM written')).toEqual([{ id: 'b' }]);
  });

  it('has components of their page, which is another with every change', async () => {
    const claims = { pages: [{ slug: 'acme', origin: 'config/acme', access: 'public' }] } as const;
    await settlePages(database, { ...claims, held: new Set(), isComplete: true }, { mine: null, now: AT });
    const one: MadeComponent = {
      ...{ page: ACME, id: 'search', kind: 'component', name: '検索', description: null, groupId: null },
      ...{ showcase: true, onlyIfDegraded: false, startDate: null, createdAt: AT },
    };
    const group: MadeComponent = { ...one, id: 'core', kind: 'group', description: 'é', createdAt: later(1) };
    await database.transaction(async (tx) => {
      await saveMade(tx, one);
      await saveMade(tx, group);
      await saveMade(tx, { ...one, page: OTHER });
    });
    expect(await readMade(database, ACME)).toEqual([one, group]);
    const place = { slug: 'acme', origin: 'config/acme' };
    // The other page is none that is shown.
    expect(await readPlaced(database)).toEqual([
      { ...one, ...place },
      { ...group, ...place },
    ]);
    const before = await readRevision(database);
    const changed = { ...one, groupId: 'core', startDate: '2026-01-02', showcase: false, onlyIfDegraded: true };
    await database.transaction((tx) => saveMade(tx, changed));
    expect(await readMade(database, ACME)).toEqual([changed, group]);
    await database.transaction((tx) => deleteMade(tx, one));
    expect(await readMade(database, ACME)).toEqual([group]);
    expect(await readMade(database, OTHER)).toEqual([{ ...one, page: OTHER }]);
    expect(await createStore(database).changesSince(before)).toMatchObject({ hasNewDefinitions: true });
  });

  it('is not there at all when its transaction fails', async () => {
    const failing = database.transaction(async (tx) => {
      await saveWritten(tx, ROW);
      await keepRequest(tx, { actor: 'x', key: 'k', digest: 'd', post: 'a' }, AT);
      throw new Error('the power went');
    });
    await expect(failing).rejects.toThrow('the power went');
    expect(await readWritten(database)).toEqual([]);
    expect(await findRequest(database, { actor: 'x', key: 'k' })).toBe(null);
  });

  it('knows requests and alerts again', async () => {
    await database.transaction(async (tx) => {
      await keepRequest(tx, { actor: 'x', key: 'k', digest: 'd', post: 'a' }, AT);
      await keepAlert(tx, { intake: 'i', page: ACME, key: 'k', post: 'a', state: 'firing', toldAt: null }, AT);
    });
    expect(await findRequest(database, { actor: 'x', key: 'k' })).toMatchObject({ digest: 'd', post: 'a' });
    expect(await findRequest(database, { actor: 'y', key: 'k' })).toBe(null);
    const resolved = { intake: 'i', page: ACME, key: 'k', post: 'a', state: 'resolved', toldAt: later(3) } as const;
    await database.transaction((tx) => keepAlert(tx, resolved, later(4)));
    expect(await findAlert(database, { intake: 'i', page: ACME, key: 'k' })).toEqual(resolved);
    expect(await findAlert(database, { intake: 'j', page: ACME, key: 'k' })).toBe(null);
    expect(await findAlert(database, { intake: 'i', page: toPageKey('acme', 2), key: 'k' })).toBe(null);
  });

  it('is let in by tokens that are found by their hash, and revoked once', async () => {
    const tokens = createApiTokens(database);
    const token: ApiToken = {
      id: 't',
      name: 'deploys',
      scopes: ['incidents', 'read'],
      page: ACME,
      createdAt: AT,
      expiresAt: later(DAY_MS),
      revokedAt: null,
    };
    await tokens.create(token, 'hash');
    expect(await tokens.find('hash')).toEqual(token);
    expect(await tokens.find('other')).toBe(null);
    expect([await tokens.revoke('t', later(1)), await tokens.revoke('t', later(2))]).toEqual([true, false]);
    expect(await tokens.list()).toEqual([{ ...token, revokedAt: later(1) }]);
  });
});
