/** Doubt closes, in every connector that defines pages: whatever else an answer shows than a clean "public", nobody sees the page. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isStatusError } from '../../src/errors.ts';
import { MINUTE_MS } from '../../src/model/time.ts';
import { createSiteMemory } from '../../src/publish/definitions/site-memory.ts';
import type { SiteStateInputs } from '../../src/publish/definitions/site-state.ts';
import { createStore } from '../../src/store/create-store.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import type { Question } from '../../src/sync/connector.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import type { Http } from '../../src/sync/http/http.ts';
import { shapeError } from '../../src/sync/http/http-faults.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import { bindUpstream } from '../../src/sync/upstream.ts';
import type { Respond } from '../helpers/drive.ts';
import { ToyClock } from '../helpers/toy-upstream.ts';
import { monitor, page, type Row, service } from '../helpers/uptime-world.ts';

/** How a connector is given a page, `acme`, with some fields changed; `others`: further pages. */
interface Giver {
  readonly options: Row;
  readonly give: (fields: Row, others?: readonly Row[]) => Respond | null;
  readonly doubts: [string, Row, (readonly Row[])?][];
  /** Answers in which something else is wrong, and the page with these fields is private. */
  readonly broken: readonly (readonly [string, () => Respond | null])[];
}

let folder: string;
let store: Store;
let clock: ToyClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-doubt-'));
  store = createStore(openSqlite(join(folder, 'pharos.db'), 0).database);
  clock = new ToyClock();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const world = (pages: readonly Row[]) => ({ monitors: [monitor(1)], pages });
const malformed = (question: Question<unknown>) => shapeError(question.url, 'the response is not JSON');
const PRIVATE = { accessType: 'PAGE_ACCESS_TYPE_PASSWORD_PROTECTED' };
const at = (operation: string) => (question: Question<unknown>) => question.url.endsWith(`/${operation}`);
const isMonitors = at('ListMonitors');
const isPages = at('ListStatusPages');
const isOverview = at('GetStatusPageOverview');

const state = (pages: readonly Row[]): string =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.9.0',
    resources: pages.map((attributes, index) => ({
      mode: 'managed',
      type: 'svc_status_page',
      name: `page_${index}`,
      provider: 'provider["registry.terraform.io/svc/svc"]',
      instances: [{ attributes }],
    })),
  });
const resource = (fields: Row): Row => ({ id: '1', title: 'Acme', slug: 'acme', access_type: 'public', ...fields });
const write = (pages: readonly Row[]): null => {
  writeFileSync(join(folder, 'terraform.tfstate'), state(pages));
  return null;
};

