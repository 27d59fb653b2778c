import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runHere } from '../helpers/in-process.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { startWarm } from '../helpers/warm.ts';
import {
  type ApiAnswer,
  callApi,
  OPERATOR,
  startWritingSite,
  WRITING_CONFIG,
  WRITING_ENV,
} from '../helpers/writing-site.ts';

const CONFIG = WRITING_CONFIG.replace('name: Example }', 'name: Example, locales: [en, de, ja] }');

describe('texts in several languages over the API', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;
  beforeAll(async () => {
    pharos = await startWritingSite(folder.path, CONFIG);
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  const call = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
    callApi(pharos.url, method, `pages/acme/${path}`, { body });
  /** The page in a language once it says something, or no longer does. */
  const shows = async (path: string, text: string, isThere = true): Promise<string> =>
    (
      await eventually(
        async () => (await fetch(`${pharos.url}/acme/${path}`)).text(),
        (html) => html.includes(text) === isThere,
      )
    ).toString();
  const restart = async () => {
    await pharos.stop();
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env: WRITING_ENV });
  };

  it('come, change, go, and are the same after a restart', async () => {
    const made = await call('POST', 'incidents', {
      incident: {
        ...{ name: 'Sign-in is slow', body: 'We are looking.', component_ids: ['api'] },
        translations: { de: { title: 'Anmelden dauert', body: 'Wir sehen nach.' }, ja: { title: 'ログインが遅い' } },
      },
    });
    expect([made.status, made.body]).toEqual([201, expect.anything()]);
    const { id, incident_updates: updates } = made.body;
    await shows('de/', 'Anmelden dauert');
    expect(await shows('de/', 'Wir sehen nach.')).not.toContain('Sign-in is slow');
    // Of two texts one is translated into Japanese.
    expect(await shows('ja/', 'ログインが遅い')).toContain(
      '<div class="prose" lang="en" dir="auto"><p>We are looking.',
    );

    const change = (translations: unknown) => call('PATCH', `incidents/${id}`, { incident: { translations } });
    expect((await change({ de: { title: 'Anmelden dauert lange' } })).status).toBe(200);
    await shows('de/', 'Anmelden dauert lange');
    const update = (translations: unknown) =>
      call('PATCH', `incidents/${id}/incident_updates/${updates[0].id}`, { incident_update: { translations } });
    expect((await update({ de: { body: 'Wir sehen uns das an.' } })).status).toBe(200);
    await shows('de/', 'Wir sehen uns das an.');

    await restart();
    expect(await shows('de/', 'Anmelden dauert lange')).toContain('Wir sehen uns das an.');

    // One text goes, then a whole language; the other stays.
    expect((await update({ de: { body: null } })).status).toBe(200);
    await shows('de/', '<div class="prose" lang="en" dir="auto"><p>We are looking.');
    expect((await change({ de: null })).status).toBe(200);
    expect(await shows('de/', 'Anmelden dauert lange', false)).toContain('lang="en" dir="auto">Sign-in is slow');
    expect(await shows('ja/', 'ログインが遅い')).not.toContain('Sign-in is slow</a>');

    await restart();
    expect(await shows('de/', 'Sign-in is slow')).not.toContain('Anmelden');
    expect((await fetch(`${pharos.url}/acme/`).then((answer) => answer.text())).includes('Anmelden')).toBe(false);
  });

  it('are refused with their place where they are no texts or no languages', async () => {
    for (const translations of [
      { deutsch_: { title: 'x' } },
      { de: { title: '' } },
      { de: { name: 'x' } },
      { de: 'x' },
    ]) {
      const { status, body } = await call('POST', 'incidents', { incident: { name: 'x', translations } });
      expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('translations')]);
    }
  });

  it('of components and groups are kept, shown, exported and taken away', async () => {
    const group = await call('POST', 'component-groups', {
      component_group: { name: 'Core', names: { de: 'Kern' }, components: [] },
    });
    expect([group.status, group.body.names]).toEqual([201, { de: 'Kern' }]);
    const made = await call('POST', 'components', {
      component: { name: 'Search', names: { de: 'Suche', ja: '検索' }, group_id: group.body.id },
    });
    expect([made.status, made.body.names]).toEqual([201, { de: 'Suche', ja: '検索' }]);
    const german = await shows('de/', '>Suche</a>');
    expect(german).toContain('Kern');
    expect(await shows('ja/', '検索')).toContain('<span lang="en" dir="auto">Core</span>');
    expect(await shows('', 'Search')).not.toContain('Suche');

    const { stdout } = await runHere(['components', 'export'], { cwd: folder.path, env: WRITING_ENV });
    expect(parse(stdout).pages[0]).toMatchObject({
      groups: [{ name: 'Core', names: { de: 'Kern' } }],
      components: [{ name: 'Search', names: { de: 'Suche', ja: '検索' } }],
    });
    const change = (names: unknown) => call('PATCH', `components/${made.body.id}`, { component: { names } });
    expect((await change({ de: 'Finden', ja: null })).body.names).toEqual({ de: 'Finden' });
    await shows('de/', '>Finden</a>');
    await shows('ja/', 'lang="en" dir="auto">Search</a>');
    // Of components that are defined elsewhere only what is there already.
    const elsewhere = await callApi(pharos.url, 'PATCH', 'pages/acme/components/api', {
      body: { component: { names: { de: 'Schnittstelle' } } },
      token: OPERATOR,
    });
    expect([elsewhere.status, JSON.stringify(elsewhere.body)]).toEqual([409, expect.stringContaining('names')]);
    await restart();
    expect(await shows('de/', '>Finden</a>')).toContain('Kern');
  });
});
