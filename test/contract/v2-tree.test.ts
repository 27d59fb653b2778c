import { describe, expect, it } from 'vitest';
import type { PageModel } from '../../src/model/index.ts';
import { machineFiles } from '../../src/publish/files/files.ts';
import { pageFacts } from '../../src/publish/files/page-facts.ts';
import { pageModel } from '../helpers/page-model.ts';
import {
  calm,
  empty,
  longHistory,
  longNames,
  manyComponents,
  manyIncidents,
  oneComponent,
  outage,
  rightToLeft,
  stale,
} from '../helpers/page-scenes.ts';
import { HOSTILE_TEXTS, hostilePage } from '../unit/views-machine/hostile.ts';
import { V2_ADDRESSES, V2_CLIENT, type V2Address, type V2Answer } from './v2-client.ts';

const SCENES: Readonly<Record<string, () => PageModel>> = {
  'a calm page': calm,
  'an outage': outage,
  'a stale page': stale,
  'an empty page': empty,
  'one component': oneComponent,
  '200 components': () => manyComponents(200),
  '30 open incidents': () => manyIncidents(30),
  '120 past incidents': () => longHistory(120, 5),
  'long names': longNames,
  'right to left': rightToLeft,
};

const noHtml = { render: () => Promise.reject(new Error('JSON needs no HTML')) };

/** What a client gets: the bytes that would be published, parsed. */
async function answer<Address extends V2Address>(model: PageModel, address: Address): Promise<V2Answer<Address>> {
  const entry = machineFiles(pageFacts(model)).find(({ path }) => path === `api/v2/${address}`);
  if (entry === undefined) throw new Error(`nothing is published at api/v2/${address}`);
  const { body } = await entry.draw(noHtml);
  return V2_CLIENT[address].parse(JSON.parse(String(body))) as V2Answer<Address>;
}

describe('the Statuspage v2 tree as a strict client reads it', () => {
  for (const [name, make] of Object.entries(SCENES))
    it(`parses all eight documents of ${name}, every array there`, async () => {
      const model = make();
      for (const address of V2_ADDRESSES) await answer(model, address);
    });

  it('parses all eight documents whatever an upstream writes', async () => {
    for (const text of HOSTILE_TEXTS) for (const address of V2_ADDRESSES) await answer(hostilePage(text), address);
  });

  it('refers only to things that are there', async () => {
    for (const make of Object.values(SCENES)) {
      const summary = await answer(make(), 'summary.json');
      const ids = new Set(summary.components.map(({ id }) => id));
      expect(ids.size).toBe(summary.components.length);
      for (const component of summary.components) {
        expect(component.page_id).toBe(summary.page.id);
        if (component.group_id !== null) expect(ids).toContain(component.group_id);
        if (component.group) for (const id of component.components) expect(ids).toContain(id);
      }
      const { incidents } = await answer(make(), 'incidents.json');
      for (const { id, incident_updates, components } of incidents) {
        for (const component of components) expect(ids).toContain(component.id);
        for (const update of incident_updates) {
          expect(update.incident_id).toBe(id);
          for (const { code } of update.affected_components ?? []) expect(ids).toContain(code);
        }
      }
    }
  });

  it('puts each incident and maintenance where its status says', async () => {
    const model = outage();
    const summary = await answer(model, 'summary.json');
    const unresolved = await answer(model, 'incidents/unresolved.json');
    const all = await answer(model, 'incidents.json');
    const upcoming = await answer(model, 'scheduled-maintenances/upcoming.json');
    const active = await answer(model, 'scheduled-maintenances/active.json');
    expect(unresolved.incidents.map(({ status }) => status)).toEqual(['identified']);
    expect(summary.incidents).toEqual(unresolved.incidents);
    expect(all.incidents).toHaveLength(4);
    expect(all.incidents.slice(1).every(({ resolved_at }) => resolved_at !== null)).toBe(true);
    expect(upcoming.scheduled_maintenances.map(({ status }) => status)).toEqual(['scheduled']);
    expect(active.scheduled_maintenances.map(({ status }) => status)).toEqual(['in_progress']);
    expect(summary.scheduled_maintenances).toEqual([
      ...active.scheduled_maintenances,
      ...upcoming.scheduled_maintenances,
    ]);
  });

  it('gives the 50 newest of many incidents, newest first', async () => {
    const { incidents } = await answer(longHistory(120, 5), 'incidents.json');
    expect(incidents).toHaveLength(50);
    expect(incidents.map(({ name }) => name)).toEqual(
      Array.from({ length: 50 }, (_, index) => `Incident number ${index}`),
    );
  });

  it('gives updates newest first, each in the status it left the incident in', async () => {
    const { incidents } = await answer(calm(), 'incidents.json');
    const slow = incidents.find(({ name }) => name === 'Search answered slowly');
    expect(slow?.incident_updates.map(({ status }) => status)).toEqual([
      'resolved',
      'monitoring',
      'identified',
      'investigating',
    ]);
    expect(slow?.monitoring_at).toBe(slow?.incident_updates[1]?.created_at);
  });

  it('says of an outage found by a check when it began and ended, though nobody wrote about it', async () => {
    const { incidents } = await answer(calm(), 'incidents.json');
    const found = incidents.find(({ name }) => name === 'Webhooks: connection refused');
    expect(found?.incident_updates.map(({ status, created_at }) => [status, created_at])).toEqual([
      ['resolved', found?.resolved_at],
      ['investigating', found?.started_at],
    ]);
  });

  it('keeps every array when there is nothing at all', async () => {
    const model = pageModel({ components: [] });
    const summary = await answer(model, 'summary.json');
    expect([summary.components, summary.incidents, summary.scheduled_maintenances]).toEqual([[], [], []]);
    expect(summary.status).toEqual({ indicator: 'minor', description: 'Status Unknown' });
  });
});
