/** The clock of the machine was minutes ahead when people wrote, and is corrected: what they said has happened. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningPharos, startPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { callApi, WRITING_CONFIG, WRITING_ENV } from '../helpers/writing-site.ts';

const AHEAD_MS = 240_000;

describe('a clock that is set back', () => {
  const folder = temporaryFolder();
  const clock = join(folder.path, 'clock');
  let pharos: RunningPharos;

  beforeAll(async () => {
    writeFileSync(join(folder.path, 'pharos.yaml'), WRITING_CONFIG);
    writeFileSync(clock, String(AHEAD_MS));
    const flag = `--import=${new URL('../helpers/jumping-clock.mjs', import.meta.url).href}`;
    const env = { ...WRITING_ENV, PHAROS_TEST_CLOCK: clock, NODE_OPTIONS: flag };
    pharos = await startPharos(['start', '--port', '0'], { cwd: folder.path, env });
    await untilFresh(pharos);
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  const shows = (...states: readonly string[]) =>
    vi.waitFor(
      async () => {
        const { components } = await (await fetch(`${pharos.url}/acme/api/v2/summary.json`)).json();
        expect(components.map(({ name, status }: Record<string, string>) => `${name} ${status}`)).toEqual(states);
      },
      { timeout: 20_000, interval: 100 },
    );
  const declare = async (name: string, component: string) => {
    const incident = { name, body: `${name}: we look into it.`, components: { [component]: 'major_outage' } };
    const { status, body } = await callApi(pharos.url, 'POST', 'pages/acme/incidents', { body: { incident } });
    expect(status).toBe(201);
    return body.id as string;
  };

  it('hides nothing that was said before, and lets it end', async () => {
    const first = await declare('API is down', 'api');
    await shows('API major_outage', 'Website operational');
    writeFileSync(clock, '0');
    await vi.waitFor(async () => {
      const { headers } = await fetch(`${pharos.url}/acme/`);
      expect(Date.parse(headers.get('date') ?? '')).toBeLessThan(Date.now() + AHEAD_MS / 2);
    });

    // Anything that is written has the page read and published again.
    await declare('Website is down', 'web');
    await shows('API major_outage', 'Website major_outage');
    const home = await (await fetch(`${pharos.url}/acme/`)).text();
    expect(home).toContain('API is down: we look into it.');

    const place = `pages/acme/incidents/${first}`;
    const { id: update } = (await callApi(pharos.url, 'GET', place)).body.incident_updates[0];
    const edited = await callApi(pharos.url, 'PATCH', `${place}/incident_updates/${update}`, {
      body: { incident_update: { body: 'API is down: we know why.', deliver_notifications: false } },
    });
    expect([edited.status, edited.body.body, edited.body.deliver_notifications]).toEqual([
      200,
      'API is down: we know why.',
      false,
    ]);
    const { status, body } = await callApi(pharos.url, 'PATCH', place, {
      body: { incident: { status: 'resolved', body: 'It works again.', components: { api: 'operational' } } },
    });
    expect([status, body.status]).toEqual([200, 'resolved']);
    const said = body.incident_updates.map(({ body: text, created_at: at }: Record<string, string>) => [text, at]);
    expect(said.map(([text]: [string]) => text)).toEqual(['It works again.', 'API is down: we know why.']);
    expect(said.every(([, at]: [string, string]) => Date.parse(at) <= Date.now())).toBe(true);
    await shows('API operational', 'Website major_outage');
  });
});
