import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { statusAssertions } from '../../../src/imports/checks.ts';
import { importFiles } from '../../../src/imports/files.ts';
import { gatusConfig } from '../../../src/imports/gatus/config.ts';
import { gatusSite } from '../../../src/imports/gatus/site.ts';
import type { ImportContext, ImportedSite } from '../../../src/imports/site.ts';
import { upptimeSite } from '../../../src/imports/upptime/site.ts';
import { kumaSite } from '../../../src/imports/uptime-kuma/site.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { check } from '../../../src/schema/issue-words.ts';
import { ownChecks } from '../../../src/sync/connectors/checks/connector.ts';

const now = toEpochMs(Date.UTC(2026, 10, 23));
const context: ImportContext = { page: 'acme', zone: 'UTC', now, makesChecks: true };

/** The checks of an import, with what is told of them and the monitors of its components. */
function read(site: ImportedSite) {
  const { config, notes } = importFiles(site, { ...context, upstreamId: 'posts', folder: './posts' });
  const { upstreams, pages } = config as {
    upstreams: { kind: string; checks?: Readonly<Record<string, unknown>>[] }[];
    pages: { components: { name: string; monitor?: string; type?: string }[] }[];
  };
  const { checks = [] } = upstreams.find(({ kind }) => kind === 'checks') ?? {};
  // The configuration takes them, once variables have their values.
  const filled = JSON.parse(JSON.stringify(checks).replaceAll(/\$\{\w+\}/g, 'https://secret.example')) as unknown;
  if (checks.length > 0) expect(check(ownChecks.optionsSchema, { checks: filled })).toMatchObject({ success: true });
  return {
    kinds: upstreams.map(({ kind }) => kind),
    checks: Object.fromEntries(checks.map(({ name, ...fields }) => [name, fields])),
    components: pages[0]?.components.map(({ name, monitor, type }) => [name, monitor ?? type]),
    notes: notes.map(({ kind, place, message }) => `${kind} ${place}: ${message}`),
  };
}

