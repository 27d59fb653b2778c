import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOCUMENTED_KEYS, documentedOperations } from '../../scripts/statuspage-operations.ts';
import { type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { callApi, placeOf, SUBSCRIBING_CONFIG, startWritingSite } from '../helpers/writing-site.ts';

type Json = Record<string, unknown>;
type Entity = keyof typeof DOCUMENTED_KEYS;

/** What an operation is sent, and what its answer is. */
const HERE: Readonly<Record<string, readonly [Entity | null, unknown?]>> = {
  'GET pages/{page_id}/incident_templates': ['IncidentTemplate'],
  'GET pages': ['Page'],
  'GET pages/{page_id}': ['Page'],
  'GET pages/{page_id}/subscribers': ['Subscriber'],
  'POST pages/{page_id}/subscribers': ['Subscriber', { subscriber: { email: 'new@example.org' } }],
  'GET pages/{page_id}/subscribers/{subscriber_id}': ['Subscriber'],
  'DELETE pages/{page_id}/subscribers/{subscriber_id}': ['Subscriber'],
  'GET pages/{page_id}/incidents': ['Incident'],
  'POST pages/{page_id}/incidents': ['Incident', { incident: { name: 'Another' } }],
  'GET pages/{page_id}/incidents/active_maintenance': ['Incident'],
  'GET pages/{page_id}/incidents/upcoming': ['Incident'],
  'GET pages/{page_id}/incidents/scheduled': ['Incident'],
  'GET pages/{page_id}/incidents/unresolved': ['Incident'],
  'DELETE pages/{page_id}/incidents/{incident_id}': ['Incident'],
  'GET pages/{page_id}/incidents/{incident_id}': ['Incident'],
  'PATCH pages/{page_id}/incidents/{incident_id}': ['Incident', { incident: { body: 'More.' } }],
  'PUT pages/{page_id}/incidents/{incident_id}': ['Incident', { incident: { body: 'More.' } }],
  'PATCH pages/{page_id}/incidents/{incident_id}/incident_updates/{incident_update_id}': [
    'IncidentUpdate',
    { incident_update: { body: 'Better words.' } },
  ],
  'PUT pages/{page_id}/incidents/{incident_id}/incident_updates/{incident_update_id}': [
    'IncidentUpdate',
    { incident_update: { body: 'Better words.' } },
  ],
  'DELETE pages/{page_id}/incidents/{incident_id}/postmortem': [null],
  'GET pages/{page_id}/incidents/{incident_id}/postmortem': ['Postmortem'],
  'PUT pages/{page_id}/incidents/{incident_id}/postmortem': ['Postmortem', { postmortem: { body_draft: 'Why.' } }],
  'PUT pages/{page_id}/incidents/{incident_id}/postmortem/publish': ['Postmortem', { postmortem: {} }],
  'PUT pages/{page_id}/incidents/{incident_id}/postmortem/revert': ['Postmortem'],
  'GET pages/{page_id}/components': ['Component'],
  'POST pages/{page_id}/components': ['Component', { component: { name: 'Another' } }],
  'DELETE pages/{page_id}/components/{component_id}': [null],
  'GET pages/{page_id}/components/{component_id}': ['Component'],
  'PATCH pages/{page_id}/components/{component_id}': ['Component', { component: { description: 'Changed' } }],
  'PUT pages/{page_id}/components/{component_id}': ['Component', { component: { status: 'operational' } }],
  'GET pages/{page_id}/component-groups': ['GroupComponent'],
  'POST pages/{page_id}/component-groups': ['GroupComponent', { component_group: { name: 'Core', components: [] } }],
  'DELETE pages/{page_id}/component-groups/{id}': ['GroupComponent'],
  'GET pages/{page_id}/component-groups/{id}': ['GroupComponent'],
  'PATCH pages/{page_id}/component-groups/{id}': ['GroupComponent', { component_group: { name: 'Renamed' } }],
  'PUT pages/{page_id}/component-groups/{id}': ['GroupComponent', { component_group: { name: 'Renamed' } }],
};

/** Names and values of a form, as curl would be given them. */
function formOf(value: unknown, name = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, part]) => formOf(part, name === '' ? key : `${name}[${key}]`));
}

describe('every documented operation of Statuspage', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;

  beforeAll(async () => {
    const templates =
      '    incident_templates: [{ name: Slow, title: Searches are slow }]\n    components:\n      - { id: api';
    const config = SUBSCRIBING_CONFIG.replace('    components:\n      - { id: api', templates);
    pharos = await startWritingSite(folder.path, config);
    // Something for each of the lists.
    await placeOf(pharos.url, '{component}{group}{subscriber}');
    const at = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
    for (const [from, to] of [
      [-10, 60],
      [60, 90],
    ] as const)
      await callApi(pharos.url, 'POST', 'pages/acme/incidents', {
        body: { incident: { name: 'Planned', scheduled_for: at(from), scheduled_until: at(to) } },
      });
    await callApi(pharos.url, 'POST', 'pages/acme/incidents', { body: { incident: { name: 'Open' } } });
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  /** With our names of parameters. */
  const placeIn = (path: string): Promise<string> =>
    placeOf(
      pharos.url,
      path
        .replace('component-groups/{id}', 'component-groups/{group}')
        .replace('{incident_update_id}', '{update}')
        .replaceAll('_id}', '}'),
    );

  const rows = documentedOperations();
  const isHere = ({ verdict }: (typeof rows)[number]): boolean => verdict !== 'not here';

  it('has a row with its test', () => {
    expect(rows.length).toBe(112);
    expect(
      rows
        .filter(isHere)
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    ).toEqual(Object.keys(HERE).toSorted());
  });

  it.each(rows.filter(isHere))('$method $path answers as documented', async ({ method, path, status }) => {
    const [entity, body] = HERE[`${method} ${path}`] ?? [null];
    // Whoever was only just added has not confirmed.
    const query = path.endsWith('/subscribers') && method === 'GET' ? '?state=all' : '';
    const answer = await callApi(pharos.url, method, (await placeIn(path)) + query, { body });
    expect([answer.status, answer.body]).toEqual([status, expect.anything()]);
    if (entity === null) return expect(answer.body).toBe('');
    const items: readonly Json[] = Array.isArray(answer.body) ? answer.body : [answer.body];
    expect(items.length).toBeGreaterThan(0);
    for (const item of items)
      expect(Object.keys(item)).toEqual(expect.arrayContaining(DOCUMENTED_KEYS[entity].split(' ')));
  });

  it.each(rows.filter(({ method, path }) => HERE[`${method} ${path}`]?.[1] !== undefined))(
    '$method $path takes a form as well',
    async ({ method, path, status }) => {
      const fields = formOf(HERE[`${method} ${path}`]?.[1]).map(([name, value]): [string, string] => [
        name,
        // Whoever was added above is there already.
        value.replace('new@', 'form@'),
      ]);
      const answer = await callApi(pharos.url, method, await placeIn(path), {
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect([answer.status, answer.body]).toEqual([status, expect.anything()]);
    },
  );

  it.each(rows.filter((row) => !isHere(row)))('$method $path says why it is not here', async (row) => {
    const { method, path, note } = row;
    const answer = await callApi(pharos.url, method, path.replace('{page_id}', 'acme').replaceAll(/\{\w+\}/g, 'x'), {
      body: method === 'GET' ? undefined : {},
    });
    expect([404, 409]).toContain(answer.status);
    expect(answer.body).toMatchObject({ error: [note], message: note });
    expect(note).toMatch(/^[A-Z].+\.$/);
  });
});
