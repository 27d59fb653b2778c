import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGate } from '../../src/access/gate/stored-gate.ts';
import { type Learned, NOTHING_LEARNED, type PageDefinition } from '../../src/model/observation.ts';
import { type PageKey, toPageKey } from '../../src/model/slugs.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { createStore } from '../../src/store/create-store.ts';
import type { Database } from '../../src/store/database.ts';
import {
  adoptPage,
  keyOfSlug,
  type OwnPages,
  type PageClaim,
  type PageClaims,
  readPages,
  settlePages,
} from '../../src/store/pages.ts';
import { makeSqlite, openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { createApiTokens, readWritten } from '../../src/store/written.ts';
import { DATABASES, eachWithDatabase, type TestDatabase } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

const T0 = toEpochMs(Date.UTC(2026, 10, 21));
const page = (slug: string, origin = `config/${slug}`, access: PageClaim['access'] = 'public'): PageClaim => ({
  slug,
  origin,
  access,
});
const claims = (pages: readonly PageClaim[], over: Partial<PageClaims> = {}): PageClaims => ({
  pages,
  held: new Set(),
  isComplete: true,
  ...over,
});

describe.each(DATABASES)('which page is which in %s', (kind) => {
  let place: TestDatabase;
  let database: Database;
  /** Each time later than the last. */
  let now = T0;

  eachWithDatabase(kind, (fresh) => {
    place = fresh;
    database = place.open();
  });

  /** Keys of the pages that have their slugs then, with the versions of their gates. */
  async function settle(wanted: PageClaims, mine: OwnPages | null = null): Promise<string[]> {
    now = toEpochMs(now + 1);
    const { pages } = await settlePages(database, wanted, { mine, now });
    return pages.map(({ key, gate }) => `${key} ${gate}`);
  }

  it('goes on with an era as long as the same definition has the slug', async () => {
    expect(await settle(claims([page('acme'), page('inner')]))).toEqual(['acme~1 1', 'inner~1 1']);
    expect(await settle(claims([page('inner'), page('acme')]))).toEqual(['acme~1 1', 'inner~1 1']);
    expect(await settle(claims([page('inner'), page('acme')]), new Map())).toEqual(['acme~1 1', 'inner~1 1']);
  });

  it('gives a page that comes back its log, and none that names another address', async () => {
    const logged = async (): Promise<readonly unknown[]> => database.all('SELECT page, line FROM log_entry', []);
    const [old] = (await settle(claims([page('secret')]))).map((one) => one.split(' ')[0] as PageKey);
    if (old === undefined) throw new Error('there is no page');
    await database.transaction((tx) =>
      tx.run("INSERT INTO log_entry (page, n, line) VALUES (?, 0, 'of host/secret')", [old]),
    );
    await settle(claims([]));
    await settle(claims([page('secret', 'svc/7')]));
    expect(await adoptPage(database, { old, slug: 'secret', now })).toBe('adopted');
    expect(await logged()).toHaveLength(1);
    await settle(claims([page('acme')]));
    expect(await adoptPage(database, { old, slug: 'acme', now })).toBe('adopted');
    expect(await logged()).toEqual([]);
  });

  it('begins an era when a page comes back, and when another definition takes its slug', async () => {
    await settle(claims([page('acme')]));
    expect(await settle(claims([]))).toEqual([]);
    expect(await keyOfSlug(database, 'acme')).toBe('acme~2');
    expect(await settle(claims([page('acme')]))).toEqual(['acme~2 1']);
    expect(await settle(claims([page('acme', 'svc/7')]))).toEqual(['acme~3 1']);
    expect(await settle(claims([page('acme')]))).toEqual(['acme~4 1']);
    expect((await readPages(database, 'all')).map(({ key }) => key)).toEqual(['acme~1', 'acme~2', 'acme~3', 'acme~4']);
  });

  it('counts each change of the kind of gate within an era', async () => {
    await settle(claims([page('acme')]));
    expect(await settle(claims([page('acme', 'config/acme', 'password')]))).toEqual(['acme~1 2']);
    expect(await settle(claims([page('acme', 'config/acme', 'closed')]))).toEqual(['acme~1 3']);
    expect(await settle(claims([page('acme')]))).toEqual(['acme~1 4']);
  });

  it('ends nothing while definitions are missing or contested', async () => {
    await settle(claims([page('acme'), page('inner')]));
    expect(await settle(claims([], { isComplete: false }))).toEqual(['acme~1 1', 'inner~1 1']);
    expect(await settle(claims([page('inner')], { held: new Set(['acme']) }))).toEqual(['acme~1 1', 'inner~1 1']);
    expect(await settle(claims([page('inner'), page('acme')]))).toEqual(['acme~1 1', 'inner~1 1']);
  });

  it('leaves a page to the node that has seen it', async () => {
    const mine = new Map([[toPageKey('acme', 1), 'public']] as const);
    await settle(claims([page('acme'), page('fresh')]));
    // A node whose configuration is older has never seen it.
    expect(await settle(claims([page('acme')]), mine)).toEqual(['acme~1 1', 'fresh~1 1']);
    expect(await settle(claims([page('fresh')]), mine)).toEqual(['fresh~1 1']);
  });

  it('goes on where a node still defines it, after one with an older configuration started', async () => {
    const [newer, older] = [claims([page('acme', 'config/acme', 'password'), page('svc', 'svc/7')]), claims([])];
    const keys = await settle(newer);
    const mine = new Map([
      [toPageKey('acme', 1), 'password'],
      [toPageKey('svc', 1), 'public'],
    ] as const);
    expect(await settle(older)).toEqual([]);
    // An upstream's page may have been removed and defined again.
    expect([keys, await settle(newer, mine)]).toEqual([
      ['acme~1 1', 'svc~1 1'],
      ['acme~1 1', 'svc~2 1'],
    ]);
    // One that starts can't tell a page that was removed for a while.
    expect(await settle(older)).toEqual([]);
    expect(await settle(newer)).toEqual(['acme~2 1', 'svc~3 1']);
  });

  it('is private if nodes disagree, whichever of them looks last', async () => {
    const [shut, open] = [claims([page('acme', 'config/acme', 'password')]), claims([page('acme')])];
    const [shuts, opens] = [
      new Map([[toPageKey('acme', 1), 'password']] as const),
      new Map([[toPageKey('acme', 1), 'public']] as const),
    ];
    await settle(shut);
    expect(await settle(open)).toEqual(['acme~1 2']);
    for (const [wanted, mine] of [
      [shut, shuts],
      [open, opens],
      [shut, shuts],
    ] as const)
      expect(await settle(wanted, mine)).toEqual(['acme~1 3']);
    expect(await settle(open, shuts)).toEqual(['acme~1 4']);
  });

  it('is decided once, however many nodes look at the same time', async () => {
    // Two connections of one thread wait for each other in SQLite.
    const other = kind === 'SQLite' ? database : place.open();
    const wanted = claims([page('acme'), page('inner')]);
    await Promise.all([
      settlePages(database, wanted, { mine: null, now: T0 }),
      settlePages(other, wanted, { mine: null, now: T0 }),
    ]);
    expect((await readPages(database, 'all')).map(({ key }) => key)).toEqual(['acme~1', 'inner~1']);
  });

  it('ends a page in the transaction that learns of its removal, and tells every node that looks', async () => {
    const store = createStore(database);
    const definition = { id: 'svc/7', slug: 'acme', components: [] } as unknown as PageDefinition;
    const answer = async (over: Partial<Learned>): Promise<void> => {
      now = toEpochMs(now + 1);
      const learned = { ...NOTHING_LEARNED, ...over };
      await store.commitPass({
        upstreamId: 'svc',
        observedAt: now,
        learned,
        continuity: 'broken',
        spanChanges: [],
      });
    };
    await answer({ pages: [definition] });
    expect(await settle(claims([page('acme', 'svc/7'), page('inner')]))).toEqual(['acme~1 1', 'inner~1 1']);
    // An answer that failed says nothing of pages.
    await answer({ pages: [], stale: ['pages'] });
    expect(await keyOfSlug(database, 'acme')).toBe('acme~1');
    // Away and back before anybody looked.
    await answer({ pages: [] });
    await answer({ pages: [definition] });
    const { revision } = await store.changesSince(0);
    expect(await settle(claims([page('acme', 'svc/7'), page('inner')]))).toEqual(['acme~2 1', 'inner~1 1']);
    expect(await store.changesSince(revision)).toMatchObject({ hasNewDefinitions: true });
  });
});

describe('an upgrade from before there were eras', () => {
  it('gives what there is to the page that has the slug, and hides the rest', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'pharos.db');
    const before = makeSqlite(file, 15);
    await before.transaction(async (tx) => {
      for (const slug of ['inner', 'gone', 'open']) {
        await tx.run(
          `INSERT INTO written (id, page, version, document, created_at, updated_at, actor) VALUES (?, ?, 1, '{}', 1, 1, '')`,
          [`of-${slug}`, slug],
        );
        await tx.run(`INSERT INTO api_token (id, name, hash, scopes, page, created_at) VALUES (?, '', ?, '[]', ?, 1)`, [
          slug,
          slug,
          slug,
        ]);
      }
      await tx.run(`INSERT INTO access_gate (slug, kind, secret, version) VALUES ('inner', 'password', 'x', 'v')`);
      await tx.run(`INSERT INTO release_number (slug, number) VALUES ('_site', 1), ('acme', 1)`);
    });
    await before.close();
    const { database } = openSqlite(file, T0, { onOlder: 'migrate' });
    const wanted = claims([page('inner', 'config/inner', 'password'), page('open')]);
    const { pages } = await settlePages(database, wanted, { mine: null, now: T0 });
    expect(pages.map(({ key, origin }) => [key, origin])).toEqual([
      ['inner~1', 'config/inner'],
      ['open~1', 'config/open'],
    ]);
    const known = await readPages(database, 'all');
    expect(known.filter(({ endedAt }) => endedAt !== null).map(({ key }) => key)).toEqual(['acme~1', 'gone~1']);
    // Whether it was private when they were written is not known, so whether it is now decides.
    const posts = await readWritten(database);
    expect(posts.map((post) => [post.page, post.isPrivate])).toEqual([
      ['gone~1', false],
      ['inner~1', true],
      ['open~1', false],
    ]);
    expect((await createApiTokens(database).find('gone'))?.page).toBe('gone~1');
    expect(await readGate(database, toPageKey('inner', 1))).toMatchObject({ version: 'v' });
    await database.close();
    folder.remove();
  });
});
