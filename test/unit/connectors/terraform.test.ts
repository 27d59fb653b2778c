import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { terraform } from '../../../src/sync/connectors/terraform/connector.ts';
import { checkResource } from '../../../src/sync/connectors/terraform/project.ts';
import { contextOf, drive } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const HTTP: Row = { name: 'API', url: 'https://x.test', periodicity: '1m' };
const TCP: Row = { name: 'DB', uri: 'db.test:5432', periodicity: '1m' };
const DNS: Row = { name: 'Apex', uri: 'x.test', periodicity: '1m' };
const PAGE: Row = { title: 'Acme', slug: 'acme' };
const COMPONENT: Row = { page_id: '1', type: 'static' };
const GROUP: Row = { page_id: '1', name: 'Core' };
const NOTIFICATION: Row = { provider_type: 'email', email: [{ email: 'ops@x.test' }] };

function check(type: string, values: Row, mode: 'managed' | 'data' = 'managed') {
  const address = `${mode === 'data' ? 'data.' : ''}svc_${type}.it`;
  const resource = { address, mode, type, name: 'it', hidden: new Set<string>() };
  return checkResource({ ...resource, values }).map(({ kind, place }) => `${kind} ${place.slice(address.length)}`);
}
const many = (count: number, item: Row): Row[] => Array.from({ length: count }, () => item);
const text = (length: number): string => 'x'.repeat(length);

