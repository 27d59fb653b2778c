import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHECK_STATES, type CheckResult, type StoredCheck } from '../../../src/model/check-result.ts';
import { type EpochMs, toEpochMs } from '../../../src/model/time.ts';
import { check as checkValue } from '../../../src/schema/issue-words.ts';
import { checkHeldMs } from '../../../src/sync/connectors/check.ts';
import { combinePlaces } from '../../../src/sync/connectors/check-results.ts';
import { ownChecks } from '../../../src/sync/connectors/checks/connector.ts';
import { contextOf, drive, NOW } from '../../helpers/drive.ts';
import { checkOf } from '../../helpers/own-checks.ts';

const CHECK = checkOf({ url: 'https://shop.example' });
const ago = (seconds: number): EpochMs => toEpochMs(NOW - seconds * 1_000);

function resultAt(place: string, state: CheckResult['state'], fields: Partial<CheckResult> = {}): CheckResult {
  return {
    ...{
      place,
      state,
      at: ago(10),
      since: ago(600),
      foundAt: ago(600),
      fault: null,
      totalMs: 40,
      certificateEndsAt: null,
    },
    ...{ recent: [], usualMs: [], ...fields },
  };
}

describe('the places', () => {
  const combine = (...results: CheckResult[]) => combinePlaces(CHECK, results, NOW);

  it('make a monitor down where more than half say so, from when that was', () => {
    expect(
      combine(
        resultAt('ams', 'major_outage', { since: ago(300) }),
        resultAt('fra', 'major_outage', { since: ago(90) }),
        resultAt('iad', 'operational'),
      ),
    ).toEqual({ state: 'major_outage', since: ago(90), foundAt: ago(600) });
    expect(combine(resultAt('ams', 'major_outage', { since: ago(60) }))).toEqual({
      state: 'major_outage',
      since: ago(60),
      foundAt: ago(600),
    });
  });

  it('make it degraded where some say so, or more than half find it slow', () => {
    expect(combine(resultAt('ams', 'major_outage', { since: ago(60) }), resultAt('fra', 'operational'))).toEqual({
      state: 'degraded',
      since: ago(60),
      foundAt: ago(600),
    });
    expect(combine(resultAt('ams', 'degraded'), resultAt('fra', 'operational')).state).toBe('operational');
    expect(
      combine(resultAt('ams', 'degraded'), resultAt('fra', 'degraded'), resultAt('iad', 'operational')).state,
    ).toBe('degraded');
  });

  it('make it degraded after an outage from when no more than half of them said so', () => {
    expect(
      combine(
        resultAt('ams', 'operational', { since: ago(20), foundAt: ago(19) }),
        resultAt('fra', 'major_outage', { since: ago(200) }),
        resultAt('iad', 'operational'),
      ),
    ).toEqual({ state: 'degraded', since: ago(20), foundAt: ago(19) });
  });

  it('count for nothing when they have not answered lately, or had no network', () => {
    const old = { at: toEpochMs(NOW - checkHeldMs(CHECK) - 1) };
    expect(combine(resultAt('ams', 'major_outage', old), resultAt('fra', 'operational')).state).toBe('operational');
    expect(combine(resultAt('ams', 'unknown'), resultAt('fra', 'operational')).state).toBe('operational');
    expect(combine(resultAt('ams', 'operational', old))).toEqual({
      state: 'unknown',
      since: toEpochMs(old.at + 30_000),
    });
    expect(combine(resultAt('ams', 'unknown', { since: ago(45) }))).toEqual({ state: 'unknown', since: ago(45) });
    expect(combine()).toEqual({ state: 'unknown', since: null });
  });

  it('are those that the check names', () => {
    const check = checkOf({ url: 'https://shop.example', regions: ['fra'] });
    const results = [resultAt('ams', 'major_outage'), resultAt('fra', 'operational')];
    expect(combinePlaces(check, results, NOW).state).toBe('operational');
  });

  it('are never better together than most of them, nor worse than the worst', () => {
    const places = fc.array(
      fc.record({ state: fc.constantFrom(...CHECK_STATES), ageMs: fc.integer({ min: 0, max: 300_000 }) }),
      { maxLength: 9 },
    );
    fc.assert(
      fc.property(places, (drawn) => {
        const results = drawn.map(({ state, ageMs }, index) =>
          resultAt(`p${index}`, state, { at: toEpochMs(NOW - ageMs), since: toEpochMs(NOW - ageMs - index * 1_000) }),
        );
        const lately = results.filter(({ at, state }) => state !== 'unknown' && NOW - at <= checkHeldMs(CHECK));
        const share = (state: string): number => lately.filter((one) => one.state === state).length;
        const { state, since, foundAt } = combinePlaces(CHECK, results, NOW);
        const down = share('major_outage');
        expect(state === 'unknown').toBe(lately.length === 0);
        expect(state === 'major_outage').toBe(down * 2 > lately.length);
        if (down > 0) expect(['major_outage', 'degraded']).toContain(state);
        if (state === 'operational') expect(share('degraded') * 2).toBeLessThanOrEqual(lately.length);
        if (state === 'degraded') expect(down + share('degraded')).toBeGreaterThan(0);
        if (lately.length > 0) expect(lately.map((one) => one.since)).toContain(since);
        // The order in which they are read makes no difference.
        expect(combinePlaces(CHECK, results.toReversed(), NOW)).toEqual({ state, since, foundAt });
      }),
    );
  });
});

