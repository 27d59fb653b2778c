import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runHere } from '../helpers/in-process.ts';
import { type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';
import {
  type ApiAnswer,
  callApi,
  OPERATOR,
  placeOf,
  SUBSCRIBING_CONFIG,
  startWritingSite,
  WRITING_ENV,
} from '../helpers/writing-site.ts';

type Json = Record<string, unknown>;

describe('the API', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;

  beforeAll(async () => {
    pharos = await startWritingSite(folder.path, SUBSCRIBING_CONFIG);
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  const call = (method: string, path: string, options?: Parameters<typeof callApi>[3]): Promise<ApiAnswer> =>
    callApi(pharos.url, method, `pages/acme/${path}`, options);
  const declare = (incident: Json, options: Parameters<typeof callApi>[3] = {}): Promise<ApiAnswer> =>
    call('POST', 'incidents', { ...options, body: { incident } });
  const change = (id: string, incident: Json, options: Parameters<typeof callApi>[3] = {}): Promise<ApiAnswer> =>
    call('PATCH', `incidents/${id}`, { ...options, body: { incident } });
  const remove = (id: string): Promise<ApiAnswer> => call('DELETE', `incidents/${id}`);
  const v2 = async (path: string) => (await fetch(`${pharos.url}/acme/api/v2/${path}.json`)).json();
  const text = async (path: string): Promise<string> => (await fetch(`${pharos.url}/${path}`)).text();
  /** Each command once as a user runs it, a process that ends by itself; what else is tried of it, in this one. */
  const command = (...args: string[]) => runWarm(args, { cwd: folder.path, env: WRITING_ENV });
  const commandAgain = (...args: string[]) => runHere(args, { cwd: folder.path, env: WRITING_ENV });
  async function newToken(...args: string[]): Promise<{ id: string; token: string }> {
    const made = await commandAgain('tokens', 'create', '--json', ...args);
    expect(made.stderr).toBe('');
    return JSON.parse(made.stdout);
  }
  const states = async () =>
    (await v2('components')).components.map(({ name, status }: Json) => `${String(name)} ${String(status)}`);

  it('declares an incident that every surface tells at once, and resolves it', async () => {
    const declared = await declare({
      name: 'Errors at the API',
      status: 'investigating',
      body: 'We are **looking** into it.',
      components: { api: 'major_outage' },
    });
    expect(declared.status).toBe(201);
    const { id } = declared.body;
    expect(declared.body).toMatchObject({ status: 'investigating', impact: 'critical', version: 1 });
    expect((await v2('incidents/unresolved')).incidents[0]).toMatchObject({ id, name: 'Errors at the API' });
    expect(await states()).toEqual(['API major_outage', 'Website operational']);
    for (const path of ['acme/', 'acme/feed.atom']) expect(await text(path)).toContain('Errors at the API');

    const updated = await change(id, {
      status: 'monitoring',
      body: 'A fix is out.',
      components: { api: 'degraded_performance' },
    });
    expect(updated.status).toBe(200);
    expect(updated.body).toMatchObject({ id, status: 'monitoring', impact: 'critical', version: 2 });
    expect(updated.body.incident_updates.map(({ body }: Json) => body)).toEqual([
      'A fix is out.',
      'We are **looking** into it.',
    ]);
    expect(await states()).toEqual(['API degraded_performance', 'Website operational']);

    const resolved = await change(id, { status: 'resolved' });
    expect(resolved.body).toMatchObject({ status: 'resolved' });
    expect((await v2('incidents/unresolved')).incidents).toEqual([]);
    expect(await states()).toEqual(['API operational', 'Website operational']);
    expect((await v2('incidents')).incidents[0]).toMatchObject({ id, status: 'resolved' });

    expect((await remove(id)).status).toBe(200);
    expect((await v2('incidents')).incidents).toEqual([]);
    expect(await text('acme/')).not.toContain('Errors at the API');
    expect((await remove(id)).status).toBe(404);
  });

  it('takes component ids of the v2 JSON, forms, OAuth and .json, as clients of the original send them', async () => {
    const [api] = (await v2('components')).components;
    const answer = await fetch(`${pharos.url}/-/v1/pages/acme/incidents.json`, {
      method: 'POST',
      headers: { authorization: `OAuth ${OPERATOR}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams([
        ['incident[name]', 'By a form'],
        ['incident[status]', 'identified'],
        ['incident[deliver_notifications]', 'false'],
        ['incident[component_ids][]', api.id],
        ['incident[component_ids][]', 'web'],
        [`incident[components][${api.id}]`, 'partial_outage'],
      ]),
    });
    expect(answer.status).toBe(201);
    const made = (await answer.json()) as Json & { components: Json[]; incident_updates: Json[] };
    expect(made).toMatchObject({ status: 'identified', impact: 'major' });
    expect(made.components.map(({ name }) => name)).toEqual(['API', 'Website']);
    expect(made.incident_updates[0]).toMatchObject({ deliver_notifications: false, status: 'identified' });
    expect(await states()).toEqual(['API partial_outage', 'Website operational']);
    await remove(String(made['id']));
  });

  it('an incident that is opened again does not change what it was meanwhile', async () => {
    const { body } = await declare({ name: 'Again', components: { api: 'partial_outage' } });
    for (const status of ['resolved', 'identified']) expect((await change(body.id, { status })).status).toBe(200);
    expect(await states()).toEqual(['API partial_outage', 'Website operational']);
    const updates = (await v2('incidents')).incidents[0].incident_updates as (Json & { affected_components: Json[] })[];
    expect(
      updates.map(({ status, affected_components: [api] }) => [status, api?.['old_status'], api?.['new_status']]),
    ).toEqual([
      ['identified', 'operational', 'partial_outage'],
      ['resolved', 'partial_outage', 'operational'],
      ['investigating', 'operational', 'partial_outage'],
    ]);
    await remove(body.id);
  });

  it('an incident that declares nothing changes no state and no uptime', async () => {
    const { body } = await declare({ name: 'Slow e-mail', component_ids: ['api'] });
    expect(body).toMatchObject({ impact: 'none', impact_override: null });
    expect(await states()).toEqual(['API operational', 'Website operational']);
    await remove(body.id);
  });

  it('plans a maintenance, begins it early, ends it, and takes one of the past', async () => {
    const soon = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
    const { status, body } = await declare({
      name: 'Database upgrade',
      body: 'Planned.',
      scheduled_for: soon(60),
      scheduled_until: soon(120),
      component_ids: ['web'],
    });
    expect([status, body.status, body.impact]).toEqual([201, 'scheduled', 'maintenance']);
    expect((await v2('scheduled-maintenances/upcoming')).scheduled_maintenances[0].id).toBe(body.id);
    const names = async (list: string) => (await call('GET', `incidents/${list}`)).body.map(({ name }: Json) => name);
    expect([await names('upcoming'), await names('scheduled'), await names('active_maintenance')]).toEqual([
      ['Database upgrade'],
      ['Database upgrade'],
      [],
    ]);
    const early = await change(body.id, { status: 'in_progress', body: 'We begin early.' });
    expect(early.body.status).toBe('in_progress');
    expect(await names('active_maintenance')).toEqual(['Database upgrade']);
    expect(await states()).toEqual(['API operational', 'Website under_maintenance']);
    const over = await change(body.id, { status: 'completed' });
    expect(over.body.status).toBe('completed');
    // What was said as it began and as it ended is not said again by the window.
    expect(over.body.incident_updates.map(({ status, body }: Json) => [status, body])).toEqual([
      ['completed', 'Maintenance is complete.'],
      ['in_progress', 'We begin early.'],
      ['scheduled', 'Planned.'],
    ]);
    const late = await change(body.id, { status: 'verifying' });
    expect([late.status, late.body.issues]).toEqual([
      422,
      [{ path: 'incident.status', message: expect.stringContaining('set a later scheduled_until') }],
    ]);
    expect(await states()).toEqual(['API operational', 'Website operational']);
    await remove(body.id);

    // Declared as begun, ended or ended before its start.
    const planned = { name: 'Switch', scheduled_until: soon(120), component_ids: ['web'] };
    const begun = await declare({ ...planned, scheduled_for: soon(60), status: 'in_progress' });
    expect(begun.body.status).toBe('in_progress');
    expect(Date.parse(begun.body.scheduled_for)).toBeLessThanOrEqual(Date.now());
    expect(await states()).toEqual(['API operational', 'Website under_maintenance']);
    await remove(begun.body.id);
    const ended = await declare({ ...planned, scheduled_for: soon(-60), status: 'completed' });
    expect(ended.body.status).toBe('completed');
    expect(Date.parse(ended.body.resolved_at)).toBeLessThanOrEqual(Date.now());
    await remove(ended.body.id);
    const unbegun = await declare({ ...planned, scheduled_for: soon(60), status: 'completed' });
    expect([unbegun.status, unbegun.body.issues[0].path]).toEqual([422, 'incident.status']);

    const past = await declare({
      name: 'Last week',
      backfilled: true,
      started_at: soon(-600),
      resolved_at: soon(-540),
      components: { api: 'major_outage' },
    });
    expect(past.body).toMatchObject({ status: 'resolved', impact: 'critical' });
    expect(past.body.incident_updates[0].deliver_notifications).toBe(false);
    expect(await states()).toEqual(['API operational', 'Website operational']);
    await remove(past.body.id);
  });

  it('moves a maintenance with a word of its own, and keeps its items in feeds and calendars', async () => {
    const soon = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
    const window = { scheduled_for: soon(600), scheduled_until: soon(660) };
    const { body } = await declare({ name: 'New disks', body: 'Planned.', ...window, component_ids: ['web'] });
    const items = async (): Promise<string[]> => {
      const files = await Promise.all(
        ['feed.atom', 'feed.rss', 'feed.json', 'maintenance.ics'].map((file) => text(`acme/${file}`)),
      );
      return files.flatMap((file) => file.match(/urn:uuid:[\da-f-]+|UID:\S+/g) ?? []);
    };
    const before = await items();
    expect(before.filter((id) => id.startsWith('UID:'))).toHaveLength(1);
    const statuses = ({ body: { incident_updates: updates } }: ApiAnswer) => updates.map(({ status }: Json) => status);
    const moved = await change(body.id, { scheduled_for: soon(630), scheduled_until: soon(690) });
    expect(statuses(moved)).toEqual(['scheduled', 'scheduled']);
    expect(moved.body.incident_updates[0]).toMatchObject({ deliver_notifications: true });
    expect([...new Set(before).difference(new Set(await items()))]).toEqual([]);
    // Nothing moves.
    expect(statuses(await change(body.id, { scheduled_for: moved.body.scheduled_for }))).toHaveLength(2);
    expect(statuses(await change(body.id, { scheduled_until: soon(720), deliver_notifications: false }))).toHaveLength(
      3,
    );
    const begun = await change(body.id, { status: 'in_progress' });
    expect(statuses(begun)).toEqual(['in_progress', 'scheduled', 'scheduled', 'scheduled']);
    expect([...new Set(before).difference(new Set(await items()))]).toEqual([]);
    await remove(body.id);
  });

  it('puts a component into a state until that is taken back, and tells no story of it', async () => {
    const put = (status: string) => call('PATCH', 'components/api', { body: { component: { status } } });
    const down = await put('major_outage');
    expect(down.body).toMatchObject({ name: 'API', status: 'major_outage', override: 'major_outage' });
    expect(await states()).toEqual(['API major_outage', 'Website operational']);
    expect((await v2('incidents')).incidents).toEqual([]);
    expect((await call('GET', 'incidents')).body).toEqual([]);
    expect((await put('degraded_performance')).body).toMatchObject({ status: 'degraded_performance' });
    const well = await put('operational');
    expect(well.body).toMatchObject({ status: 'operational', override: null });
    expect(await states()).toEqual(['API operational', 'Website operational']);
  });

  it('keeps a draft from every surface, and publishes it when asked', async () => {
    const { body } = await declare({ name: 'Not yet', published: false, components: { api: 'major_outage' } });
    expect(body).toMatchObject({ name: 'Not yet', published: false });
    expect(await states()).toEqual(['API operational', 'Website operational']);
    for (const path of ['acme/', 'acme/feed.atom', 'acme/api/v2/summary.json', 'acme/api/v2/incidents.json'])
      expect(await text(path)).not.toContain('Not yet');
    expect((await change(body.id, { published: true })).body).toMatchObject({ published: true });
    expect(await text('acme/')).toContain('Not yet');
    expect((await change(body.id, { published: false })).body).toMatchObject({ published: false });
    expect(await text('acme/')).not.toContain('Not yet');
    await remove(body.id);
  });

  it('does once what is sent again with its Idempotency-Key, also at the same time', async () => {
    const headers = { 'idempotency-key': 'deploy-42' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => declare({ name: 'Once' }, { headers })));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect((await call('GET', 'incidents')).body).toHaveLength(1);
    const other = await declare({ name: 'Another' }, { headers });
    expect(other.status).toBe(422);
    expect((await call('GET', 'incidents')).body).toHaveLength(1);
    const [{ body }] = answers as [ApiAnswer];
    const update = { headers: { 'idempotency-key': 'update-1' } };
    await change(body.id, { body: 'Said once' }, update);
    const again = await change(body.id, { body: 'Said once' }, update);
    expect(again.body.incident_updates).toHaveLength(2);
    await remove(body.id);
  });

  it('loses nothing when two change an incident at once, and tells who saw an older version', async () => {
    const { body } = await declare({ name: 'Two at once' });
    await Promise.all(Array.from({ length: 8 }, (_, index) => change(body.id, { body: `update ${index}` })));
    const now = await call('GET', `incidents/${body.id}`);
    expect(now.body.incident_updates).toHaveLength(9);
    expect(now.headers.get('etag')).toBe('"9"');
    const stale = await change(body.id, { name: 'Mine' }, { headers: { 'if-match': '"1"' } });
    expect(stale.status).toBe(412);
    const current = await change(body.id, { name: 'Mine' }, { headers: { 'if-match': '"9"' } });
    expect(current.body).toMatchObject({ name: 'Mine', version: 10 });
    await remove(body.id);
  });

  it.each([
    ['no name', { status: 'investigating' }, 'incident.name'],
    ['two lines of name', { name: 'a\nb' }, 'incident.name'],
    ['no such status', { name: 'x', status: 'burning' }, 'incident.status'],
    ['a status of maintenances', { name: 'x', status: 'completed' }, 'incident.status'],
    ['no such component', { name: 'x', components: { nosuch: 'major_outage' } }, 'incident.components.nosuch'],
    ['a component of a gated page', { name: 'x', components: { vault: 'major_outage' } }, 'incident.components.vault'],
    ['the same by id', { name: 'x', component_ids: ['api', 'vault'] }, 'incident.component_ids.1'],
    ['its full name', { name: 'x', component_ids: ['config/inner/vault'] }, 'incident.component_ids.0'],
    ['no such state', { name: 'x', components: { api: 'on_fire' } }, 'incident.components.api'],
    [
      'an end before the beginning',
      { name: 'x', scheduled_for: '2030-01-02T00:00:00Z', scheduled_until: '2030-01-01T00:00:00Z' },
      'incident.scheduled_until',
    ],
    [
      'running after its end',
      {
        name: 'x',
        scheduled_for: '2026-01-01T00:00:00Z',
        scheduled_until: '2026-01-02T00:00:00Z',
        status: 'in_progress',
      },
      'incident.status',
    ],
    ['no end', { name: 'x', scheduled_for: '2030-01-02T00:00:00Z' }, 'incident.scheduled_until'],
    ['no beginning', { name: 'x', scheduled_until: '2030-01-02T00:00:00Z' }, 'incident.scheduled_for'],
    [
      'no time',
      { name: 'x', scheduled_for: 'tomorrow', scheduled_until: '2030-01-01T00:00:00Z' },
      'incident.scheduled_for',
    ],
    [
      'no rule',
      {
        name: 'x',
        scheduled_for: '2030-01-01T00:00:00Z',
        scheduled_until: '2030-01-02T00:00:00Z',
        scheduled_repeat: 'FREQ=SECONDLY',
      },
      'incident.scheduled_repeat',
    ],
    ['a past without a day', { name: 'x', backfilled: true }, 'incident.backfill_date'],
    [
      'a past that ends before it begins',
      { name: 'x', backfilled: true, started_at: '2026-01-02T00:00:00Z', resolved_at: '2026-01-01T00:00:00Z' },
      'incident.resolved_at',
    ],
    ['a Markdown bomb of quotes', { name: 'x', body: '>'.repeat(5_000) }, 'incident.body'],
    ['a Markdown bomb of brackets', { name: 'x', body: '['.repeat(5_000) }, 'incident.body'],
    ['a Markdown bomb of stars', { name: 'x', body: '*'.repeat(5_000) }, 'incident.body'],
    ['a Markdown bomb of lists', { name: 'x', body: '- '.repeat(2_000) }, 'incident.body'],
    ['a long body', { name: 'x', body: 'a'.repeat(20_000) }, 'incident.body'],
    ['a control character', { name: 'x', body: 'a\u0000b' }, 'incident.body'],
  ] as [string, Json, string][])('refuses %s with its place, and writes nothing', async (_, incident, path) => {
    const { status, body } = await declare(incident);
    expect([status, body.issues?.map((issue: { path: string }) => issue.path)]).toEqual([422, [path]]);
    expect((await call('GET', 'incidents')).body).toEqual([]);
    expect(JSON.stringify(body)).not.toContain('Vault');
  });

  it('refuses what is no request at all', async () => {
    expect((await call('POST', 'incidents', { body: '{' })).status).toBe(400);
    expect((await call('POST', 'incidents', { body: '[]' })).status).toBe(422);
    expect((await call('POST', 'incidents', { body: {} })).body.issues[0].path).toBe('incident');
    const huge = await declare({ name: 'x', body: 'a'.repeat(1_000_000) });
    expect(huge.status).toBe(413);
    const wrongType = await call('POST', 'incidents', { body: '<x/>', headers: { 'content-type': 'text/xml' } });
    expect(wrongType.status).toBe(415);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const body of ['incident=1&incident[name]=x', 'incident[name]=x&incident[name]=y', 'a[b][c][d][e]=1'])
      expect((await call('POST', 'incidents', { body, headers: form })).status).toBe(400);
    const proto = await call('POST', 'incidents', { body: '__proto__[incident][name]=x', headers: form });
    expect(proto.status).toBe(422);
    expect((await call('GET', 'nosuch')).status).toBe(404);
    expect((await call('GET', 'incidents/nosuch')).status).toBe(404);
    expect((await call('POST', 'components/api')).status).toBe(405);
    expect((await call('PATCH', 'components/vault', { body: { component: { status: 'major_outage' } } })).status).toBe(
      404,
    );
    expect(
      (await call('PATCH', 'components/api', { body: { component: { status: 'dead' } } })).body.issues[0].path,
    ).toBe('component.status');
    expect((await call('GET', 'incidents')).body).toEqual([]);
  });

  it('lets in a token for its page and its scopes only, and tells a stranger nothing', async () => {
    const options = ['--json', '--scope', 'incidents', '--page', 'acme', '--name', 'deploys'];
    const incidents = JSON.parse((await command('tokens', 'create', ...options)).stdout);
    const reader = await newToken('--scope', 'read', '--page', 'acme');
    const inner = await newToken('--scope', 'components', '--page', 'inner');
    const at = (token: string | null, method: string, path: string, body?: unknown) =>
      callApi(pharos.url, method, path, { token, body }).then(({ status }) => status);
    const incident = { incident: { name: 'By a token' } };
    const override = { component: { status: 'major_outage' } };
    expect(await at(incidents.token, 'POST', 'pages/acme/incidents', incident)).toBe(201);
    expect(await at(incidents.token, 'PATCH', 'pages/acme/components/api', override)).toBe(403);
    expect(await at(reader.token, 'GET', 'pages/acme/incidents')).toBe(200);
    expect(await at(reader.token, 'POST', 'pages/acme/incidents', incident)).toBe(403);
    expect(await at(inner.token, 'GET', 'pages/inner/components')).toBe(200);
    expect(await at(inner.token, 'POST', 'pages/inner/incidents', incident)).toBe(403);
    // A page that a token is not for, and one that is not there, are alike.
    for (const page of ['inner', 'nosuch'])
      expect(await at(incidents.token, 'GET', `pages/${page}/incidents`)).toBe(404);
    // So are pages to whoever has no token.
    const wrong = `pharos_${'a'.repeat(43)}`;
    for (const page of ['acme', 'inner', 'nosuch'])
      for (const token of [null, 'x', wrong]) expect(await at(token, 'GET', `pages/${page}/incidents`)).toBe(401);
    const list = await command('tokens', 'list', '--json');
    expect(JSON.parse(list.stdout).tokens).toHaveLength(3);
    expect(list.stdout).not.toContain(incidents.token);
    const { stdout } = await command('audit', '--json');
    expect(stdout).toContain(`token:deploys/${incidents.id}`);
    expect(stdout).not.toContain(incidents.token);
    expect((await command('tokens', 'revoke', incidents.id)).status).toBe(0);
    expect(await at(incidents.token, 'GET', 'pages/acme/incidents')).toBe(401);
    expect((await commandAgain('tokens', 'revoke', incidents.id)).status).toBe(1);
    const [{ id }] = (await call('GET', 'incidents')).body;
    await remove(id);
  });

  it('takes no expired token, no token for nothing, and limits one that asks too often', async () => {
    const past = await commandAgain(
      'tokens',
      'create',
      '--scope',
      'read',
      '--page',
      'acme',
      '--expires',
      '2020-01-01T00:00:00Z',
    );
    expect([past.status, past.stderr]).toEqual([2, expect.stringContaining('--expires')]);
    const nowhere = await commandAgain('tokens', 'create', '--scope', 'read', '--page', 'nosuch');
    expect([nowhere.status, nowhere.stderr]).toEqual([2, expect.stringContaining('There is no page "nosuch"')]);
    const { token } = await newToken('--scope', 'read', '--page', 'acme', '--expires', '1d');
    const statuses = await Promise.all(
      Array.from({ length: 125 }, () => callApi(pharos.url, 'GET', 'pages/acme/components/api', { token })),
    );
    const limited = statuses.filter(({ status }) => status === 429);
    expect(limited).toHaveLength(5);
    expect(Number(limited[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is described by its OpenAPI document, whose every operation answers as it says', async () => {
    type Described = {
      operationId: string;
      responses: Record<string, { content?: Record<string, { schema: boolean }> }>;
    };
    const document = (await (await fetch(`${pharos.url}/-/v1/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, Record<string, Described>>;
    };
    expect(document.openapi).toBe('3.1.0');
    const bodies: Json = {
      createIncident: { incident: { name: 'Another' } },
      updateIncident: { incident: { status: 'monitoring' } },
      updateIncidentUpdate: { incident_update: { body: 'Other words' } },
      writePostmortem: { postmortem: { body_draft: 'Because' } },
      createComponent: { component: { name: 'Another' } },
      updateComponent: { component: { status: 'operational' } },
      createComponentGroup: { component_group: { name: 'Another', components: [] } },
      updateComponentGroup: { component_group: { name: 'Renamed' } },
      createSubscriber: { subscriber: { email: 'other@example.org' } },
    };
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    for (const { path, method, operation } of operations) {
      const place = await placeOf(pharos.url, path.slice(1));
      const body = bodies[operation.operationId.replace(/_put$/, '')];
      const answer = await callApi(pharos.url, method.toUpperCase(), place, { body });
      const [success = ''] = Object.keys(operation.responses).filter((status) => Number(status) < 300);
      expect([operation.operationId, answer.status, answer.body]).toEqual([
        operation.operationId,
        Number(success),
        expect.anything(),
      ]);
      const schema = operation.responses[success]?.content?.['application/json']?.schema;
      if (schema === undefined) expect(answer.body).toBe('');
      else
        expect([operation.operationId, z.fromJSONSchema(schema).safeParse(answer.body).error?.issues]).toEqual([
          operation.operationId,
          undefined,
        ]);
    }
    expect(operations.length).toBeGreaterThan(35);
    for (const { id } of (await call('GET', 'incidents')).body) await remove(id);
  });
});