describe('Upptime’s sites as checks', () => {
  const sites = (list: readonly object[], more: object = {}) =>
    read(
      upptimeSite(
        [{ path: '.upptimerc.yml', text: stringify({ owner: 'a', repo: 'b', sites: list, ...more }) }],
        { issues: [], notes: [] },
        context,
      ),
    );

  it('say what they said, and name what they can’t', () => {
    const { checks, components, notes, kinds } = sites([
      { name: 'Website', url: 'https://example.com', icon: 'x' },
      {
        ...{ name: 'API', url: 'https://api.example.com', method: 'post', body: '{"key":"$API_KEY"}', maxRedirects: 0 },
        headers: ['Authorization: Bearer $TOKEN', 'X-Api-Key: hunter2', 'Accept: text/html'],
        ...{ expectedStatusCodes: [200, 201, 204], maxResponseTime: 800, __dangerous__insecure: true },
        ...{ __dangerous__body_down: 'error', __dangerous__body_down_if_text_missing: 'ok' },
        __dangerous__body_degraded: 'slow',
      },
      { name: 'Secret', url: '$SECRET_SITE' },
      { name: 'Database', check: 'tcp-ping', url: 'db.example.com', port: 5432, ipv6: true },
      { name: 'Socket', check: 'ws', url: 'wss://example.com' },
      { name: 'Odd', url: 'https://example.com', expectedStatusCodes: [200, 404] },
      { name: 'File', url: 'https://example.com', body: '${file:/etc/passwd}' },
    ]);
    expect(kinds).toEqual(['checks', 'markdown']);
    expect(checks).toEqual({
      Website: { id: 'website', periodicity: '5m', type: 'http', url: 'https://example.com' },
      API: {
        ...{ id: 'api', periodicity: '5m', type: 'http', url: 'https://api.example.com', method: 'POST' },
        ...{ degraded_at: 800, follow_redirects: false, body: '{"key":"${API_KEY}"}' },
        headers: [
          { key: 'Authorization', value: 'Bearer ${TOKEN}' },
          { key: 'X-Api-Key', value: '${CHECK_API_X_API_KEY}' },
          { key: 'Accept', value: 'text/html' },
        ],
        status_code_assertions: [
          { comparator: 'gte', target: 200 },
          { comparator: 'lte', target: 204 },
          { comparator: 'neq', target: 202 },
          { comparator: 'neq', target: 203 },
        ],
        body_assertions: [
          { comparator: 'not_contains', target: 'error' },
          { comparator: 'contains', target: 'ok' },
        ],
      },
      Secret: { id: 'secret', periodicity: '5m', type: 'http', url: '${SECRET_SITE}' },
      Database: { id: 'database', periodicity: '5m', type: 'tcp', uri: 'db.example.com:5432', ip_version: 6 },
      Odd: { id: 'odd', periodicity: '5m', type: 'http', url: 'https://example.com' },
    });
    expect(components).toEqual([
      ['Website', 'checks/website'],
      ['API', 'checks/api'],
      ['Secret', 'checks/secret'],
      ['Database', 'checks/database'],
      ['Socket', 'static'],
      ['Odd', 'checks/odd'],
      ['File', 'static'],
    ]);
    for (const note of [
      'dropped site "API": a check can’t say __dangerous__insecure, __dangerous__body_degraded',
      'changed site "API": secrets aren’t copied; set CHECK_API_X_API_KEY in the environment',
      'dropped site "Socket": it has no check: Pharos has no check ws',
      'dropped site "Odd": a check can’t say expectedStatusCodes',
      'dropped site "File": it has no check: it contains ${, which pharos.yaml would replace',
    ])
      expect(notes).toContain(note);
    expect(notes.join()).not.toContain('how sites are checked');
  });

  it('are made as often as the workflow runs', () => {
    const every = (uptime: string) =>
      sites([{ name: 'A', url: 'https://a.example' }], { workflowSchedule: { uptime } });
    expect(every('*/10 * * * *').checks['A']).toMatchObject({ periodicity: '10m' });
    const quarter = every('*/15 * * * *');
    expect(quarter.checks['A']).toMatchObject({ periodicity: '10m' });
    expect(quarter.notes).toContain('changed site "A": it was checked every 15m, and is every 10m');
  });
});