describe('a pass', () => {
  const options = (...checks: object[]) => ownChecks.optionsSchema.parse({ checks });
  const website = { name: 'Website', type: 'http', url: 'https://shop.example', periodicity: '30s' };
  const knows =
    (...results: StoredCheck[]) =>
    () => ({ results, places: ['fra'] });
  const stored = (name: string, fields: Partial<CheckResult>): StoredCheck => ({
    ...resultAt('fra', 'operational', fields),
    ...{ upstream: 'up', name },
  });

  it('asks the database alone', async () => {
    const { questions } = await drive(ownChecks.pull(options(website), contextOf()), () => ({
      results: [],
      places: [],
    }));
    expect(questions.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET store:checks/up']);
  });

  it('learns states, since when, and the last answer at each place', async () => {
    const end = toEpochMs(NOW + 1e9);
    const { result } = await drive(
      ownChecks.pull(options(website, { ...website, name: 'Other' }), contextOf()),
      knows(
        stored('website', { state: 'major_outage', since: ago(20), totalMs: null, certificateEndsAt: end }),
        { ...stored('website', { recent: [{ at: ago(30), ms: 41 }] }), place: 'ams' },
        // Its certificate was replaced since.
        { ...stored('website', { at: ago(90_000), certificateEndsAt: ago(1_000) }), place: 'closed-down' },
        stored('gone', {}),
      ),
    );
    expect(result.monitors.map(({ id, state }) => [id, state])).toEqual([
      ['up/other', 'unknown'],
      ['up/website', 'degraded'],
    ]);
    expect(result.changedAt).toEqual({ 'up/website': ago(20) });
    expect(result.details).toHaveLength(1);
    expect(result.details[0]?.uptime?.periodDays).toBeNull();
    expect(result.details[0]).toMatchObject({
      responseTimes: [{ at: ago(30), ms: 41 }],
      uptime: {
        certificateEndsAt: end,
        places: [
          { place: 'ams', state: 'operational', responseTimeMs: 40, at: ago(10) },
          { place: 'fra', state: 'major_outage', responseTimeMs: null, at: ago(10) },
        ],
      },
    });
  });

  it('names places that no node has', async () => {
    const far = options(
      { ...website, regions: ['fra', 'syd'] },
      { ...website, name: 'Old', active: false, regions: ['iad'] },
    );
    const { result } = await drive(ownChecks.pull(far, contextOf()), knows());
    expect(result.problems).toEqual([
      {
        kind: 'note',
        place: 'regions syd',
        message: 'no running node has this place. Set checks.place on a node there',
      },
    ]);
  });

  it('shows checks that are not active as paused', async () => {
    const { result } = await drive(
      ownChecks.pull(options({ ...website, active: false }), contextOf()),
      knows(stored('website', { state: 'major_outage' })),
    );
    expect(result.monitors[0]?.state).toBe('paused');
  });

  it('writes details without news every five minutes only, and has news shown at once', async () => {
    const memory = (secondsAgo: number) => ({ detailFetchedAt: new Map([['website', ago(secondsAgo)]]) });
    const pass = async (secondsAgo: number, foundAt: EpochMs) => {
      const { result } = await drive(
        ownChecks.pull(options(website), contextOf(memory(secondsAgo))),
        knows(stored('website', { foundAt })),
      );
      return [result.details.length, result.shownAtOnce?.length];
    };
    expect(await pass(60, ago(600))).toEqual([0, 0]);
    expect(await pass(301, ago(600))).toEqual([1, 0]);
    expect(await pass(60, ago(30))).toEqual([1, 1]);
    // It was stored while the last ones were written.
    expect(await pass(60, ago(63))).toEqual([1, 1]);
  });
});

describe('a configuration', () => {
  const faultsOf = (check: object): string[] => {
    const good = { name: 'A', type: 'http', url: 'https://a.example', periodicity: '1m' };
    const checked = checkValue(ownChecks.optionsSchema, { checks: [{ ...good, ...check }] });
    return checked.success ? [] : checked.faults.map(({ path, message }) => `${path}: ${message}`);
  };

  it('is told by path what is wrong with each field', () => {
    const wrong: readonly object[] = [
      { type: 'icmp' },
      { url: 'ftp://a.example' },
      { url: 'https://user:pw@a.example' },
      { periodicity: '2m' },
      { method: 'FETCH' },
      { timeout: 120_001 },
      { retry: 11 },
      { headers: [{ key: 'a b', value: 'x' }] },
      { headers: [{ key: 'Content-Length', value: '5' }] },
      { headers: [{ key: 'x', value: 'two\nlines' }] },
      { headers: Array.from({ length: 21 }, () => ({ key: 'x', value: 'y' })) },
      { status_code_assertions: [{ comparator: 'eq', target: 99 }] },
      { status_code_assertions: [{ comparator: 'contains', target: 200 }] },
      { body_assertions: Array.from({ length: 11 }, () => ({ comparator: 'eq', target: 'x' })) },
      { header_assertions: [{ comparator: 'eq', target: 'x' }] },
      { regions: ['a place'] },
      { ip_version: 5 },
      { auth: { user: 'ann' } },
      { name: '日本' },
      { follow_redirect: true },
      { name: '' },
      { name: 'x'.repeat(257) },
      { url: `https://a.example/${'x'.repeat(2_048)}` },
      { id: 'a b' },
      { description: 'x'.repeat(1_025) },
      { timeout: -1 },
      { timeout: 'soon' },
      { degraded_at: -5 },
      { retry: 1.5 },
      { active: 'perhaps' },
      { public: 'perhaps' },
      { follow_redirects: 'perhaps' },
      { certificate_days: 366 },
      { body: { a: 1 } },
      { regions: 'fra' },
      { auth: 'ann' },
      { headers: { x: 'y' } },
      { status_code_assertions: [{ comparator: 'eq', target: 600 }] },
      { status_code_assertions: [{ comparator: 'eq' }] },
      { status_code_assertions: Array.from({ length: 11 }, () => ({ comparator: 'eq', target: 200 })) },
      { body_assertions: [{ comparator: 'matches', target: 'x' }] },
      { header_assertions: [{ key: 'a b', comparator: 'eq', target: 'x' }] },
      { header_assertions: Array.from({ length: 11 }, () => ({ key: 'x', comparator: 'empty' })) },
      { record_assertions: [] },
    ];
    expect(wrong.flatMap(faultsOf)).toMatchInlineSnapshot(`
      [
        "checks.0.type: expected one of http, tcp, dns",
        "checks.0.url: expected an http(s) address",
        "checks.0.url: expected an address without user name; put it into auth",
        "checks.0.periodicity: expected one of 30s, 1m, 5m, 10m, 30m, 1h. Did you mean 1m?",
        "checks.0.method: expected one of GET, POST, HEAD, PUT, PATCH, DELETE, OPTIONS",
        "checks.0.timeout: expected at most 120000",
        "checks.0.retry: expected at most 10",
        "checks.0.headers.0.key: expected a header name",
        "checks.0.headers.0.key: this header is set by the connection itself; leave it out",
        "checks.0.headers.0.value: expected a header value: visible characters, no line breaks",
        "checks.0.headers: expected at most 20 entries",
        "checks.0.status_code_assertions.0.target: expected at least 100",
        "checks.0.status_code_assertions.0.comparator: expected one of eq, neq, gt, gte, lt, lte",
        "checks.0.body_assertions: expected at most 10 entries",
        "checks.0.header_assertions.0.key: missing; expected a string",
        "checks.0.regions.0: expected the name of a place: at most 64 letters, digits, - and _",
        "checks.0.ip_version: expected 4 or 6",
        "checks.0.auth: expected { user, password } for basic or { token } for bearer authentication",
        "checks.0.id: missing; the name has no letters to make an id from",
        "checks.0: unknown key follow_redirect. Did you mean follow_redirects?",
        "checks.0.name: expected at least 1 character",
        "checks.0.name: expected at most 256 characters",
        "checks.0.url: expected at most 2048 characters",
        "checks.0.id: expected at most 200 letters, digits, dots, - and _",
        "checks.0.description: expected at most 1024 characters",
        "checks.0.timeout: expected at least 0",
        "checks.0.timeout: expected a number",
        "checks.0.degraded_at: expected at least 0",
        "checks.0.retry: expected a whole number",
        "checks.0.active: expected true or false",
        "checks.0.public: expected true or false",
        "checks.0.follow_redirects: expected true or false",
        "checks.0.certificate_days: expected at most 365",
        "checks.0.body: expected a string",
        "checks.0.regions: expected a list",
        "checks.0.auth: expected { user, password } for basic or { token } for bearer authentication",
        "checks.0.headers: expected a list",
        "checks.0.status_code_assertions.0.target: expected at most 599",
        "checks.0.status_code_assertions.0.target: missing; expected a number",
        "checks.0.status_code_assertions: expected at most 10 entries",
        "checks.0.body_assertions.0.comparator: expected one of contains, not_contains, eq, neq, empty, not_empty, gt, gte, lt, lte",
        "checks.0.header_assertions.0.key: expected a header name",
        "checks.0.header_assertions: expected at most 10 entries",
        "checks.0: unknown key record_assertions. Did you mean body_assertions?",
      ]
    `);
    expect(faultsOf({ type: 'tcp', url: undefined, uri: 'db.example' })).toMatchInlineSnapshot(`
      [
        "checks.0.uri: expected host:port, such as db.example.com:5432 or [2001:db8::1]:5432",
        "checks.0: unknown key url. Did you mean uri?",
      ]
    `);
    const record = { record: 'A', comparator: 'eq', target: '192.0.2.1' };
    const dns = (record_assertions: object[]): string[] =>
      faultsOf({ type: 'dns', url: undefined, uri: 'a.example', record_assertions }).filter(
        (one) => !one.includes('url'),
      );
    expect([
      ...dns([{ ...record, record: 'NS' }]),
      ...dns([{ ...record, comparator: 'gt' }]),
      ...dns([{ ...record, target: undefined }]),
      ...dns(Array.from({ length: 11 }, () => record)),
    ]).toMatchInlineSnapshot(`
      [
        "checks.0.record_assertions.0.record: expected one of A, AAAA, CNAME, MX, TXT",
        "checks.0.record_assertions.0.comparator: expected one of eq, neq, contains, not_contains",
        "checks.0.record_assertions.0.target: missing; expected a string",
        "checks.0.record_assertions: expected at most 10 entries",
      ]
    `);
    expect(faultsOf({ type: 'dns', url: undefined, uri: 'https://a.example' })).toMatchInlineSnapshot(`
      [
        "checks.0.uri: expected a domain name, such as example.com",
        "checks.0: unknown key url. Did you mean uri?",
      ]
    `);
  });

  it('prints no header value, password or token', () => {
    const secrets = {
      headers: [{ key: 'X-Key', value: 'hunter2' }],
      auth: { user: 'ann', password: 'hunter3' },
    };
    for (const check of [
      checkOf({ url: 'https://a.example', ...secrets }),
      checkOf({ url: 'https://a.example', auth: { token: 'hunter4' } }),
    ])
      expect(`${JSON.stringify(check)} ${inspect(check, { depth: 9 })}`).not.toMatch(/hunter/);
  });

  it('has the documented defaults', () => {
    expect(checkOf({ url: 'https://a.example' })).toMatchObject({
      ...{ timeout: 45_000, retry: 3, follow_redirects: true, method: 'GET', active: true, certificate_days: 14 },
    });
    expect(checkOf({ url: 'https://a.example', timeout: 0 }).timeout).toBe(45_000);
  });

  it('has each id once', () => {
    const one = { name: 'A', type: 'http', url: 'https://a.example', periodicity: '1m' };
    const checked = checkValue(ownChecks.optionsSchema, { checks: [one, one] });
    expect(checked.success ? [] : checked.faults).toEqual([
      { path: 'checks.1.id', message: 'the id a is used twice; give one of the checks another id' },
    ]);
  });
});