const GIVERS: Readonly<Record<string, Giver>> = {
  'uptime-service': {
    options: { rpcUrl: 'https://up.test/rpc', apiKey: 'key', preset: 'openstatus' },
    give: (fields, others = []) => service(world([page(fields), ...others])),
    doubts: [
      ['a password', { password: 'x' }],
      ['an object as password', { password: { value: 'x' } }],
      ['protected without a password', { accessType: 'PAGE_ACCESS_TYPE_PASSWORD_PROTECTED', password: null }],
      ['domains without any', { accessType: 'PAGE_ACCESS_TYPE_AUTHENTICATED', authEmailDomains: [] }],
      ['domains that are a word', { authEmailDomains: 'x.test' }],
      ['domains that are objects', { authEmailDomains: [{ domain: 'x.test' }] }],
      ['addresses', { accessType: 'PAGE_ACCESS_TYPE_IP_RESTRICTED' }],
      ['an unknown word', { accessType: 'PAGE_ACCESS_TYPE_FRIENDS' }],
      ['no word', { accessType: undefined }],
      ['null', { accessType: null }],
      ['an object where a word is due', { accessType: { type: 'public' } }],
      ['an unreadable slug', { slug: 'a/b' }],
      ['a duplicate slug', {}, [page({ id: '2', slug: 'Acme' })]],
    ],
    broken: [
      [
        'monitors that are malformed',
        () => service(world([page(PRIVATE)]), (question) => (isMonitors(question) ? malformed(question) : undefined)),
      ],
      ['a monitor without a name', () => service({ monitors: [monitor(1, { name: null })], pages: [page(PRIVATE)] })],
      [
        'a malformed overview',
        () => service(world([page()]), (question) => (isOverview(question) ? malformed(question) : undefined)),
      ],
      [
        'an unreadable item in the list of pages',
        () => service(world([]), (question) => (isPages(question) ? { statusPages: [{ id: { x: 1 } }] } : undefined)),
      ],
      [
        'a list of pages that breaks off',
        () =>
          service(world([page({ id: '2', slug: 'two' })]), (question) => {
            if (!isPages(question)) return undefined;
            const { offset } = (question.body ?? {}) as { offset?: number };
            return (offset ?? 0) > 0
              ? malformed(question)
              : { statusPages: [page({ id: '2', slug: 'two' })], totalSize: 300 };
          }),
      ],
    ],
  },
  terraform: {
    options: {},
    give: (fields, others = []) => write([resource(fields), ...others]),
    doubts: [
      ['a password', { password: 'x' }],
      ['an object as password', { password: { value: 'x' } }],
      ['a null password', { access_type: 'password', password: null }],
      ['an empty password', { access_type: 'password', password: '' }],
      ['no ranges', { access_type: 'ip' }],
      ['ranges', { access_type: 'ip', allowed_ip_ranges: '10.0.0.0/8' }],
      ['no domains', { access_type: 'email-domain', auth_email_domains: [] }],
      ['domains that are a word', { auth_email_domains: 'x.test' }],
      ['an unknown word', { access_type: 'friends' }],
      ['an object where a word is due', { access_type: { type: 'public' } }],
      ['a number where a word is due', { access_type: 7 }],
      ['not published', { published: false }],
      ['published in a word', { published: 'soon' }],
      ['an unreadable slug', { slug: 'a/b' }],
      ['a duplicate slug', {}, [resource({ id: '2', slug: 'ACME' })]],
    ],
    broken: [
      [
        'a monitor that breaks the rules',
        () => {
          const text = JSON.parse(state([resource({ access_type: 'password', password: null })]));
          text.resources.push({
            ...text.resources[0],
            type: 'svc_http_monitor',
            instances: [{ attributes: { id: '9', name: 'm', retry: 11 } }],
          });
          writeFileSync(join(folder, 'terraform.tfstate'), JSON.stringify(text));
          return null;
        },
      ],
    ],
  },
};

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
  const giver = GIVERS[connector.kind];
  it('is tried with every doubt', () => expect(giver?.doubts.length).toBeGreaterThan(10));
  if (giver === undefined) return;

  async function pass(respond: Respond | null) {
    const path = join(folder, 'terraform.tfstate');
    const options = connector.optionsSchema.parse(connector.kind === 'terraform' ? { path } : giver?.options);
    const upstream = bindUpstream(connector as never, { id: 'svc', options, limits: null, intervalMs: MINUTE_MS });
    const deps = { store, http: httpOf(respond), now: clock.now, sleep: clock.sleep, random: () => 0 };
    const { upstreams } = await runPass([upstream], deps, { isManual: true });
    clock.advance(MINUTE_MS / 4);
    return upstreams[0];
  }

  beforeEach(async () => {
    expect(await pass(giver.give({}))).toMatchObject({ kind: 'ok' });
    expect(await openSlugs()).toEqual(['acme', 'ours']);
  });

  it.each(giver.doubts)('closes at once: %s', async (_name: string, fields: Row, others?: readonly Row[]) => {
    await pass(giver.give(fields, others));
    expect(await openSlugs()).toEqual([]);
    await pass(giver.give({}));
    expect(await openSlugs()).toEqual(['acme', 'ours']);
  });

  it.each(giver.broken)('closes though the answer has another fault: %s', async (_name, respond) => {
    await pass(respond());
    expect((await openSlugs()).filter((slug) => slug !== 'two')).toEqual([]);
  });

  it('stays open while nothing answers', async () => {
    if (connector.fileOption !== undefined) rmSync(join(folder, 'terraform.tfstate'));
    expect(await pass((question) => malformed(question))).toMatchObject({ kind: 'failed' });
    expect(await openSlugs()).toEqual(['acme', 'ours']);
  });
});