describe('Uptime Kuma’s monitors as checks', () => {
  const monitors = (rows: readonly object[]) =>
    read(
      kumaSite(
        {
          ...{
            slug: 'main',
            title: 'Harbour',
            description: null,
            url: null,
            incidents: [],
            maintenances: [],
            notes: [],
          },
          groups: [
            {
              ...{ id: '1', name: 'All' },
              monitors: rows.map((row, index) => ({
                id: String(index),
                name: String((row as { name?: string }).name),
                row: {
                  interval: 60,
                  maxretries: 0,
                  accepted_statuscodes_json: '["200-299"]',
                  maxredirects: 10,
                  ...row,
                },
              })),
            },
          ],
        },
        context,
      ),
    );

  it('say what they said, and name what they can’t', () => {
    const { checks, components, notes } = monitors([
      { name: 'Website', type: 'http', url: 'https://example.com', active: 1, method: 'GET', timeout: 48 },
      {
        ...{ name: 'API', type: 'keyword', url: 'https://api.example.com', keyword: 'fine', invert_keyword: 1 },
        ...{ method: 'POST', body: '{}', headers: '{"X-Token":"hunter2"}', ignore_tls: 1, proxy_id: 3, maxretries: 12 },
        ...{ auth_method: 'basic', basic_auth_user: 'ann', basic_auth_pass: 'hunter2', maxredirects: 0, active: 0 },
        accepted_statuscodes_json: '["200-201","404"]',
      },
      { name: 'Database', type: 'port', hostname: 'db.example.com', port: 5432, interval: 20 },
      { name: 'Names', type: 'dns', hostname: 'example.com', dns_resolve_type: 'MX', dns_resolve_server: '1.1.1.1' },
      { name: 'Push', type: 'push' },
      { name: 'Upside', type: 'http', url: 'https://x.example', upside_down: 1 },
      { name: 'Lure', type: 'http', url: 'https://x.example/${PHAROS_TOKEN}' },
      {
        name: 'Codes',
        type: 'http',
        url: 'https://x.example',
        accepted_statuscodes_json: '["204"]',
        conditions: '[1]',
      },
    ]);
    expect(checks).toEqual({
      Website: {
        ...{ id: 'website', periodicity: '1m', type: 'http', url: 'https://example.com', method: 'GET' },
        ...{ timeout: 48_000, retry: 0 },
      },
      API: {
        ...{ id: 'api', periodicity: '1m', type: 'http', url: 'https://api.example.com', method: 'POST', body: '{}' },
        ...{ retry: 10, active: false, follow_redirects: false },
        headers: [{ key: 'X-Token', value: '${CHECK_API_X_TOKEN}' }],
        auth: { user: 'ann', password: '${CHECK_API_PASSWORD}' },
        body_assertions: [{ comparator: 'not_contains', target: 'fine' }],
      },
      Database: { id: 'database', periodicity: '30s', type: 'tcp', uri: 'db.example.com:5432', retry: 0 },
      Names: {
        ...{ id: 'names', periodicity: '1m', type: 'dns', uri: 'example.com', retry: 0 },
        record_assertions: [{ record: 'MX', comparator: 'contains', target: '' }],
      },
      Codes: {
        ...{ id: 'codes', periodicity: '1m', type: 'http', url: 'https://x.example', retry: 0 },
        status_code_assertions: [{ comparator: 'eq', target: 204 }],
      },
    });
    expect(components?.map(([, monitor]) => monitor)).toEqual([
      ...['checks/website', 'checks/api', 'checks/database', 'checks/names', 'static', 'static', 'static'],
      'checks/codes',
    ]);
    for (const note of [
      'dropped monitor "API": a check can’t say ignore_tls (set `ca` of the upstream), proxy_id (proxies are those of the environment), accepted_statuscodes',
      'changed monitor "Database": it was checked every 20s, and is every 30s',
      'dropped monitor "Names": a check can’t say dns_resolve_server (set checks.resolver)',
      'dropped monitor "Push": it has no check: Pharos has no check of the type push',
      'dropped monitor "Upside": it has no check: it is upside down: for it, a failure is good',
      'dropped monitor "Lure": it has no check: it contains ${, which pharos.yaml would replace',
      'dropped monitor "Codes": a check can’t say conditions',
    ])
      expect(notes).toContain(note);
    expect(JSON.stringify(checks)).not.toContain('hunter2');
  });

  it('are not made up where the source says nothing of them', () => {
    const { components, notes, kinds } = monitors([{ name: 'Bare', interval: undefined, type: undefined }]);
    expect([components, kinds]).toEqual([[['Bare', 'static']], ['markdown']]);
    expect(notes.join('\n')).toContain('dropped monitor "Bare": it has no check: type: missing');
  });
});

