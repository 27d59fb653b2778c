import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { startUnlimitedSandbox, unlimitedConfig } from '../helpers/sandbox.ts';
import { startWarm } from '../helpers/warm.ts';
import { callApi } from '../helpers/writing-site.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

type Story = {
  readonly id: string;
  readonly name: string;
  readonly shortlink: string;
  readonly version: number | null;
};

describe('an outage that was detected', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;

  beforeAll(async () => {
    sandbox = await startUnlimitedSandbox();
    const config = unlimitedConfig(sandbox).replace('slug: acme', 'slug: acme\n    incidents: { after: 1s }');
    writeFileSync(join(folder.path, 'pharos.yaml'), `${config}schedule: "* * * * * *"\n`);
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
    await untilFresh(pharos);
  });
  afterAll(async () => {
    await pharos?.stop();
    await sandbox?.stop();
    folder.remove();
  });

  const token = (): string => sandbox.environment()['PHAROS_TOKEN'] ?? '';
  const api = (method: string, path: string, body?: unknown) =>
    callApi(pharos.url, method, `pages/acme/${path}`, { token: token(), body });
  const published = async (): Promise<readonly Story[]> =>
    (await (await fetch(`${pharos.url}/acme/api/v2/incidents/unresolved.json`)).json()).incidents;

  it('is taken over by the incident that an operator declares, with its id and address', async () => {
    sandbox.world.force('website', 'down');
    const [detected] = await eventually(published, (found) => found.length === 1);
    const { body: listed } = await api('GET', 'incidents/unresolved');
    expect(listed.map(({ id, version }: Story) => [id, version])).toEqual([[detected?.id, null]]);
    const { components } = await (await fetch(`${pharos.url}/acme/api/v2/components.json`)).json();
    const down = components.filter(({ status, group }: Record<string, unknown>) => status === 'major_outage' && !group);
    const declared = await api('POST', 'incidents', {
      incident: { name: 'The website is down', component_ids: down.map(({ id }: Story) => id) },
    });
    expect([declared.status, declared.body.id, declared.body.version]).toEqual([201, detected?.id, 1]);
    expect(declared.body.shortlink).toBe(detected?.shortlink);
    expect((await published()).map(({ id, name }) => [id, name])).toEqual([[detected?.id, 'The website is down']]);

    const updated = await api('PATCH', `incidents/${detected?.id}`, {
      incident: { status: 'identified', body: 'A switch.' },
    });
    expect([updated.status, updated.body.id, updated.body.status]).toEqual([200, detected?.id, 'identified']);
    sandbox.world.force('website', null);
    const over = await api('PATCH', `incidents/${detected?.id}`, { incident: { status: 'resolved' } });
    expect([over.body.id, over.body.status]).toEqual([detected?.id, 'resolved']);
    expect(await eventually(published, ({ length }) => length === 0)).toEqual([]);
  });

  it('is taken over by whoever updates it under its id, as a bridge that looks for open incidents does', async () => {
    sandbox.world.force('api', 'down');
    const [detected] = await eventually(published, (found) => found.length === 1);
    const { body: listed } = await api('GET', 'incidents/unresolved');
    const [{ components, page_id: page }] = listed;
    expect(listed.map(({ id, version }: Story) => [id, version])).toEqual([[detected?.id, null]]);
    const at = (id: string | undefined) => `pages/${page}/incidents/${id}`;
    const update = (incident: unknown) =>
      callApi(pharos.url, 'PATCH', at(detected?.id), { token: token(), body: { incident } });
    const [{ id: component }] = components;
    const taken = await update({
      status: 'identified',
      body: 'A certificate.',
      components: { [component]: 'major_outage' },
    });
    expect([taken.status, taken.body.id, taken.body.version]).toEqual([200, detected?.id, 1]);
    expect(taken.body).toMatchObject({ name: detected?.name, status: 'identified', shortlink: detected?.shortlink });
    expect((await published()).map(({ id }) => id)).toEqual([detected?.id]);
    sandbox.world.force('api', null);
    const over = await update({ status: 'resolved', components: { [component]: 'operational' } });
    expect([over.status, over.body.id, over.body.status]).toEqual([200, detected?.id, 'resolved']);
    expect((await callApi(pharos.url, 'DELETE', at(detected?.id), { token: token() })).status).toBe(200);
  });
});
