/** Doubt closes, in every connector that defines pages: whatever else an answer shows than a clean "public", nobody sees the page. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isStatusError } from '../../src/errors.ts';
import { MINUTE_MS } from '../../src/model/time.ts';
import { createSiteMemory } from '../../src/publish/definitions/site-memory.ts';
import type { SiteStateInputs } from '../../src/publish/definitions/site-state.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import type { Question } from '../../src/sync/connector.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import type { Http } from '../../src/sync/http/http.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import { bindUpstream } from '../../src/sync/upstream.ts';
import { doubtGivers, type Giver, malformed } from '../helpers/doubtful-gates.ts';
import type { Respond } from '../helpers/drive.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { ToyClock } from '../helpers/toy-upstream.ts';

/** The page that is tried. */
const ACME = { title: 'Acme', slug: 'acme' };

let folder: string;
let store: Store;
let clock: ToyClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-doubt-'));
  store = createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);
  clock = new ToyClock();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function httpOf(respond: Respond | null): Http {
  return {
    request: async (question) => {
      const payload = respond?.(question as Question<unknown>, 0);
      if (isStatusError(payload)) throw payload;
      return { status: 200, payload, at: clock.now(), clockSkewMs: null, remaining: null };
    },
    close: async () => {},
  };
}

const site = (pages: readonly object[]): SiteStateInputs => ({
  site: { url: 'https://s.test', name: 'Acme', home: null, timezone: 'UTC', locale: 'en', historyDays: 90 },
  pages: pages as SiteStateInputs['pages'],
  intervalMs: new Map([['svc', MINUTE_MS]]),
  definesPages: new Set(['svc']),
});

/** Slugs that anybody may see, defined there and built on that here. */
async function openSlugs(): Promise<string[]> {
  const built = { slug: 'ours', from: 'svc/acme', title: 'Ours', show_targets: false, badges: [], css_variables: {} };
  const open = await Promise.all(
    [[], [built]].map(async (pages) => {
      const { resolved } = await createSiteMemory(store).refresh(site(pages), clock.now());
      return resolved.pages
        .filter(({ definition }) => definition.access === 'public')
        .map(({ definition }) => definition.slug);
    }),
  );
  return open.flat();
}

describe.each(CONNECTORS.filter(({ definesPages }) => definesPages === true))('a page of $kind', (connector) => {
  const pathOf = (): string => join(folder, 'terraform.tfstate');
  const doubted = doubtGivers('')[connector.kind];
  it('is tried with every doubt', () => expect(doubted?.doubts.length).toBeGreaterThan(10));
  if (doubted === undefined) return;
  const giver = (): Giver => doubtGivers(pathOf())[connector.kind] ?? doubted;

  async function pass(respond: Respond | null) {
    const options = connector.optionsSchema.parse(giver().options);
    const upstream = bindUpstream(connector as never, { id: 'svc', options, limits: null, intervalMs: MINUTE_MS });
    const deps = { store, http: httpOf(respond), now: clock.now, sleep: clock.sleep, random: () => 0 };
    const { upstreams } = await runPass([upstream], deps, { isManual: true });
    clock.advance(MINUTE_MS / 4);
    return upstreams[0];
  }

  beforeEach(async () => {
    expect(await pass(giver().give(ACME, {}))).toMatchObject({ kind: 'ok' });
    expect(await openSlugs()).toEqual(['acme', 'ours']);
  });

  const doubts = doubted.doubts.map(([name, fields, others]) => ({ name, fields, others }));
  it.each(doubts)('closes at once: $name', async ({ fields, others }) => {
    await pass(giver().give(ACME, fields, others));
    expect(await openSlugs()).toEqual([]);
    await pass(giver().give(ACME, {}));
    expect(await openSlugs()).toEqual(['acme', 'ours']);
  });

  it.each(doubted.broken.map(([name], index) => [name, index] as const))(
    'closes though the answer has another fault: %s',
    async (_name, index) => {
      await pass(giver().broken[index]?.[1](ACME) ?? null);
      expect((await openSlugs()).filter((slug) => slug !== 'two')).toEqual([]);
    },
  );

  it('stays open while nothing answers', async () => {
    if (connector.fileOption !== undefined) rmSync(pathOf());
    expect(await pass((question) => malformed(question))).toMatchObject({ kind: 'failed' });
    expect(await openSlugs()).toEqual(['acme', 'ours']);
  });
});

describe('a page of the uptime service whose answer shows it private', () => {
  const connector = CONNECTORS.find(({ kind }) => kind === 'uptime-service');
  const giver = doubtGivers('')['uptime-service'];
  if (connector === undefined || giver === undefined) throw new Error('there is no such connector');
  const options = connector.optionsSchema.parse(giver.options);
  const upstream = bindUpstream(connector as never, { id: 'svc', options, limits: null, intervalMs: MINUTE_MS });

  it.each(['GetStatusPageOverview of another page', 'ListStatusReports'])(
    'is closed before %s is answered',
    async (operation) => {
      const deps = { store, now: clock.now, sleep: clock.sleep, random: () => 0 };
      const other = { id: '2', slug: 'other' };
      const http = httpOf(giver.give(ACME, {}, [other]));
      await runPass([upstream], { ...deps, http }, { isManual: true });
      expect(await openSlugs()).toEqual(['acme', 'other', 'other', 'ours']);
      clock.advance(MINUTE_MS / 4);

      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
      const closing = httpOf(giver.give(ACME, { accessType: 'PAGE_ACCESS_TYPE_PASSWORD_PROTECTED' }, [other]));
      const slow: Http = {
        ...closing,
        request: async (question, context) => {
          const { id = '2' } = (question.body ?? {}) as { id?: string };
          if (question.url.endsWith(operation.split(' ', 1)[0] ?? '') && id === '2') {
            ask();
            await answered;
          }
          return closing.request(question, context);
        },
      };
      const pass = runPass([upstream], { ...deps, http: slow }, { isManual: true });
      await asked;
      await vi.waitFor(async () => expect(await openSlugs()).toEqual(['other', 'other']), 5_000);
      answer();
      expect((await pass).upstreams).toMatchObject([{ kind: 'ok' }]);
      expect(await openSlugs()).toEqual(['other', 'other']);
    },
  );
});
