import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/pharos.ts';
import {
  type Answered,
  declare,
  type SubscribingSite,
  startSubscribingSite,
  tokenOf,
} from '../helpers/subscribing-site.ts';
import { runWarm } from '../helpers/warm.ts';
import { callApi, OPERATOR, WRITING_ENV } from '../helpers/writing-site.ts';

const INNER = `  - slug: inner
    title: Inner
    password: "\${PASSWORD}"
    components:
      - { id: vault, type: static, name: Vault }
      - { id: gold, type: static, name: Gold }
`;
const TEAM = `  - slug: team
    title: Team
    access_type: email-domain
    auth_email_domains: [corp.example]
    components:
      - { id: desk, type: static, name: Desk }
      - { id: hall, type: static, name: Hall }
`;
const INNER_ANEW = `  - slug: inner
    title: Another
    components:
      - { id: vault, type: static, name: Front }
      - { id: back, type: static, name: Back }
`;

let site: SubscribingSite;
let config = '';
beforeAll(async () => {
  site = await startSubscribingSite((text) => {
    // A form with one component has nothing to choose from.
    const desk = '      - { id: desk, type: static, name: Desk }\n';
    config = text.replace(desk, `${desk}      - { id: hall, type: static, name: Hall }\n`);
    return config;
  });
});
afterAll(() => site?.close());

