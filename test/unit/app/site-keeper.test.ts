/** A page that has ended is closed on disk, also where another page has its slug by then. */

import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSiteKeeper } from '../../../src/app/site-keeper.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { type PageKey, toPageKey } from '../../../src/model/slugs.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import type { ResolvedPage } from '../../../src/publish/definitions/definitions.ts';
import type { SiteState } from '../../../src/publish/definitions/site-state.ts';
import { DISK } from '../../../src/publish/releases/disk.ts';
import { servedRelease } from '../../../src/publish/releases/folders.ts';
import { releaseDataText } from '../../../src/publish/releases/release-data.ts';
import { switchTo } from '../../../src/publish/releases/switch.ts';
import { type ReleaseInput, writeRelease } from '../../../src/publish/releases/write.ts';
import { inputOf, releaseNumbersFrom, testFolders, wholeFiles } from '../../helpers/release-inputs.ts';

const FIRST = toPageKey('acme', 1);
const SECOND = toPageKey('acme', 2);
const CONFIG = parseConfig({ text: '{"site":{"url":"https://s.test"}}', file: null, folder: '/' }, [], {});

let folders: ReturnType<typeof testFolders>;
let closed: string[];
let defined: { readonly key: PageKey; readonly access: ReleaseInput['access'] }[];
let isDecided: boolean;
let domain: string | null;
let keeper: ReturnType<typeof createSiteKeeper>;

beforeEach(() => {
  folders = testFolders();
  [closed, defined, isDecided, domain] = [[], [], true, null];
  const live = { config: () => CONFIG, siteUrl: () => 'https://s.test' };
  const access = { setPages: async () => undefined, showPublic: () => undefined, closePublic: () => false };
  keeper = createSiteKeeper({ folders, live, readSite: async () => siteState() }, access, true, (slugs) => {
    closed.push(...slugs);
  });
});
afterEach(() => rmSync(folders.root, { recursive: true }));

function siteState(): SiteState {
  const pages = defined.map(({ key, access }) => ({
    identity: { key, gate: 1 },
    definition: { slug: 'acme', title: 'Acme', access, emailDomains: [], customDomain: domain },
    settings: { locale: 'en', url: 'https://s.test/acme/' },
    password: null,
  }));
  const resolved = { pages: pages as unknown as ResolvedPage[], problems: [], withheld: [], undecided: [], closed: [] };
  return { resolved: { ...resolved, isDecided, home: null } } as unknown as SiteState;
}

async function publish(over: Partial<ReleaseInput>): Promise<void> {
  const input = inputOf(wholeFiles('one'), over);
  const manifest = await writeRelease({ disk: DISK, folders, nextNumber: releaseNumbersFrom() }, input, null);
  const { slug, number, access } = manifest;
  await switchTo({ disk: DISK, folders }, { slug, number, isPublic: access === 'public' });
}

const look = () => keeper.refresh(toEpochMs(0));

it('has a page at the root, before the store was read, if that is the only one on disk', async () => {
  await publish({ slug: '_site' });
  await publish({ slug: 'acme', page: FIRST });
  keeper.showLastPublished();
  expect(keeper.addresses().home).toBe('acme');
  await publish({ slug: 'beta', access: 'password' });
  keeper.showLastPublished();
  expect(keeper.addresses().home).toBeNull();
});

it('leads a domain to the page that has it by now, not to one that had it when it was last published', async () => {
  await publish({ slug: 'zeta', customDomain: 'status.example' });
  [defined, isDecided, domain] = [[{ key: FIRST, access: 'public' }], false, 'status.example'];
  await look();
  expect([...keeper.addresses().customDomains]).toEqual([['status.example', 'acme']]);
});

describe('a page whose slug another page has', () => {
  it.each(['public', 'password'] as const)('loses its link at once where it was %s', async (access) => {
    await publish({ slug: 'acme', access, page: FIRST });
    defined = [{ key: FIRST, access }];
    await look();
    expect(closed).toEqual([]);
    defined = [{ key: SECOND, access }];
    await look();
    expect([closed, servedRelease(folders, 'acme')]).toEqual([['acme'], null]);
    await publish({ slug: 'acme', access, page: SECOND });
    defined = [...defined];
    await look();
    expect([closed, servedRelease(folders, 'acme')?.isPublic]).toEqual([['acme'], access === 'public']);
  });

  it('is taken out of the lists of the site too, which name it', async () => {
    await publish({ slug: '_site', data: () => releaseDataText({ listed: [{ slug: 'acme', page: FIRST }] }) });
    defined = [{ key: FIRST, access: 'public' }];
    await look();
    expect(servedRelease(folders, '_site')).not.toBeNull();
    defined = [{ key: SECOND, access: 'public' }];
    await look();
    expect([closed, servedRelease(folders, '_site')]).toEqual([['_site'], null]);
  });

  it('is switched to by no run that was drawing it', async () => {
    defined = [{ key: SECOND, access: 'public' }];
    const release = { slug: 'acme', access: 'public', listed: [] } as const;
    expect(await keeper.mayServe({ ...release, page: SECOND }, toEpochMs(0))).toBe(true);
    expect(await keeper.mayServe({ ...release, page: FIRST }, toEpochMs(0))).toBe(false);
    const site = { slug: '_site', page: null, access: 'public' } as const;
    expect(keeper.mightServe({ ...site, listed: [{ slug: 'acme', page: SECOND }] })).toBe(true);
    expect(keeper.mightServe({ ...site, listed: [{ slug: 'acme', page: FIRST }] })).toBe(false);
  });

  it('stays as it was published while nobody can say yet which page has the slug', async () => {
    await publish({ slug: 'acme', page: FIRST });
    isDecided = false;
    await look();
    expect([closed, servedRelease(folders, 'acme')?.isPublic]).toEqual([[], true]);
  });
});