describe('field rules of the tables', () => {
  it.each([
    ['http_monitor', { ...HTTP, name: text(256), url: text(2_048), description: text(1_024) }],
    ['http_monitor', { ...HTTP, timeout: 0, retry: 0, degraded_at: 1, method: 'OPTIONS', body: 'x', active: true }],
    [
      'http_monitor',
      { ...HTTP, timeout: 120_000, retry: '10', regions: ['fly-ams', 'iad', 'koyeb-was', 'railway-us-east4'] },
    ],
    [
      'http_monitor',
      {
        ...HTTP,
        headers: many(20, { key: 'a', value: 'b' }),
        status_code_assertions: many(10, { target: 599, comparator: 'lte' }),
      },
    ],
    [
      'http_monitor',
      {
        ...HTTP,
        body_assertions: many(10, { target: '', comparator: 'not_empty' }),
        header_assertions: many(10, { key: 'k', target: 't', comparator: 'gte' }),
      },
    ],
    ['http_monitor', { ...HTTP, periodicity: '30s', something_new: { deep: true } }],
    ['tcp_monitor', { ...TCP, uri: '[2001:db8::1]:443' }],
    [
      'dns_monitor',
      { ...DNS, record_assertions: many(10, { record: 'AAAA', target: 'x', comparator: 'not_contains' }) },
    ],
    [
      'status_page',
      { ...PAGE, title: text(256), slug: text(256), description: text(1_024), access_type: 'public', theme: 'dark' },
    ],
    ['status_page', { ...PAGE, access_type: 'password', password: 'p' }],
    ['status_page', { ...PAGE, access_type: 'email-domain', auth_email_domains: ['x.test'] }],
    [
      'status_page_component',
      { ...COMPONENT, type: 'monitor', monitor_id: '1', order: 0, group_id: '2', group_order: 1 },
    ],
    ['status_page_component_group', { ...GROUP, name: text(256) }],
    ...[
      { provider_type: 'discord', discord: [{ webhook_url: 'x' }] },
      { provider_type: 'slack', slack: { webhook_url: 'x' } },
      { provider_type: 'pagerduty', pagerduty: [{ integration_key: 'x' }] },
      { provider_type: 'opsgenie', opsgenie: [{ api_key: 'x', region: 'eu' }] },
      { provider_type: 'webhook', webhook: [{ endpoint: 'x', headers: [{ key: 'a', value: 'b' }] }], slack: [] },
      { provider_type: 'telegram', telegram: [{ chat_id: 'x' }] },
      { provider_type: 'sms', sms: [{ phone_number: '+49' }] },
      { provider_type: 'whatsapp', whatsapp: [{ phone_number: '+49' }] },
      { provider_type: 'google_chat', google_chat: [{ webhook_url: 'x' }] },
      { provider_type: 'grafana_oncall', grafana_oncall: [{ webhook_url: 'x' }] },
      { provider_type: 'ntfy', ntfy: [{ topic: 'x' }], monitor_ids: ['1'] },
      NOTIFICATION,
    ].map((values) => ['notification', values] as [string, Row]),
  ] as [string, Row][])('allow %s %j', (type, values) => {
    expect(check(type, values)).toEqual([]);
  });

  it.each([
    ['http_monitor', { url: 'x', periodicity: '1m' }, ['dropped .name']],
    ['http_monitor', { name: 'x', periodicity: '1m' }, ['dropped .url']],
    ['http_monitor', { name: 'x', url: 'x' }, ['dropped .periodicity']],
    ['http_monitor', { ...HTTP, name: text(257) }, ['dropped .name']],
    ['http_monitor', { ...HTTP, url: text(2_049) }, ['dropped .url']],
    ['http_monitor', { ...HTTP, description: text(1_025) }, ['dropped .description']],
    ['http_monitor', { ...HTTP, periodicity: '2m' }, ['word .periodicity']],
    ['http_monitor', { ...HTTP, method: 'TRACE' }, ['word .method']],
    ['http_monitor', { ...HTTP, timeout: 120_001 }, ['dropped .timeout']],
    ['http_monitor', { ...HTTP, timeout: -1 }, ['dropped .timeout']],
    ['http_monitor', { ...HTTP, timeout: 'long' }, ['dropped .timeout']],
    ['http_monitor', { ...HTTP, retry: 11 }, ['dropped .retry']],
    ['http_monitor', { ...HTTP, retry: 1.5 }, ['dropped .retry']],
    ['http_monitor', { ...HTTP, regions: ['fly-ams', 'moon-1'] }, ['word .regions.1']],
    ['http_monitor', { ...HTTP, public: 'perhaps' }, ['dropped .public']],
    ['http_monitor', { ...HTTP, status: 'splendid' }, ['word .status']],
    ['http_monitor', { ...HTTP, headers: many(21, { key: 'a', value: 'b' }) }, ['dropped .headers']],
    ['http_monitor', { ...HTTP, headers: [{ key: 'a' }] }, ['dropped .headers.0.value']],
    [
      'http_monitor',
      { ...HTTP, status_code_assertions: many(11, { target: 200, comparator: 'eq' }) },
      ['dropped .status_code_assertions'],
    ],
    [
      'http_monitor',
      { ...HTTP, status_code_assertions: [{ target: 99, comparator: 'eq' }] },
      ['dropped .status_code_assertions.0.target'],
    ],
    [
      'http_monitor',
      { ...HTTP, status_code_assertions: [{ target: 600, comparator: 'contains' }] },
      ['dropped .status_code_assertions.0.target', 'word .status_code_assertions.0.comparator'],
    ],
    [
      'http_monitor',
      { ...HTTP, body_assertions: many(11, { target: '', comparator: 'eq' }) },
      ['dropped .body_assertions'],
    ],
    [
      'http_monitor',
      { ...HTTP, header_assertions: [{ target: 't', comparator: 'eq' }] },
      ['dropped .header_assertions.0.key'],
    ],
    ['tcp_monitor', { ...TCP, uri: 'db.test' }, ['dropped .uri']],
    ['tcp_monitor', { ...TCP, uri: 'https://db.test:1/' }, ['dropped .uri']],
    [
      'dns_monitor',
      { ...DNS, record_assertions: [{ record: 'SRV', target: 'x', comparator: 'gt' }] },
      ['word .record_assertions.0.record', 'word .record_assertions.0.comparator'],
    ],
    [
      'dns_monitor',
      { ...DNS, record_assertions: many(11, { record: 'A', target: 'x', comparator: 'eq' }) },
      ['dropped .record_assertions'],
    ],
    ['notification', { provider_type: 'pigeon' }, ['word .provider_type']],
    ['notification', { provider_type: 'slack' }, ['dropped .slack']],
    ['notification', { ...NOTIFICATION, slack: [{ webhook_url: 'x' }] }, ['dropped .email']],
    ['notification', { provider_type: 'slack', discord: [{ webhook_url: 'x' }] }, ['dropped .slack']],
    [
      'notification',
      { provider_type: 'opsgenie', opsgenie: [{ region: 'moon' }] },
      ['dropped .opsgenie.api_key', 'dropped .opsgenie.region'],
    ],
    ['notification', { provider_type: 'ntfy', ntfy: [{ token: 'x' }] }, ['dropped .ntfy.topic']],
    ['notification', { provider_type: 'sms', sms: [{ phone_number: '1' }, { phone_number: '2' }] }, ['dropped .sms']],
    ['status_page', { slug: 'a' }, ['dropped .title']],
    ['status_page', { ...PAGE, title: '' }, ['dropped .title']],
    ['status_page', { ...PAGE, title: text(257) }, ['dropped .title']],
    ['status_page', { ...PAGE, slug: text(257) }, ['gate .slug']],
    ['status_page', { ...PAGE, access_type: 'friends' }, ['word .access_type']],
    ['status_page', { ...PAGE, access_type: 7 }, ['gate .access_type']],
    ['status_page', { ...PAGE, access_type: 'password' }, ['gate .password']],
    ['status_page', { ...PAGE, access_type: 'password', password: '' }, ['gate .password']],
    ['status_page', { ...PAGE, access_type: 'email-domain' }, ['gate .auth_email_domains']],
    ['status_page', { ...PAGE, access_type: 'email-domain', auth_email_domains: [] }, ['gate .auth_email_domains']],
    ['status_page', { ...PAGE, auth_email_domains: 'x.test' }, ['gate .auth_email_domains']],
    ['status_page', { ...PAGE, published: 'soon' }, ['gate .published']],
    ['status_page_component', { type: 'static' }, ['dropped .page_id']],
    ['status_page_component', { page_id: '1' }, ['dropped .type']],
    ['status_page_component', { ...COMPONENT, type: 'oracle' }, ['word .type']],
    ['status_page_component', { ...COMPONENT, type: 'monitor' }, ['dropped .monitor_id']],
    ['status_page_component', { ...COMPONENT, name: text(257) }, ['dropped .name']],
    ['status_page_component', { ...COMPONENT, order: 'first' }, ['dropped .order']],
    ['status_page_component_group', { page_id: '1' }, ['dropped .name']],
    ['status_page_component_group', { ...GROUP, name: '' }, ['dropped .name']],
  ] as [string, Row, string[]][])('break %s %j', (type, values, expected) => {
    expect(check(type, values)).toEqual(expected);
  });

  it.each([
    ['monitor', {}, ['dropped .id']],
    ['monitors', { limit: 101 }, ['dropped .limit']],
    ['monitors', { limit: 0 }, ['dropped .limit']],
    ['monitors', { offset: -1 }, ['dropped .offset']],
    ['monitors', { limit: 100, offset: 0 }, []],
    ['notification', { id: '1' }, []],
    ['status_page', {}, ['dropped .id']],
  ] as [string, Row, string[]][])('of lookups: data %s %j', (type, values, expected) => {
    expect(check(type, values, 'data')).toEqual(expected);
  });

  it('name the address and the field, and never quote a value', () => {
    const [problem] = checkResource({
      address: 'module.eu.svc_status_page.it["x"]',
      mode: 'managed',
      type: 'status_page',
      name: 'it',
      hidden: new Set(),
      values: { ...PAGE, password: { secret: 'hunter2' } },
    });
    expect(problem).toEqual({
      kind: 'gate',
      place: 'module.eu.svc_status_page.it["x"].password',
      message: 'expected a string',
    });
  });
});