describe('Gatus’ endpoints as checks', () => {
  const endpoints = (list: readonly object[]) =>
    read(
      gatusSite([gatusConfig('config.yaml', { endpoints: list, 'external-endpoints': [{ name: 'Job' }] })], context),
    );

  it('say what their conditions do, and name those that they can’t', () => {
    const { checks, components, notes, kinds } = endpoints([
      { name: 'Website', url: 'https://example.com', conditions: ['[STATUS] == 200', '[RESPONSE_TIME] < 500'] },
      {
        ...{
          name: 'API',
          group: 'core',
          url: '${API_URL}',
          interval: '5m',
          method: 'POST',
          body: 'ping',
          graphql: true,
        },
        headers: { Authorization: '${API_KEY}', 'X-Secret': 'hunter2' },
        client: { timeout: '5s', insecure: true, 'ignore-redirect': true },
        conditions: [
          '[STATUS] == any(200, 429)',
          '[STATUS] < 300',
          '[BODY] == pat(*well*)',
          '[BODY] != down',
          '[BODY].status == UP',
          'len([BODY].data) > 0',
          '[CERTIFICATE_EXPIRATION] > 240h',
          '[CONNECTED] == true',
        ],
      },
      { name: 'Any', url: 'https://any.example', conditions: ['[CONNECTED] == true'] },
      { name: 'Lost', url: 'https://lost.example', conditions: ['[BODY].status == UP'] },
      { name: 'Port', url: 'tcp://db.example:5432', conditions: ['[CONNECTED] == true', '[BODY] == x'] },
      {
        ...{ name: 'Names', url: '8.8.8.8', dns: { 'query-name': 'example.com', 'query-type': 'A' } },
        conditions: ['[BODY] == 192.0.2.1', '[DNS_RCODE] == NOERROR'],
      },
      { name: 'Ping', url: 'icmp://example.com', conditions: ['[CONNECTED] == true'] },
    ]);
    expect(kinds).toEqual(['checks', 'markdown']);
    const shared = { periodicity: '1m', timeout: 10_000 };
    expect(checks).toEqual({
      Website: {
        ...{ ...shared, id: 'website', type: 'http', url: 'https://example.com', degraded_at: 500 },
        status_code_assertions: [{ comparator: 'eq', target: 200 }],
      },
      API: {
        ...{
          id: 'api',
          periodicity: '5m',
          timeout: 5_000,
          type: 'http',
          url: '${API_URL}',
          method: 'POST',
          body: 'ping',
        },
        ...{ certificate_days: 10, follow_redirects: false },
        status_code_assertions: [{ comparator: 'lt', target: 300 }],
        body_assertions: [
          { comparator: 'contains', target: 'well' },
          { comparator: 'neq', target: 'down' },
        ],
        headers: [
          { key: 'Authorization', value: '${API_KEY}' },
          { key: 'X-Secret', value: '${CHECK_API_X_SECRET}' },
        ],
      },
      Any: {
        ...{ ...shared, id: 'any', type: 'http', url: 'https://any.example' },
        status_code_assertions: [{ comparator: 'gte', target: 100 }],
      },
      // A failing server must not be good because nothing can be said of it.
      Lost: { ...shared, id: 'lost', type: 'http', url: 'https://lost.example' },
      Port: { ...shared, id: 'port', type: 'tcp', uri: 'db.example:5432' },
      Names: {
        ...{ ...shared, id: 'names', type: 'dns', uri: 'example.com' },
        record_assertions: [{ record: 'A', comparator: 'eq', target: '192.0.2.1' }],
      },
    });
    expect(components?.map(([, monitor]) => monitor)).toEqual([
      ...[
        'checks/website',
        'checks/api',
        'checks/any',
        'checks/lost',
        'checks/port',
        'checks/names',
        'static',
        'static',
      ],
    ]);
    for (const note of [
      'dropped endpoint "API": a check can’t say graphql, client.insecure, [STATUS] == any(200, 429), [BODY].status == UP, len([BODY].data) > 0',
      'changed endpoint "API": secrets aren’t copied; set CHECK_API_X_SECRET in the environment',
      'dropped endpoint "Port": a check can’t say [BODY] == x',
      'dropped endpoint "Names": a check can’t say url (the name server; set checks.resolver)',
      'dropped endpoint "Ping": it has no check: Pharos has no check of icmp://example.com',
      'dropped endpoint "Job": it has no check: only its configuration says how it is checked',
    ])
      expect(notes).toContain(note);
  });
});

describe('statuses of several ranges', () => {
  it('become assertions that all have to be met, where ten are enough', () => {
    expect(statusAssertions([[200, 299]])).toEqual([]);
    expect(statusAssertions([[404, 404]])).toEqual([{ comparator: 'eq', target: 404 }]);
    expect(
      statusAssertions([
        [200, 299],
        [301, 302],
      ]),
    ).toEqual([
      { comparator: 'gte', target: 200 },
      { comparator: 'lte', target: 302 },
      { comparator: 'neq', target: 300 },
    ]);
    expect(
      statusAssertions([
        [200, 200],
        [211, 211],
      ]),
    ).toBeNull();
    expect(statusAssertions([])).toBeNull();
    expect(statusAssertions([[0, 999]])).toBeNull();
  });
});
