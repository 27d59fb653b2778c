import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GateRequest, GateResponse } from '../../src/access/access.ts';
import { MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { PAGES, PASSWORD, type Site, type SiteFolder, siteFolder, Visitor } from './access-fixture.ts';

/** Fewer comparisons would prove nothing. */
const SCALE = Math.max(1, Number(process.env['PHAROS_TEST_SCALE'] ?? 1));

/** Slugs of one length: what is asked for is the only thing an answer may repeat. */
const GATED = 'vault';
const EMAIL = 'team-';
const UNKNOWN = 'nopag';
const SITE = PAGES.map((page) => (page.slug === 'team' ? { ...page, slug: EMAIL } : page));

describe('a page that is not there and one that is not for the visitor', () => {
  let folder: SiteFolder;
  let site: Site;

  beforeAll(async () => {
    folder = siteFolder();
    site = await folder.open();
    await site.access.setPages(SITE);
  });
  afterAll(async () => {
    await site.close();
    folder.remove();
  });

  const REQUESTS: readonly (Pick<GateRequest, 'method' | 'path'> & {
    readonly form?: Readonly<Record<string, string>>;
    readonly query?: string;
    readonly over?: Partial<GateRequest>;
  })[] = [
    { method: 'GET', path: 'login/' },
    { method: 'HEAD', path: 'login/' },
    { method: 'GET', path: 'login' },
    { method: 'GET', path: 'login/', query: 'to=history/' },
    { method: 'GET', path: 'login/sent/' },
    { method: 'GET', path: 'login/link/', query: `token=${'A'.repeat(43)}` },
    { method: 'GET', path: 'login/code/' },
    { method: 'GET', path: 'login/nothing/' },
    { method: 'GET', path: 'login/__proto__/' },
    { method: 'GET', path: 'logout' },
    { method: 'POST', path: 'login/', form: { password: 'wrong' } },
    { method: 'POST', path: 'login/', form: { password: 'wrong', to: 'history/' } },
    { method: 'POST', path: 'login/', form: { email: 'a@corp.example' } },
    { method: 'POST', path: 'login/', form: { email: 'a@evil.test' } },
    { method: 'POST', path: 'login/', form: { email: '' } },
    { method: 'POST', path: 'login/', form: {} },
    { method: 'POST', path: 'login/', form: { password: 'x' }, over: { origin: 'https://evil.test' } },
    { method: 'POST', path: 'login/code/', form: { code: '12345678' } },
    { method: 'POST', path: 'login/link/', form: { token: 'A'.repeat(43) } },
    { method: 'POST', path: 'login/sent/', form: {} },
    { method: 'POST', path: 'logout', form: {} },
  ];

  it.each(REQUESTS)('answer alike to $method $path $form $query', async ({ method, path, form, query, over }) => {
    const answers = [];
    for (const slug of [GATED, EMAIL, UNKNOWN]) {
      site.now = toEpochMs(site.now + 16 * MINUTE_MS);
      const visitor = new Visitor(site, { clientAddress: '198.51.100.1' });
      visitor.cookies.set('pharos', 'A'.repeat(43));
      const rest = { method, query: new URLSearchParams(query), form: new URLSearchParams(form), ...over };
      answers.push(anonymous(await visitor.get(slug, path, rest), slug));
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('answer alike wherever else they are asked for, with the form to sign in', async () => {
    for (const path of ['', 'history/', 'feed.atom', 'api/v2/summary.json', 'badges/status.svg', 'x<y', '../..//']) {
      const [gated, unknown] = [
        await site.access.denied({ base: `/${GATED}/`, path }),
        await site.access.denied({ base: `/${UNKNOWN}/`, path }),
      ];
      expect(gated).not.toBeNull();
      expect(anonymous(gated as GateResponse, GATED)).toEqual(anonymous(unknown as GateResponse, UNKNOWN));
      expect(gated?.status).toBe(404);
    }
  });

  it('answer with headers that no cache keeps and no text that tells', async () => {
    const answers = [await site.access.denied({ base: `/${GATED}/`, path: '' })];
    for (const { method, path, form } of REQUESTS) {
      const rest = { method, form: new URLSearchParams(form) };
      answers.push(await new Visitor(site).get(GATED, path, rest));
    }
    for (const answer of answers) {
      const names = Object.keys(answer?.headers ?? {});
      expect(answer?.headers['cache-control']).toBe('private, no-store');
      expect(answer?.headers['vary']).toBe('Cookie');
      expect(names.some((name) => /etag|last-modified|expires/i.test(name))).toBe(false);
      expect(JSON.stringify(answer)).not.toMatch(/CANARY|corp\.example/);
    }
  });

  it('are limited alike', async () => {
    const statuses = async (slug: string, client: string) => {
      const visitor = new Visitor(site, { clientAddress: client });
      const found = [];
      for (let guess = 0; guess < 12; guess += 1)
        found.push((await visitor.post(slug, 'login/', { email: `x${guess}@corp.example` })).status);
      return found;
    };
    expect(await statuses(GATED, '198.51.100.1')).toEqual(await statuses(UNKNOWN, '198.51.100.2'));
  });

  it('take the same time to refuse a password, an address and a look', async () => {
    const password = (slug: string) => (client: number) => post(slug, { password: 'wrong' }, client);
    const email = (slug: string, domain: string) => (client: number) =>
      post(slug, { email: `p${client}@${domain}` }, client);
    const post = (slug: string, form: Record<string, string>, client: number) => {
      // A moment and a client of its own each time, so that no limit is reached.
      site.now = toEpochMs(site.now + MINUTE_MS);
      return new Visitor(site, { clientAddress: `198.51.${client >> 8}.${client & 255}` }).post(slug, 'login/', form);
    };
    const look = (slug: string) => () => site.access.denied({ base: `/${slug}/`, path: 'history/' });
    const hashing = await compared(password(GATED), password(UNKNOWN), 8 * SCALE);
    // A hash takes about 100 ms here and swings with the load of the machine; without the decoy it would be missing.
    expect(hashing.share).toBeLessThan(0.5);
    const mailing = await compared(email(EMAIL, 'corp.example'), email(EMAIL, 'evil.test'), 80 * SCALE);
    expect(mailing.differenceMs).toBeLessThan(5);
    const asking = await compared(email(EMAIL, 'corp.example'), email(UNKNOWN, 'corp.example'), 80 * SCALE);
    expect(asking.differenceMs).toBeLessThan(5);
    const looking = await compared(look(GATED), look(UNKNOWN), 500 * SCALE);
    expect(looking.differenceMs).toBeLessThan(5);
  });

  it('take right passwords where they belong only', async () => {
    for (const slug of [EMAIL, UNKNOWN, 'open', '__proto__', ''])
      expect((await new Visitor(site).post(slug, 'login/', { password: PASSWORD })).status, slug).toBe(403);
    expect((await new Visitor(site).post(GATED, 'login/', { password: PASSWORD })).status).toBe(303);
  });
});

/** An answer without what the visitor wrote into the address, and without chance. */
function anonymous({ status, headers, body }: GateResponse, slug: string) {
  const hide = (text: string): string => text.replaceAll(slug, 'SLUG').replace(/=[\w-]{43};/, '=CHANCE;');
  return { status, headers: hide(JSON.stringify(headers)), body: hide(body), length: body.length };
}

/** Medians of two kinds of work, taken in turns so that a busy machine is busy for both. */
async function compared(
  one: (index: number) => Promise<unknown>,
  other: (index: number) => Promise<unknown>,
  rounds: number,
): Promise<{ readonly differenceMs: number; readonly share: number }> {
  const took: readonly number[][] = [[], []];
  for (let index = 0; index < 2 * rounds; index += 1) {
    const which = (index ^ (index >> 1)) & 1;
    const from = performance.now();
    await (which === 0 ? one : other)(index);
    took[which]?.push(performance.now() - from);
  }
  const [a, b] = took.map(median) as [number, number];
  return { differenceMs: Math.abs(a - b), share: Math.abs(a - b) / Math.max(a, b) };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