async function read(files: Readonly<Record<string, string>>, options: Row = {}): Promise<Learned> {
  const parsed = terraform.optionsSchema.parse({ path: '/srv/infra', ...options });
  const folder = Object.entries(files).map(([name, content]) => ({ name, text: content }));
  return (await drive(terraform.pull(parsed, contextOf()), () => folder)).result;
}
const state = (resources: readonly Row[]): Row => ({ version: 4, resources });
const managed = (type: string, name: string, attributes: Row, more: Row = {}): Row => ({
  mode: 'managed',
  type: `svc_${type}`,
  name,
  instances: [{ attributes }],
  ...more,
});
async function readState(resources: readonly Row[], options: Row = {}): Promise<Learned> {
  const parsed = terraform.optionsSchema.parse({ url: 'https://state.test/s', ...options });
  return (await drive(terraform.pull(parsed, contextOf()), () => state(resources))).result;
}

describe('files of HCL', () => {
  const page = (access: string): string =>
    `resource "svc_status_page" "p" {\n  title = "P"\n  slug = "p"\n  ${access}\n}\n`;

  it('resolve variables, locals and references over all files, and no further', async () => {
    const { monitors, problems } = await read({
      'a.tf':
        'resource "svc_http_monitor" "a" {\n  name = "${var.stage}-${local.n}"\n  url = local.url\n  periodicity = "1m"\n  active = var.on\n}\n',
      'b.tf':
        'variable "stage" { default = "eu" }\nvariable "on" { default = true }\nlocals {\n  n = 3\n  url = "https://${local.host}"\n  host = "${var.stage}.x.test"\n}\n',
    });
    expect(monitors).toMatchObject([
      { id: 'up/http_monitor.a', name: 'eu-3', target: 'https://eu.x.test', state: 'unknown' },
    ]);
    expect(problems).toEqual([]);
  });

  it('take what only Terraform can know for given, not for missing', async () => {
    const { monitors, problems } = await read({
      'a.tf':
        'variable "name" {}\nresource "svc_tcp_monitor" "a" {\n  name = var.name\n  uri = "${upper("db")}.test:1"\n  periodicity = "1m"\n  active = file("on")\n}\n',
    });
    expect(problems).toEqual([]);
    expect(monitors).toMatchObject([{ name: 'a', target: null, state: 'unknown' }]);
  });

  it('never end in circles, and do not grow without bound', async () => {
    const grow = Array.from(
      { length: 60 },
      (_, index) => `  l${index} = "\${local.l${index + 1}}\${local.l${index + 1}}"`,
    ).join('\n');
    const { monitors } = await read({
      'a.tf': `locals {\n  a = local.b\n  b = "\${local.a}!"\n${grow}\n  l60 = "xx"\n}\nresource "svc_http_monitor" "m" {\n  name = local.a\n  url = local.l0\n  periodicity = "1m"\n}\n`,
    });
    expect(monitors).toMatchObject([{ name: 'm', target: null }]);
  });

  it.each([
    ['access_type = "public"', 'public'],
    ['', 'public'],
    ['access_type = var.who', 'closed'],
    ['access_type = "friends"', 'closed'],
    ['access_type = "password"\n  password = var.secret', 'password'],
    ['password = var.secret', 'password'],
    ['auth_email_domains = ["X.test"]', 'email-domain'],
  ])('a page with %j is %s', async (access, expected) => {
    const { pages, problems } = await read({ 'p.tf': page(access) });
    expect(pages.map((one) => one.access)).toEqual([expected]);
    expect(problems.filter(({ kind }) => kind === 'gate')).toEqual([]);
  });

  it('leave out a page whose address only Terraform knows, and say so', async () => {
    const { pages, problems } = await read({
      'p.tf': 'resource "svc_status_page" "p" {\n  title = "P"\n  slug = var.s\n}\n',
    });
    expect(pages).toEqual([]);
    expect(problems).toMatchObject([
      {
        kind: 'note',
        place: 'svc_status_page.p.slug',
        message: 'left out: the whole page, because this is not known here',
      },
    ]);
  });

  it('that do not parse say where, and never what stands there', async () => {
    const secret = 'resource "svc_status_page" "p" {\n  password = "hunter2" oops\n}\n';
    await expect(read({ 'bad.tf': secret })).rejects.toMatchObject({
      code: 'UPSTREAM_SHAPE',
      message: expect.stringMatching(/not valid HCL at bad\.tf:2,/),
    });
    await expect(read({ 'bad.tf': secret })).rejects.not.toMatchObject({ message: expect.stringContaining('hunter2') });
  });

  it('that could not be opened are named, and nothing is taken from the others', async () => {
    const fault = 'is a link to a file outside the folder; copy the file instead';
    const files = [
      { name: 'a.tf', text: 'resource "svc_status_page" "p" {\n  title = "P"\n  slug = "p"\n}\n' },
      { name: 'b.tf', text: '', fault },
    ];
    const options = terraform.optionsSchema.parse({ path: '/srv/tf' });
    await expect(drive<Learned>(terraform.pull(options, contextOf()), () => files)).rejects.toMatchObject({
      code: 'UPSTREAM_SHAPE',
      message: expect.stringContaining(`b.tf ${fault}`),
    });
  });

  it('may be a single file', async () => {
    const options = terraform.optionsSchema.parse({ path: '/srv/one.tf' });
    const { result, questions } = await drive<Learned>(terraform.pull(options, contextOf()), () => page(''));
    expect(questions).toMatchObject([{ reads: 'text', url: 'file:///srv/one.tf' }]);
    expect(result.pages.length).toBe(1);
  });
});

