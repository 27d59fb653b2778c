import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiAnswer, callApi, OPERATOR, startWritingSite } from '../helpers/writing-site.ts';
import { type RunningPharos, runPharos, temporaryFolder } from '../helpers/pharos.ts';
import { WRITING_ENV } from '../helpers/writing-site.ts';

describe('the API', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;

  beforeAll(async () => {
    pharos = await startWritingSite(folder.path);
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  const call = (method: string, path: string, options?: Parameters<typeof callApi>[3]): Promise<ApiAnswer> =>
    callApi(pharos.url, method, `pages/acme/${path}`, options);
  const v2 = async (path: string) => (await fetch(`${pharos.url}/acme/api/v2/${path}.json`)).json();
  const page = async (): Promise<string> => (await fetch(`${pharos.url}/acme/`)).text();

  it('declares an incident that every surface tells at once, and resolves it', async () => {
    const declared = await call('POST', 'incidents', {
      body: {
        incident: {
          name: 'Errors at the API',
          status: 'investigating',
          body: 'We are **looking** into it.',
          components: { api: 'major_outage' },
        },
      },
    });
    expect(declared.status).toBe(201);
    expect(declared.body).toMatchObject({ name: 'Errors at the API', status: 'investigating', impact: 'critical', version: 1 });
    const { incidents } = await v2('incidents/unresolved');
    expect(incidents[0]).toMatchObject({ id: declared.body.id, name: 'Errors at the API' });
    const { components } = await v2('components');
    expect(components.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ['API', 'major_outage'],
      ['Website', 'operational'],
    ]);
    expect(await page()).toContain('Errors at the API');
    expect(await (await fetch(`${pharos.url}/acme/feed.atom`)).text()).toContain('Errors at the API');

    const updated = await call('PATCH', `incidents/${declared.body.id}`, {
      body: { incident: { status: 'monitoring', body: 'A fix is out.', components: { api: 'degraded_performance' } } },
    });
    expect(updated.status).toBe(200);
    expect(updated.body).toMatchObject({ id: declared.body.id, status: 'monitoring', impact: 'critical', version: 2 });
    expect(updated.body.incident_updates.map(({ body }: { body: string }) => body)).toEqual([
      'A fix is out.',
      'We are **looking** into it.',
    ]);
    expect((await v2('components')).components[0].status).toBe('degraded_performance');

    const resolved = await call('PATCH', `incidents/${declared.body.id}`, { body: { incident: { status: 'resolved' } } });
    expect(resolved.body).toMatchObject({ status: 'resolved' });
    expect((await v2('incidents/unresolved')).incidents).toEqual([]);
    expect((await v2('components')).components[0].status).toBe('operational');
    expect((await v2('incidents')).incidents[0]).toMatchObject({ id: declared.body.id, status: 'resolved' });
  });
});