/** Presses the button beside a hidden post in the form of operators. */
async function publishInForm(title: string): Promise<void> {
  const send = (path: string, fields: Record<string, string> | null, cookie = '') =>
    fetch(`${site.url()}/-/ops${path}`, {
      ...(fields === null ? {} : { method: 'POST', body: new URLSearchParams(fields) }),
      headers: { cookie, origin: site.url() },
      redirect: 'manual',
    });
  const signedIn = await send('/sign-in', { token: OPERATOR });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const html = await (await send('/write?page=team', null, cookie)).text();
  const story = html.slice(html.indexOf(title));
  expect(story).toContain('hidden, because it was written while the page was private');
  const hidden = [...story.slice(0, story.indexOf('</form>')).matchAll(/name="(\w+)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
  expect(fields['step']).toBe('remove');
  expect(story).toContain('value="reveal"');
  const done = await send('/write', { ...fields, step: 'reveal' }, cookie);
  expect([done.status, done.headers.get('location')]).toEqual([303, 'write?page=team&did=sent']);
}

let reloads = 0;

/** Hands another configuration over, and waits until it is taken. */
async function reload(change: (text: string) => string): Promise<void> {
  config = change(config);
  writeFileSync(join(site.folder, 'pharos.yaml'), config);
  process.kill(site.pharos().pid, 'SIGHUP');
  reloads += 1;
  const taken = await eventually(
    async () => site.pharos().stderr().split('configuration reloaded').length - 1,
    (count) => count >= reloads,
  );
  expect(taken, site.pharos().stderr()).toBe(reloads);
}

const command = (...args: string[]) =>
  runWarm(args, { cwd: site.folder, env: { ...WRITING_ENV, OTHER: 'another password', SMTP: site.sink.url } });

/** All that an answer is, but for when and for which address. */
const bytes = ({ status, headers, body }: Answered, slug: string): string =>
  JSON.stringify([status, [...headers].filter(([name]) => name !== 'date'), body]).replaceAll(
    new RegExp(`\\b${slug}\\b`, 'g'),
    'SLUG',
  );

async function written(slug: string): Promise<string> {
  const paths = ['', 'history/', 'feed.atom', 'feed.rss', 'api/v2/incidents.json', 'api/v2/summary.json'];
  const answers = await Promise.all(paths.map((path) => site.get(`/${slug}/${path}`)));
  for (const { status } of answers) expect(status).toBe(200);
  return answers.map(({ body }) => body).join('\n');
}

describe('a page that is more than its slug', () => {
  it('tells nothing of itself to a subscriber of another page', async () => {
    const manage = await site.subscribe('acme', 'reader@mail.example');
    const erased = await site.subscribe('acme', 'erased@mail.example');
    await site.post('/acme/subscribe/leave/', [['token', tokenOf(erased)]]);
    for (const token of [tokenOf(manage), tokenOf(erased), 'none']) {
      for (const path of ['confirm', 'manage', 'leave']) {
        const get = async (slug: string) => bytes(await site.get(`/${slug}/subscribe/${path}/?token=${token}`), slug);
        const post = async (slug: string) =>
          bytes(
            await site.post(`/${slug}/subscribe/${path}/`, [
              ['token', token],
              ['action', 'save'],
            ]),
            slug,
          );
        // Names of one length, since the answer tells its own.
        for (const [slug, never] of [
          ['inner', 'xyzzy'],
          ['team', 'xyzy'],
        ] as const) {
          expect(await get(slug), `GET ${path}`).toBe(await get(never));
          expect(await post(slug), `POST ${path}`).toBe(await post(never));
        }
      }
    }
  });

  it('leaves posts and tokens behind when it is removed, and another page takes the slug', async () => {
    await declare(site.url(), 'inner', { name: 'Vault is empty', component_ids: ['vault'], body: 'All gold is gone.' });
    const made = await command('tokens', 'create', '--page', 'inner', '--scope', 'incidents', '--json');
    const { token } = JSON.parse(made.stdout) as { token: string };
    expect((await callApi(site.url(), 'GET', 'pages/inner/incidents', { token })).status).toBe(200);

    await reload((text) => text.replace(INNER, ''));
    expect(bytes(await site.get('/inner/'), 'inner')).toBe(bytes(await site.get('/xyzzy/'), 'xyzzy'));
    await reload((text) => text + INNER_ANEW);
    await eventually(
      () => site.get('/inner/'),
      ({ status }) => status === 200,
    );
    const text = await written('inner');
    expect(text).toContain('Front');
    expect(text).not.toMatch(/Vault is|gold is|>Vault</);
    const form = await eventually(
      () => site.get('/inner/subscribe/'),
      ({ body }) => body.includes('Front'),
    );
    expect(form.body).toContain('Front');
    expect(form.body).not.toContain('>Vault<');
    const refused = await callApi(site.url(), 'POST', 'pages/inner/incidents', {
      token,
      body: { incident: { name: 'By the old token' } },
    });
    expect(refused.status).toBe(404);
    expect(await written('inner')).not.toContain('old token');
    const listed = await callApi(site.url(), 'GET', 'pages/inner/incidents');
    expect(listed.body).toEqual([]);
  });

  it('gets back what was kept for it when its operator says so', async () => {
    const listed = await command('pages', 'list', '--json');
    const { pages } = JSON.parse(listed.stdout) as { pages: Record<string, unknown>[] };
    expect(pages.filter(({ origin }) => origin === 'config/inner')).toMatchObject([
      { key: 'inner~1', page: null, posts: 1, tokens: 1 },
      { key: 'inner~2', page: 'inner', posts: 0 },
    ]);
    expect((await command('pages', 'adopt', 'nothing', 'inner')).stderr).toContain('inner~1');
    expect((await command('pages', 'adopt', 'acme~1', 'inner')).stderr).toContain('is shown now');
    await reload((text) => `${text}    publish_private_history: true\n`);
    expect((await command('pages', 'adopt', 'inner', 'inner')).stdout).toContain('1 post, 1 token');
    const shown = await eventually(
      () => site.get('/inner/'),
      ({ body }) => body.includes('Vault is empty'),
    );
    expect(shown.body).toContain('Vault is empty');
    expect((await callApi(site.url(), 'GET', 'pages/inner/incidents')).body).toHaveLength(1);
    expect((await command('pages', 'adopt', 'inner~2', 'inner')).status).toBe(0);
    const hidden = await eventually(
      () => site.get('/inner/'),
      ({ body }) => !body.includes('Vault is empty'),
    );
    expect(hidden.body).not.toContain('Vault is empty');
  });

  it('shows what was written behind its gate only when its operator says so', async () => {
    await declare(site.url(), 'team', { name: 'Desk on fire', component_ids: ['desk'], body: 'Do not tell.' });
    const open = TEAM.replace(/ {4}access_type.*\n.*\n/, '').replace('name: Desk', 'name: Counter');
    const names: string[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) names.push((await site.get('/team/subscribe/')).body);
    })();
    await reload((text) => text.replace(TEAM, open));
    await eventually(
      () => site.get('/team/'),
      ({ status, body }) => status === 200 && body.includes('Counter'),
    );
    const form = await eventually(
      () => site.get('/team/subscribe/'),
      ({ body }) => body.includes('Counter'),
    );
    expect(form.body).toContain('Counter');
    isOver = true;
    await watching;
    expect(names.filter((body) => body.includes('Desk'))).toEqual([]);
    expect(await written('team')).not.toMatch(/Desk on fire|Do not tell/);
    const told = await command('check', '--offline');
    expect(told.stdout.replaceAll(/\s+/g, ' ')).toContain('publish_private_history: true');

    await reload((text) => text.replace('    title: Team\n', '    title: Team\n    publish_private_history: true\n'));
    const shown = await eventually(
      () => site.get('/team/'),
      ({ body }) => body.includes('Desk on fire'),
    );
    expect(shown.body).toContain('Desk on fire');
    await reload((text) => text.replace('    publish_private_history: true\n', ''));
    await eventually(
      () => site.get('/team/'),
      ({ body }) => !body.includes('Desk on fire'),
    );
    await publishInForm('Desk on fire');
    expect((await site.get('/team/')).body).toContain('Desk on fire');
    expect((await command('check', '--offline')).stdout).not.toContain('publish_private_history');
  });
});
