import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/in-process.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { STATUSPAGE_CLIENTS, type StatuspageClient, sendRaw } from '../helpers/statuspage-clients.ts';
import { callApi, startWritingSite, WRITING_ENV } from '../helpers/writing-site.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
type Json = any;

const PAST = 120;

describe('programs that write to Statuspage', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;
  /** What an operator gives such a program: an address, the id of a page and a token for it. */
  let page: string;
  let component: string;
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    pharos = await startWritingSite(folder.path);
    const scopes = ['incidents', 'components'].flatMap((scope) => ['--scope', scope]);
    // Each has its own, since a token is limited to some requests a minute.
    for (const { name } of STATUSPAGE_CLIENTS) {
      const made = await runHere(['tokens', 'create', '--json', '--page', 'acme', ...scopes], {
        cwd: folder.path,
        env: WRITING_ENV,
      });
      tokens.set(name, JSON.parse(made.stdout).token);
    }
    page = (await callApi(pharos.url, 'GET', 'pages/acme')).body.id;
    component = (await callApi(pharos.url, 'GET', 'pages/acme/components')).body[0].id;
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  let calls = 0;
  /** As the program sends it. */
  async function send(
    client: StatuspageClient,
    method: string,
    path: string,
    body: unknown = null,
    headers = client.headers,
  ) {
    calls += 1;
    const [place, query = ''] = path.split('?');
    const answer = await sendRaw(`${pharos.url}/-/v1/${place}${client.suffix}${query === '' ? '' : `?${query}`}`, {
      method,
      headers: {
        ...headers,
        authorization: client.authorization(tokens.get(client.name) ?? ''),
        'x-forwarded-for': `203.0.113.${calls % 250}`,
      },
      body: body === null ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const parsed: Json = answer.text.trim() === '' ? null : JSON.parse(answer.text);
    return { status: answer.status, body: parsed };
  }
  /** The page follows a write soon; on a busy machine, after the answer. */
  async function expectState(wanted: string): Promise<void> {
    const state = async (): Promise<string> =>
      (await (await fetch(`${pharos.url}/acme/api/v2/components.json`)).json()).components[0].status;
    expect(await eventually(state, (status) => status === wanted)).toBe(wanted);
  }

  describe.each(STATUSPAGE_CLIENTS)('$name', (client) => {
    it('creates, updates and resolves an incident, under the ids that it was given', async () => {
      const said = client.incident({
        name: 'Errors',
        status: 'identified',
        body: 'We look.',
        component,
        state: 'major_outage',
      });
      const created = await send(client, 'POST', `pages/${page}/incidents`, { incident: said });
      expect([created.status, created.body.error]).toEqual([201, undefined]);
      const { id, page_id: where } = created.body;
      expect(created.body).toMatchObject({ name: 'Errors', status: 'identified' });
      expect(created.body.incident_updates[0].body).toBe('We look.');
      const declares = JSON.stringify(said).includes('major_outage');
      await expectState(declares ? 'major_outage' : 'operational');

      const updated = await send(client, client.update, `pages/${where}/incidents/${id}`, {
        incident: client.incident({
          status: 'monitoring',
          body: 'Better.',
          component,
          state: 'degraded_performance',
        }),
      });
      expect([updated.status, updated.body.status]).toEqual([200, 'monitoring']);
      expect(updated.body.incident_updates[0].body).toBe('Better.');
      expect(updated.body.name).toBe('Errors');

      const resolved = await send(client, client.update, `pages/${where}/incidents/${id}`, {
        incident: client.incident({ status: 'resolved', body: 'Over.', component, state: 'operational' }),
      });
      expect([resolved.status, resolved.body.status, resolved.body.error]).toEqual([200, 'resolved', undefined]);
      await expectState('operational');
      const read = await send(client, 'GET', `pages/${where}/incidents/${id}`);
      expect(read.body).toMatchObject({ id, page_id: page, status: 'resolved' });
      const removed = await send(client, 'DELETE', `pages/${where}/incidents/${id}`);
      expect([200, 204]).toContain(removed.status);
      if (client.readsDeleted) expect(removed.body.id).toBe(id);
    });
  });

  it.each(STATUSPAGE_CLIENTS.filter(({ component: makes }) => makes !== null))(
    '$name makes, reads, changes and deletes a component',
    async (client) => {
      const make = client.component ?? (() => ({}));
      const created = await send(client, 'POST', `pages/${page}/components`, {
        component: make('Search', 'operational'),
      });
      expect([created.status, created.body.name, created.body.status]).toEqual([201, 'Search', 'operational']);
      const place = `pages/${created.body.page_id}/components/${created.body.id}`;
      const changed = await send(client, 'PATCH', place, { component: make('Find', 'partial_outage') });
      expect([changed.status, changed.body.name, changed.body.status]).toEqual([200, 'Find', 'partial_outage']);
      // What was set is what is read, so that a plan of Terraform comes out empty.
      const read = await send(client, 'GET', place);
      const { description, ...rest }: Json = make('Find', 'partial_outage');
      expect(read.body).toMatchObject({ ...rest, description: description === '' ? null : description });
      const group = await send(client, 'POST', `pages/${page}/component-groups`, {
        component_group: { name: 'Group', components: [read.body.id] },
      });
      expect([group.status, group.body.components]).toEqual([201, [read.body.id]]);
      const ungrouped = await send(client, 'DELETE', `pages/${page}/component-groups/${group.body.id}`);
      expect([ungrouped.status, ungrouped.body.id]).toEqual([200, group.body.id]);
      expect((await send(client, 'DELETE', place)).status).toBe(204);
      expect((await send(client, 'GET', place)).status).toBe(404);
    },
  );

  const clientOf = (source: string): StatuspageClient => {
    const found = STATUSPAGE_CLIENTS.find((client) => client.source.startsWith(source));
    if (found === undefined) throw new Error(`no client of ${source}`);
    return found;
  };

  it('a bridge from Prometheus resolves what it opened by its component, and nothing else', async () => {
    const bridge = clientOf('nathandeamer/');
    const at = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
    const planned = await callApi(pharos.url, 'POST', 'pages/acme/incidents', {
      body: { incident: { name: 'Later', scheduled_for: at(60), scheduled_until: at(90), component_ids: ['api'] } },
    });
    /** One webhook of Alertmanager: the bridge looks for open incidents with the component. */
    async function alert(said: { status: string; body: string; state: string }): Promise<readonly Json[]> {
      const { body: open } = await send(bridge, 'GET', `pages/${page}/incidents/unresolved`);
      const known = open.filter(({ components }: Json) => components.some(({ id }: Json) => id === component));
      if (known.length === 0 && said.status !== 'resolved') {
        const incident = bridge.incident({ ...said, name: 'Uh oh', component });
        return [await send(bridge, 'POST', `pages/${page}/incidents`, { incident })];
      }
      return Promise.all(
        known.map(({ id, page_id: where }: Json) =>
          send(bridge, 'PATCH', `pages/${where}/incidents/${id}`, {
            incident: bridge.incident({ ...said, component }),
          }),
        ),
      );
    }
    const [opened] = await alert({ status: 'identified', body: 'One.', state: 'degraded_performance' });
    expect(opened.status).toBe(201);
    const again = await alert({ status: 'identified', body: 'Two.', state: 'major_outage' });
    expect(again.map(({ status, body }) => [status, body.id])).toEqual([[200, opened.body.id]]);
    await expectState('major_outage');
    // An alert that says no state: the component is affected, and stays as it is.
    await alert({ status: 'identified', body: 'Three.', state: '' });
    await expectState('major_outage');
    const over = await alert({ status: 'resolved', body: 'Fixed.', state: 'operational' });
    expect(over.map(({ status, body }) => [status, body.id, body.status])).toEqual([[200, opened.body.id, 'resolved']]);
    await expectState('operational');
    expect(await alert({ status: 'resolved', body: 'Fixed.', state: 'operational' })).toEqual([]);
    const { body: still } = await callApi(pharos.url, 'GET', `pages/acme/incidents/${planned.body.id}`);
    expect(still.status).toBe('scheduled');
    for (const { id } of [opened.body, planned.body]) await callApi(pharos.url, 'DELETE', `pages/acme/incidents/${id}`);
  });

  it('qontract-reconcile plans a maintenance, and finds it among those that are planned', async () => {
    const reconcile = clientOf('app-sre/');
    const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().replace('Z', '+00:00');
    const told = { auto_transition_deliver_notifications_at_start: null, scheduled_remind_prior: false };
    const set = { scheduled_auto_transition: true, scheduled_auto_in_progress: true, scheduled_auto_completed: true };
    const window = { scheduled_for: at(1), scheduled_until: at(2) };
    const said = { name: 'New disks', status: 'scheduled', body: 'We replace disks.', component_ids: [component] };
    const incident = { ...said, ...window, ...told, ...set, auto_transition_to_maintenance_state: true };
    const created = await send(reconcile, 'POST', `pages/${page}/incidents`, { incident });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    const { body: planned } = await send(reconcile, 'GET', `pages/${page}/incidents/scheduled?page=1&per_page=100`);
    const [found] = planned.filter(({ id }: Json) => id === created.body.id);
    expect(found).toMatchObject({ name: 'New disks', components: [{ id: component }], scheduled_remind_prior: false });
    expect(found.incident_updates[0].body).toBe('We replace disks.');
    expect([Date.parse(found.scheduled_for), Date.parse(found.scheduled_until)]).toEqual([
      Date.parse(window.scheduled_for),
      Date.parse(window.scheduled_until),
    ]);
    const running = await send(reconcile, 'GET', `pages/${page}/incidents/active_maintenance?page=1&per_page=100`);
    expect(running).toEqual({ status: 200, body: [] });
    await callApi(pharos.url, 'DELETE', `pages/acme/incidents/${created.body.id}`);
  });

  it('hubot puts a component that it finds by its name into a state, and back', async () => {
    const hubot = clientOf('stephenyeargin/');
    const { body: components } = await send(hubot, 'GET', `pages/${page}/components`);
    const [api] = components.filter(({ name }: Json) => name === 'API');
    for (const status of ['degraded_performance', 'operational']) {
      const set = await send(hubot, 'PATCH', `pages/${page}/components/${api.id}`, { component: { status } });
      expect([set.status, set.body.status, set.body.error]).toEqual([200, status, undefined]);
    }
    const refused = await send(hubot, 'PATCH', `pages/${page}/components/${api.id}`, {
      component: { status: 'on fire' },
    });
    expect(refused.body.error).toEqual([expect.stringContaining('component.status')]);
  });

  describe('of a page with a long past', () => {
    // Every write reads what was written before.
    beforeAll(async () => {
      const incident = { name: 'Long over', backfilled: true, backfill_date: '2026-01-05' };
      await Promise.all(
        Array.from({ length: PAST }, () => callApi(pharos.url, 'POST', 'pages/acme/incidents', { body: { incident } })),
      );
    });

    it.each(STATUSPAGE_CLIENTS)('$name reads all of its lists, and comes to their end', async (client) => {
      const lists = ['incidents', 'components'];
      for (const list of lists) {
        const found: string[] = [];
        for (let nth = 1; nth < 10; nth += 1) {
          const { status, body } = await send(client, 'GET', `pages/${page}/${list}${client.listed?.(nth) ?? ''}`);
          expect([status, Array.isArray(body)]).toEqual([200, true]);
          found.push(...body.map(({ id }: Json) => id));
          if (client.listed === null || body.length === 0) break;
        }
        const whole = list === 'incidents' ? PAST : 2;
        expect(new Set(found).size).toBe(client.listed === null ? Math.min(100, whole) : whole);
        expect(found.length).toBe(new Set(found).size);
      }
      expect((await send(client, 'GET', `pages/${page}/incidents/unresolved`)).body).toEqual([]);
    });

    it('Ocean finds its pages, groups and components until a list is empty', async () => {
      const ocean = clientOf('port-labs/');
      const all = async (path: string): Promise<Json[]> => {
        const found: Json[] = [];
        for (let nth = 1; ; nth += 1) {
          const { status, body } = await send(ocean, 'GET', `${path}${path.includes('?') ? '&' : '?'}page=${nth}`);
          expect([status, nth < 10]).toEqual([200, true]);
          if (body.length === 0) return found;
          found.push(...body);
        }
      };
      expect((await all('pages')).map(({ id }) => id)).toEqual([page]);
      expect((await send(ocean, 'GET', `pages/${page}`)).body).toMatchObject({ id: page, name: 'Acme' });
      expect(await all(`pages/${page}/component-groups?per_page=50`)).toEqual([]);
      expect(await all(`pages/${page}/components?per_page=50`)).toHaveLength(2);
      expect(await all(`pages/${page}/incidents?limit=50`)).toHaveLength(PAST);
    });

    it('the client for Go finds incidents by a form in the body of a GET', async () => {
      const looqbox = clientOf('looqbox/');
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const found = await send(looqbox, 'GET', `pages/${page}/incidents`, 'q=no such words', form);
      expect(found).toEqual({ status: 200, body: [] });
      expect((await send(looqbox, 'GET', `pages/${page}/incidents`, '', form)).body).toHaveLength(100);
    });
  });
});