describe('states and plans', () => {
  it.each([
    ['of another version', { version: 3, modules: [] }],
    ['of something else', { hello: 1 }],
    ['null', null],
    ['a list', []],
  ])('%s are refused', async (_, body) => {
    const options = terraform.optionsSchema.parse({ url: 'https://state.test/s' });
    await expect(drive(terraform.pull(options, contextOf()), () => body)).rejects.toMatchObject({
      code: 'UPSTREAM_SHAPE',
    });
  });

  it('name each instance as Terraform does', async () => {
    const instances = [
      { index_key: 'eu', attributes: { name: text(300) } },
      { index_key: 1, attributes: {} },
    ];
    const { problems } = await readState([
      managed('status_page_component_group', 'g', {}, { module: 'module.a', instances }),
    ]);
    expect(problems.map(({ place }) => place)).toEqual([
      'module.a.svc_status_page_component_group.g["eu"].page_id',
      'module.a.svc_status_page_component_group.g["eu"].name',
      'module.a.svc_status_page_component_group.g[1].page_id',
      'module.a.svc_status_page_component_group.g[1].name',
    ]);
  });

  it('are read from the plan where nothing is applied yet, and may be empty', async () => {
    const options = terraform.optionsSchema.parse({ path: '/srv/plan.json' });
    const pull = (body: unknown) => drive<Learned>(terraform.pull(options, contextOf()), () => body);
    const resource = {
      address: 'svc_status_page.p',
      mode: 'managed',
      type: 'svc_status_page',
      name: 'p',
      values: PAGE,
    };
    const planned = { format_version: '1.2', planned_values: { root_module: { resources: [resource] } } };
    expect((await pull(planned)).result.pages).toMatchObject([{ id: 'up/p', slug: 'acme' }]);
    expect((await pull({ format_version: '1.0' })).result.pages).toEqual([]);
  });

  it('count a value that is marked sensitive and left out as given', async () => {
    const options = terraform.optionsSchema.parse({ path: '/srv/show.json' });
    const values = { ...PAGE, access_type: 'password' };
    const resource = { address: 'svc_status_page.p', mode: 'managed', type: 'svc_status_page', name: 'p', values };
    const body = (sensitive_values: Row) => ({
      format_version: '1.0',
      values: { root_module: { resources: [{ ...resource, sensitive_values }] } },
    });
    const problemsOf = async (sensitive: Row) =>
      (await drive<Learned>(terraform.pull(options, contextOf()), () => body(sensitive))).result.problems;
    expect(await problemsOf({ password: true })).toEqual([]);
    expect(await problemsOf({})).toMatchObject([{ kind: 'gate' }]);
  });

  it('show the monitors of the upstream that checks them, where one is named', async () => {
    const resources = [
      managed('http_monitor', 'm', { ...HTTP, id: '7', active: true, status: 'active' }),
      managed('status_page', 'p', { ...PAGE, id: '1' }),
      managed('status_page_component', 'c', { id: '9', page_id: '1', type: 'monitor', monitor_id: '7' }),
    ];
    const own = await readState(resources);
    expect(own.monitors.map(({ id, state: is }) => [id, is])).toEqual([['up/7', 'operational']]);
    const other = await readState(resources, { monitorUpstream: 'svc' });
    expect(other.monitors).toEqual([]);
    expect(other.pages[0]?.components[0]?.monitor).toBe('svc/7');
  });

  it.each([
    [{ active: true }, 'unknown'],
    [{ active: true, status: 'error' }, 'major_outage'],
    [{ active: true, status: 'degraded' }, 'degraded'],
    [{ active: true, status: 'fine' }, 'unknown'],
    [{ active: false, status: 'active' }, 'paused'],
    // `active` is false unless it is set.
    [{ status: 'active' }, 'paused'],
    [{ active: 'maybe', status: 'active' }, 'unknown'],
  ])('a monitor with %j is %s', async (fields, expected) => {
    const { monitors } = await readState([managed('http_monitor', 'm', { ...HTTP, id: '1', ...fields })]);
    expect(monitors.map((one) => one.state)).toEqual([expected]);
  });

  it('say when all resources are of another brand', async () => {
    const { problems } = await readState([managed('status_page', 'p', PAGE)], { preset: 'openstatus' });
    expect(problems).toMatchObject([{ kind: 'note', message: 'none of 1 is of type openstatus_*; check preset' }]);
  });

  it('close a page whose id comes twice with different gates', async () => {
    const { pages } = await readState([
      managed('status_page', 'a', { ...PAGE, id: '1' }),
      managed('status_page', 'b', { ...PAGE, id: '1', access_type: 'password', password: 'x' }),
    ]);
    expect(pages.map((one) => one.access)).toEqual(['closed']);
  });
});

describe('options', () => {
  it.each([
    [{}],
    [{ path: 'a', url: 'https://x.test' }],
    [{ url: 'file:///etc/passwd' }],
    [{ url: 'https://x.test', headers: { 'bad name': 'x' } }],
    [{ url: 'https://x.test', headers: { ok: 'a\r\nb: c' } }],
  ])('refuse %j', (options) => {
    expect(terraform.optionsSchema.safeParse(options).success).toBe(false);
  });
});
