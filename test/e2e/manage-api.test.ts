import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runHere } from '../helpers/in-process.ts';
import { type MailSink, type ReceivedMail, startMailSink } from '../helpers/mail-sink.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { linkIn, pathOf, tokenOf } from '../helpers/subscribing-site.ts';
import {
  type ApiAnswer,
  callApi,
  OPERATOR,
  SUBSCRIBING_CONFIG,
  startWritingSite,
  WRITING_ENV,
} from '../helpers/writing-site.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
type Json = any;

const CONFIG = SUBSCRIBING_CONFIG.replace(
  '    components:\n      - { id: api, type: static, name: API }',
  '    groups: [{ id: core, name: Core }]\n    components:\n      - { id: api, type: static, name: API, group_id: core }',
);

describe('the manage API', () => {
  const folder = temporaryFolder();
  let mails: MailSink;
  let env: Readonly<Record<string, string>>;
  let pharos: RunningPharos;

  beforeAll(async () => {
    mails = await startMailSink();
    env = { ...WRITING_ENV, MAILS: mails.url };
    pharos = await startWritingSite(folder.path, CONFIG, env);
  });
  afterAll(async () => {
    await pharos?.stop();
    await mails?.close();
    folder.remove();
  });

  const call = (method: string, path: string, body?: unknown, options: object = {}): Promise<ApiAnswer> =>
    callApi(pharos.url, method, `pages/acme${path === '' ? '' : `/${path}`}`, { body, ...options });
  const text = async (path: string): Promise<string> => (await fetch(`${pharos.url}/${path}`)).text();
  const v2 = async (path: string): Promise<Json> =>
    (
      await eventually(
        () => fetch(`${pharos.url}/acme/api/v2/${path}.json`),
        ({ status }) => status === 200,
      )
    ).json();
  const names = async (): Promise<string[]> => (await v2('components')).components.map(({ name }: Json) => name);
  const make = async (path: string, body: unknown): Promise<Json> => {
    const answer = await call('POST', path, body);
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return answer.body;
  };
  const command = (...args: string[]) => runHere(args, { cwd: folder.path, env });

  it('answers for a page by slug and by every id that it gives', async () => {
    const { body: pages } = await callApi(pharos.url, 'GET', 'pages.json');
    expect(pages.map(({ subdomain, name }: Json) => [subdomain, name])).toEqual([
      ['acme', 'Acme'],
      ['inner', 'Inner'],
    ]);
    const [{ id }] = pages;
    expect(id).toBe((await v2('status')).page.id);
    const one = await callApi(pharos.url, 'GET', `pages/${id}`);
    expect(one.body).toMatchObject({ id, subdomain: 'acme', allow_email_subscribers: true, time_zone: 'UTC' });
    expect((await call('GET', '')).body).toEqual(one.body);
    const { body: incident } = await callApi(pharos.url, 'POST', `pages/${id}/incidents`, {
      body: { incident: { name: 'By id', components: ['api'] } },
    });
    expect(incident).toMatchObject({ page_id: id, impact: 'none' });
    const { body: resolved } = await callApi(
      pharos.url,
      'PATCH',
      `pages/${incident.page_id}/incidents/${incident.id}`,
      {
        body: { incident: { status: 'resolved' } },
      },
    );
    expect(resolved.status).toBe('resolved');
    // Whatever an answer calls something is accepted where it can be asked for.
    const { body: list } = await call('GET', 'components');
    for (const { id: known, group, group_id: parent } of list) {
      expect((await call('GET', `components/${known}`)).body.id).toBe(known);
      if (group) expect((await call('GET', `component-groups/${known}`)).body.id).toBe(known);
      if (parent !== null) expect((await call('GET', `component-groups/${parent}`)).status).toBe(200);
    }
    await call('DELETE', `incidents/${incident.id}`);
  });

  it('makes, changes and deletes components, after those of the configuration and on every surface', async () => {
    const search = await make('components', {
      component: { name: 'Search', description: 'Full text', status: 'partial_outage', start_date: '2020-02-01' },
    });
    expect(search).toMatchObject({
      ...{ name: 'Search', description: 'Full text', status: 'partial_outage', override: 'partial_outage' },
      ...{ group: false, group_id: null, showcase: true, only_show_if_degraded: false, start_date: '2020-02-01' },
    });
    expect(await names()).toEqual(['Core', 'API', 'Website', 'Search']);
    for (const path of ['acme/', 'acme/api/state.json', 'acme/api/uptime.json'])
      expect(
        await eventually(
          () => text(path),
          (found) => found.includes('Search'),
        ),
      ).toContain('Search');

    const changed = await call('PATCH', `components/${search.id}`, {
      component: { name: 'Finding', description: '', status: 'operational', showcase: false },
    });
    expect(changed.body).toMatchObject({ id: search.id, name: 'Finding', description: null, showcase: false });
    expect(changed.body).toMatchObject({ status: 'operational', override: null });
    expect(await names()).toEqual(['Core', 'API', 'Website', 'Finding']);

    const group = await make('component-groups', {
      component_group: { name: 'Extras', description: 'More', components: [search.id] },
    });
    expect(group).toMatchObject({ name: 'Extras', description: 'More', components: [search.id], position: 3 });
    expect(await names()).toEqual(['Core', 'API', 'Website', 'Extras', 'Finding']);
    const moved = await call('PUT', `components/${search.id}`, { component: { group_id: 'core' } });
    expect((await call('GET', `component-groups/${moved.body.group_id}`)).body.name).toBe('Core');
    expect(await names()).toEqual(['Core', 'API', 'Finding', 'Website']);
    // A group that is empty is nowhere but here.
    expect((await call('GET', `component-groups/${group.id}`)).body).toMatchObject({ components: [] });
    expect((await call('GET', `components/${group.id}`)).body).toMatchObject({ group: true, components: [] });
    await call('PATCH', `component-groups/${group.id}`, { component_group: { components: [search.id] } });
    expect((await call('DELETE', `component-groups/${group.id}`)).body.name).toBe('Extras');
    expect((await call('GET', `components/${search.id}`)).body.group_id).toBe(null);
    expect((await call('GET', `component-groups/${group.id}`)).status).toBe(404);

    const gone = await call('DELETE', `components/${search.id}`);
    expect([gone.status, gone.body]).toEqual([204, '']);
    expect(await names()).toEqual(['Core', 'API', 'Website']);
    expect((await call('GET', `components/${search.id}`)).status).toBe(404);
    expect((await call('DELETE', `components/${search.id}`)).status).toBe(404);
  });

  it('leaves what the configuration defines as it is, and says so', async () => {
    const refused = async (method: string, path: string, body?: unknown) => {
      const answer = await call(method, path, body);
      return [answer.status, answer.body.message];
    };
    const there = 'It is defined by the configuration.';
    expect(await refused('DELETE', 'components/api')).toEqual([409, `${there} Remove it there.`]);
    expect(await refused('DELETE', 'component-groups/core')).toEqual([409, `${there} Remove it there.`]);
    expect(await refused('PATCH', 'components/api', { component: { name: 'Other' } })).toEqual([
      409,
      `${there} Change its name there.`,
    ]);
    expect(await refused('PATCH', 'component-groups/core', { component_group: { name: 'Other' } })).toEqual([
      409,
      `${there} Change its name there.`,
    ]);
    expect(await refused('PATCH', 'component-groups/core', { component_group: { components: [] } })).toEqual([
      409,
      'API is defined by the configuration. Change its group there.',
    ]);
    expect((await refused('PATCH', 'components/core', { component: { status: 'major_outage' } }))[0]).toBe(409);
    // Clients that send everything again change only what differs.
    const same = { name: 'API', description: '', group_id: 'core', status: 'degraded_performance' };
    expect((await call('PATCH', 'components/api', { component: same })).body).toMatchObject({
      ...{ name: 'API', status: 'degraded_performance' },
    });
    await call('PATCH', 'components/api', { component: { status: 'operational' } });
    expect((await call('PATCH', '', { page: { name: 'Mine' } })).status).toBe(409);
  });

  it.each([
    ['components', { component: {} }, 'component.name'],
    ['components', { component: { name: 'x', status: 'on fire' } }, 'component.status'],
    ['components', { component: { name: 'x', group_id: 'nosuch' } }, 'component.group_id'],
    ['components', { component: { name: 'x', start_date: 'yesterday' } }, 'component.start_date'],
    ['components', { component: { name: 'a\nb' } }, 'component.name'],
    ['components', { name: 'x' }, 'component'],
    ['component-groups', { component_group: { name: 'x', components: ['nosuch'] } }, 'component_group.components.0'],
    ['component-groups', { component_group: { name: 'x', components: ['vault'] } }, 'component_group.components.0'],
    ['incidents', { incident: { name: 'x', components: ['api', 'vault'] } }, 'incident.components.vault'],
    ['incidents', { incident: { name: 'x', components: [{ id: 'api' }] } }, 'incident.components'],
    ['incidents', { incident: { name: '' } }, 'incident.name'],
    ['subscribers', { subscriber: { email: 'nobody' } }, 'subscriber.email'],
    ['subscribers', { subscriber: { phone_number: '1', phone_country: 'US' } }, 'subscriber.email'],
    ['subscribers', { subscriber: { email: 'a@example.org', component_ids: ['x'] } }, 'subscriber.component_ids.0'],
    [
      'subscribers',
      { subscriber: { email: 'a@example.org', skip_confirmation_notification: true } },
      'subscriber.skip_confirmation_notification',
    ],
  ])('refuses in %s %j with its place, and writes nothing', async (path, body, place) => {
    const before = await call('GET', `${path}?state=all`);
    const answer = await call('POST', path, body);
    expect([answer.status, answer.body.issues.map((issue: Json) => issue.path)]).toEqual([422, [place]]);
    expect((await call('GET', `${path}?state=all`)).body).toEqual(before.body);
  });

  it('pages through lists, and finds text in them', async () => {
    const { body: first } = await callApi(pharos.url, 'POST', 'pages/acme/incidents', {
      body: { incident: { name: 'Needle', status: 'investigating', body: 'in a haystack' } },
    });
    await Promise.all(
      Array.from({ length: 104 }, (_, nth) =>
        call('POST', 'incidents', { incident: { name: `Past ${nth}`, backfilled: true, backfill_date: '2026-01-05' } }),
      ),
    );
    const size = async (query: string): Promise<number> => (await call('GET', `incidents${query}`)).body.length;
    expect(await size('')).toBe(100);
    expect(await size('?page=2')).toBe(5);
    expect(await size('?page=3')).toBe(0);
    expect(await size('?limit=50&page=3')).toBe(5);
    expect(await size('?per_page=7')).toBe(7);
    expect(await size('?limit=5000')).toBe(100);
    expect(await size('?q=HAYSTACK')).toBe(1);
    expect(await size('?q=past%2010')).toBe(5);
    expect(await size('?q=nothing')).toBe(0);
    expect((await call('GET', 'components?per_page=2&page=2')).body.map(({ name }: Json) => name)).toEqual(['Website']);
    expect((await call('GET', 'component-groups?page=2')).body).toEqual([]);
    for (const query of ['page=-1', 'page=two', 'limit=0'])
      expect((await call('GET', `incidents?${query}`)).body.issues[0].path).toBe(query.split('=')[0]);
    const ids = new Set<string>();
    for (let page = 1; ; page += 1) {
      const { body } = await call('GET', `incidents?limit=20&page=${page}`);
      if (body.length === 0) break;
      for (const { id } of body) ids.add(id);
    }
    expect(ids.size).toBe(105);
    expect((await call('GET', 'incidents/unresolved')).body.map(({ id }: Json) => id)).toEqual([first.id]);
    await Promise.all([...ids].map((id) => call('DELETE', `incidents/${id}`)));
  });

  it('edits what an update says, and when it says nothing new', async () => {
    const incident = await make('incidents', { incident: { name: 'Slow', body: 'We lok.' } });
    const [update] = incident.incident_updates;
    const edit = (body: unknown, id = update.id) =>
      call('PATCH', `incidents/${incident.id}/incident_updates/${id}`, { incident_update: body });
    expect((await edit({ body: 'We look.', display_at: update.display_at })).body).toMatchObject({
      ...{ id: update.id, body: 'We look.', created_at: update.created_at, deliver_notifications: true },
    });
    expect((await edit({ deliver_notifications: 'false' })).body).toMatchObject({ deliver_notifications: false });
    expect(await text('acme/')).toContain('We look.');
    expect((await edit({ display_at: '2020-01-01T00:00:00Z' })).body.issues[0].path).toBe('incident_update.display_at');
    expect((await edit({ body: 'x' }, 'nosuch')).status).toBe(404);
    await call('DELETE', `incidents/${incident.id}`);

    const at = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
    const planned = await make('incidents', {
      incident: { name: 'Upgrade', body: 'Planed.', scheduled_for: at(60), scheduled_until: at(90) },
    });
    expect((await call('GET', 'incidents/unresolved')).body).toEqual([]);
    const [opening] = planned.incident_updates;
    const better = await call('PUT', `incidents/${planned.id}/incident_updates/${opening.id}`, {
      incident_update: { body: 'Planned.' },
    });
    expect(better.body).toMatchObject({ id: opening.id, body: 'Planned.' });
    await call('DELETE', `incidents/${planned.id}`);
  });

  it('keeps a postmortem to itself until it is published, and takes it back', async () => {
    const incident = await make('incidents', { incident: { name: 'Broken' } });
    const place = `incidents/${incident.id}/postmortem`;
    expect((await call('GET', place)).status).toBe(404);
    expect((await call('PUT', place, { postmortem: { body_draft: 'A cable.' } })).body).toMatchObject({
      ...{ body: null, body_draft: 'A cable.', published_at: null },
    });
    expect((await call('PUT', `${place}/publish`, {})).status).toBe(422);
    await call('PATCH', `incidents/${incident.id}`, { incident: { status: 'resolved' } });
    expect(await text(`acme/feed.atom`)).not.toContain('A cable.');
    const published = await call('PUT', `${place}/publish`, { postmortem: { notify_subscribers: true } });
    expect(published.body).toMatchObject({ body: 'A cable.', body_draft: null, notify_subscribers: true });
    expect((await call('GET', `incidents/${incident.id}`)).body).toMatchObject({
      ...{ status: 'postmortem', postmortem_body: 'A cable.', postmortem_notified_subscribers: true },
    });
    expect(await text('acme/feed.atom')).toContain('A cable.');
    // Other words for the same postmortem.
    await call('PUT', place, { postmortem: { body_draft: 'A cable, cut.' } });
    expect(await text('acme/feed.atom')).not.toContain('A cable, cut.');
    await call('PUT', `${place}/publish`, {});
    expect((await call('GET', `incidents/${incident.id}`)).body.incident_updates).toHaveLength(3);
    expect((await call('PUT', `${place}/revert`)).body).toMatchObject({ body: null, body_draft: 'A cable, cut.' });
    expect((await call('GET', `incidents/${incident.id}`)).body).toMatchObject({
      ...{ status: 'resolved', postmortem_body: null },
    });
    expect(await text('acme/feed.atom')).not.toContain('A cable');
    expect((await call('DELETE', place)).status).toBe(204);
    expect((await call('GET', place)).status).toBe(404);
    expect((await call('DELETE', place)).status).toBe(404);
    await call('DELETE', `incidents/${incident.id}`);
  });

  it('adds subscribers who confirm by themselves, and forgets them', async () => {
    const added = await make('subscribers', { subscriber: { email: 'Ann@example.org', component_ids: ['web'] } });
    const [, , web] = (await call('GET', 'components')).body;
    expect(added).toMatchObject({
      email: 'Ann@example.org',
      state: 'unconfirmed',
      components: [web.id],
      mode: 'email',
    });
    expect((await call('GET', 'subscribers')).body).toEqual([]);
    expect((await call('GET', 'subscribers?state=unconfirmed&q=ANN')).body).toEqual([added]);
    expect((await call('GET', 'subscribers?state=all&page=1')).body).toEqual([]);
    expect((await call('GET', 'subscribers?state=all&type=sms')).body).toEqual([]);
    const again = await call('POST', 'subscribers', { subscriber: { email: 'ann@example.org' } });
    expect([again.status, again.body.issues[0].path]).toEqual([422, 'subscriber.email']);
    const [mail] = await eventually(
      async () => mails.mails.filter(({ to }) => to.toLowerCase() === 'ann@example.org'),
      (found) => found.length > 0,
    );
    expect((await call('GET', `subscribers/${added.id}`)).body).toEqual(added);
    const link = linkIn(mail as ReceivedMail, 'confirm');
    const pressed = await fetch(pharos.url + pathOf(link), {
      method: 'POST',
      body: new URLSearchParams({ token: tokenOf(link) }),
    });
    expect(pressed.status).toBe(200);
    expect((await call('GET', 'subscribers')).body).toEqual([{ ...added, state: 'active' }]);
    const stranger = await callApi(pharos.url, 'GET', `pages/inner/subscribers/${added.id}`);
    expect(stranger.status).toBe(404);
    expect((await call('DELETE', `subscribers/${added.id}`)).body.id).toBe(added.id);
    expect((await call('GET', 'subscribers?state=all')).body).toEqual([]);
    const off = await callApi(pharos.url, 'POST', 'pages/inner/subscribers', {
      body: { subscriber: { email: 'a@example.org' } },
    });
    expect([off.status, off.body.message]).toEqual([409, expect.stringContaining('subscriptions: true')]);
    const { stdout } = await command('audit', '--json');
    expect(stdout).toContain('subscriber-add');
    expect(stdout.toLowerCase()).not.toContain('ann@example.org');
  });

  it('takes a token in every form but in the address, and for its page and scopes only', async () => {
    const made = await command('tokens', 'create', '--json', '--scope', 'components', '--page', 'acme');
    const { token } = JSON.parse(made.stdout);
    const at = async (authorization: string, path: string, method = 'GET') => {
      const answer = await fetch(`${pharos.url}/-/v1/${path}`, { method, headers: { authorization } });
      return [answer.status, await answer.text()] as const;
    };
    const [acme, inner] = (await callApi(pharos.url, 'GET', 'pages')).body;
    for (const form of [`Bearer ${token}`, `OAuth ${token}`, `oauth ${token}`, token]) {
      const [status, body] = await at(form, 'pages');
      expect([status, JSON.parse(body).map(({ id }: Json) => id)]).toEqual([200, [acme.id]]);
    }
    expect((await at(token, `pages/${acme.id}`))[0]).toBe(200);
    // A page that the token is not for is as if it didn't exist, under whichever name, for every operation.
    const answers = async (path: string) =>
      new Set(
        await Promise.all(
          [inner.id, 'inner', 'nosuch'].map(async (name) => JSON.stringify(await at(token, `pages/${name}${path}`))),
        ),
      );
    for (const path of ['', '/components', '/incidents/x', '/metrics', '/subscribers'])
      expect([...(await answers(path))]).toEqual([expect.stringContaining('Not found.')]);
    expect((await at(token, 'pages/acme/subscribers'))[0]).toBe(403);
    const [status, body] = await at(`Bearer ${OPERATOR}`, `pages?api_key=${token}`);
    expect([status, body]).toEqual([401, expect.stringContaining('addresses end up in logs')]);
    expect(body).not.toContain(token);
  });

  it('exports what was made as configuration, which then takes its place', async () => {
    const group = await make('component-groups', { component_group: { name: 'Søk: "beta"', components: [] } });
    const one = await make('components', { component: { name: '検索', group_id: group.id, description: 'Yes: no' } });
    const exported = await command('components', 'export');
    expect([exported.status, exported.stderr]).toEqual([0, '']);
    const { pages } = parse(exported.stdout);
    expect(pages).toMatchObject([
      {
        slug: 'acme',
        groups: [{ name: 'Søk: "beta"' }],
        components: [{ type: 'static', name: '検索', description: 'Yes: no' }],
      },
    ]);
    const [{ groups, components }] = pages;
    const pasted = CONFIG.replace(
      'groups: [{ id: core, name: Core }]',
      `groups: [{ id: core, name: Core }, ${JSON.stringify(groups[0])}]`,
    ).replace('    components:\n', `    components:\n      - ${JSON.stringify(components[0])}\n`);
    await pharos.stop();
    pharos = await startWritingSite(folder.path, pasted, env);
    const { body } = await call('GET', `components/${one.id}`);
    expect(body).toMatchObject({ id: one.id, name: '検索', group_id: group.id });
    expect((await call('PATCH', `components/${one.id}`, { component: { name: 'Mine' } })).status).toBe(409);
    await pharos.stop();
    pharos = await startWritingSite(folder.path, CONFIG, env);
    await call('DELETE', `components/${one.id}`);
    await call('DELETE', `component-groups/${group.id}`);
  });

  it('keeps components with their page: through incidents, deletion, a page that ends and begins again, and restarts', async () => {
    const kept = await make('components', { component: { name: 'Kept' } });
    const search = await make('components', { component: { name: 'Search' } });
    const incident = await make('incidents', {
      incident: { name: 'Slow', components: { [search.id]: 'major_outage' } },
    });
    await call('PATCH', `components/${search.id}`, { component: { status: 'partial_outage' } });
    expect((await v2('components')).components.at(-1)).toMatchObject({ name: 'Search', status: 'major_outage' });
    await call('DELETE', `components/${search.id}`);
    expect(await names()).toEqual(['Core', 'API', 'Website', 'Kept']);
    expect((await call('GET', `incidents/${incident.id}`)).body).toMatchObject({ name: 'Slow', components: [] });
    expect((await call('PATCH', `incidents/${incident.id}`, { incident: { status: 'resolved' } })).status).toBe(200);
    const again = await make('components', { component: { name: 'Search' } });
    expect(again.id).not.toBe(search.id);
    expect(again.status).toBe('operational');
    const checked = await command('check');
    expect([checked.status, checked.stdout + checked.stderr]).toEqual([0, expect.not.stringContaining('earch')]);

    await pharos.stop();
    pharos = await startWritingSite(folder.path, CONFIG, env);
    expect(await names()).toEqual(['Core', 'API', 'Website', 'Kept', 'Search']);
    // Another page under the same slug has none of it.
    const start = CONFIG.indexOf('  - slug: acme');
    const without = CONFIG.slice(0, start) + CONFIG.slice(CONFIG.indexOf('  - slug: inner'));
    await pharos.stop();
    pharos = await startWritingSite(folder.path, without, env);
    expect((await call('GET', 'components')).status).toBe(404);
    await pharos.stop();
    pharos = await startWritingSite(folder.path, CONFIG, env);
    expect(await names()).toEqual(['Core', 'API', 'Website']);
    expect((await call('GET', `components/${kept.id}`)).status).toBe(404);
    const fresh = await make('components', { component: { name: 'Fresh' } });
    await pharos.stop();
    // Until it is given the identity of the page that was.
    writeFileSync(join(folder.path, 'pharos.yaml'), CONFIG);
    expect((await command('pages', 'adopt', 'acme~1', 'acme')).status).toBe(0);
    pharos = await startWritingSite(folder.path, CONFIG, env);
    expect(await names()).toEqual(['Core', 'API', 'Website', 'Kept', 'Search']);
    expect((await call('GET', `components/${fresh.id}`)).status).toBe(404);
  });
});
