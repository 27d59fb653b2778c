/** Mistakes that people make in pharos.yaml: `check` names the place, what stands there, and what to do. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/in-process.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

const ENV = {
  TOKEN: '0123456789abcdef'.repeat(3),
  KEY: 'a-key-of-an-upstream',
  PASSWORD: 'a long password',
  SMTP: 'smtp://user:hidden@mail.example.com',
  SLACK: 'https://hooks.slack.com/services/T/B/x',
  HTTP_URL: 'http://mail.example.com',
};

const HEAD = 'site: { url: "https://status.example.com", name: Acme }\n';
const UPSTREAMS =
  'upstreams:\n  - { id: iac, kind: terraform, path: ./state.json }\n  - { id: posts, kind: markdown, path: ./posts }\n';
const page = (rest: string): string => `${HEAD}${UPSTREAMS}pages:\n  - { slug: acme, ${rest} }\n`;
const component = (rest: string): string => page(`components: [{ ${rest} }]`);
const channel = (rest: string): string =>
  `${page('components: [{ type: static, id: desk, name: Desk }]')}notifications:\n  - { id: ops, kind: slack, webhook_url: "\${SLACK}", ${rest} }\n`;
const intake = (rest: string): string =>
  `${page('components: [{ type: static, id: desk, name: Desk }]')}operators: { token: "\${TOKEN}" }\nintake:\n  - { id: am, preset: alertmanager, secrets: ["\${TOKEN}"], ${rest} }\n`;
const site = (rest: string): string => `site: { url: "https://status.example.com", ${rest} }\n${UPSTREAMS}`;
const upstream = (rest: string): string => `${HEAD}upstreams:\n  - { ${rest} }\n`;
const below = (rest: string): string => `${HEAD}${UPSTREAMS}${rest}\n`;

/** What is wrong, the file, and everything that the answer says of it. */
const MISTAKES: readonly (readonly [name: string, text: string | Buffer, ...said: readonly string[]])[] = [
  // The file itself
  ['an empty file', '', 'the file is empty', 'pharos init'],
  ['a tab', 'site:\n\turl: x\n', 'line 2', 'tab'],
  ['a bracket that is not closed', 'site: { url: "https://a.example"\n', 'line', 'not valid YAML'],
  ['a quote that is not closed', 'site: { url: "https://a.example }\n', 'line', 'not valid YAML'],
  ['a key twice', `${HEAD}site: { url: "https://b.example" }\n`, 'line 2', 'site'],
  ['a list instead of keys', '- site\n', '(document)', 'expected'],
  ['Latin-1', Buffer.from('site: { url: "https://a.example", name: "M\xfcller" }\n', 'latin1'), 'line 1', 'UTF-8'],
  ['UTF-16', Buffer.from('\ufeffsite: {}\n', 'utf16le'), 'line 1', 'Save the file in UTF-8'],
  ['an alias without an anchor', `${HEAD}upstreams: *none\n`, 'line 2', 'anchor'],
  // Keys and values
  ['an unknown key at the top', below('upstream: []'), 'unknown key upstream', 'Did you mean upstreams?', 'line 5'],
  ['an unknown key of the site', site('nmae: X'), 'unknown key nmae', 'Did you mean name?', 'line 1'],
  ['no address', 'site: { name: Acme }\n', 'site.url', 'missing', 'line 1'],
  [
    'an address without a scheme',
    'site: { url: status.example.com }\n',
    'site.url',
    'http(s) address',
    'status.example.com',
  ],
  ['a time zone', site('timezone: Berlin'), 'site.timezone', 'Europe/Berlin', 'line 1'],
  ['a language tag', site('locale: german'), 'site.locale (line 1)', 'No translation for german', 'Available: '],
  ['a language without words', site('locale: cs'), 'site.locale (line 1)', 'No translation for cs', 'Available: '],
  ['a colour', site('accent_color: red'), 'site.accent_color', '#rrggbb', 'red'],
  ['a preset', site('preset: papr'), 'site.preset', 'paper', 'papr'],
  ['a port', below('server: { port: 99999 }'), 'server.port', '65535', '99999', 'line 5'],
  ['an access log', below('server: { accessLog: yes }'), 'server.accessLog', 'common', 'line 5'],
  ['days of history', below('retentionDays: 30'), 'retentionDays', '91', '30'],
  ['a schedule', below('schedule: every minute'), 'schedule', 'cron expression of five fields', 'every minute'],
  ['a text for a number', below('server: { port: http }'), 'server.port', 'number', 'http'],
  [
    'a variable that is not set',
    below('operators: { token: "${NO_TOKEN}" }'),
    'operators.token',
    'NO_TOKEN is not set',
    '${file:/path}',
    'line 5',
  ],
  ['a file that is not there', below('operators: { token: "${file:./none}" }'), 'operators.token', 'none', 'line 5'],
  ['a database', below('store: { url: "${HTTP_URL}" }'), 'store.url', 'postgres://', 'line 5'],
  // Upstreams
  [
    'a kind',
    upstream('id: x, kind: uptimekuma, url: "https://a.example"'),
    'upstreams[0].kind',
    'Did you mean uptime-kuma?',
    'line 3',
  ],
  ['no kind', upstream('id: x'), 'upstreams[0].kind', 'line 3'],
  [
    'an option of a kind',
    upstream('id: x, kind: markdown, pth: ./posts'),
    'unknown key pth',
    'Did you mean path?',
    'line 3',
  ],
  ['an option that is missing', upstream('id: x, kind: markdown'), 'upstreams[0].path', 'missing', 'line 3'],
  [
    'an id with a blank',
    upstream('id: "my posts", kind: markdown, path: ./posts'),
    'upstreams[0].id',
    'letters, digits',
    'my posts',
  ],
  [
    'an id twice',
    upstream('id: p, kind: markdown, path: ./posts }\n  - { id: p, kind: markdown, path: ./posts'),
    'upstreams[1].id',
    'the id p is used twice',
    'line 4',
  ],
  [
    'a reserved id',
    upstream('id: written, kind: markdown, path: ./posts'),
    'upstreams[0].id',
    'reserved',
    'choose another',
    'line 3',
  ],
  [
    'limits',
    upstream('id: p, kind: markdown, path: ./posts, limits: { perMinute: 0 }'),
    'upstreams[0].limits.perMinute',
    'line 3',
  ],
  ['a folder that is not there', upstream('id: p, kind: markdown, path: ./psots'), 'psots', '✗'],
  // Pages
  ['a slug', page('').replace('slug: acme', 'slug: "My page"'), 'pages[0].slug', 'lower-case', 'My page', 'line 6'],
  ['a slug twice', `${page('')}  - { slug: acme }\n`, 'pages[1].slug', 'the slug acme is used twice', 'line 7'],
  ['a password without one', page('access_type: password'), 'pages[0].password', 'missing', '${NAME}'],
  [
    'domains without any',
    page('access_type: email-domain'),
    'pages[0].auth_email_domains',
    'missing',
    'list of domains',
  ],
  ['an access type', page('access_type: private'), 'pages[0].access_type', 'public', 'password', 'private'],
  ['a domain with a path', page('custom_domain: "a.example/x"'), 'pages[0].custom_domain', 'host name', 'line 6'],
  [
    'a domain twice',
    `${page('custom_domain: a.example')}  - { slug: other, custom_domain: a.example }\n`,
    'pages[1].custom_domain',
    'the host a.example is used twice',
    'line 7',
  ],
  ['an upstream without that page', page('from: posts/nothing'), 'pages[0].from'],
  [
    'an upstream to build on',
    page('from: iacc'),
    'pages[0].from',
    'there is no upstream iacc',
    'Did you mean iac?',
    'line 6',
  ],
  [
    'a component without a monitor',
    component('id: api'),
    'pages[0].components[0].monitor',
    'missing',
    '<upstream id>/<external id>',
  ],
  [
    'a static component without a name',
    component('type: static, id: desk'),
    'pages[0].components[0].name',
    'needs a name',
  ],
  [
    'a monitor without an upstream',
    component('monitor: api'),
    'pages[0].components[0].monitor',
    '<upstream id>/<external id>',
    'line 6',
  ],
  [
    'an upstream of a monitor',
    component('monitor: icc/1'),
    'pages[0].components[0].monitor',
    'there is no upstream icc',
    'Did you mean iac?',
    'line 6',
  ],
  [
    'a monitor',
    component('monitor: iac/http-11'),
    'pages[0].components[0].monitor (line 6)',
    'iac has no monitor iac/http-11',
    'iac/',
  ],
  [
    'a component id twice',
    page('components: [{ type: static, id: a, name: A }, { type: static, id: a, name: B }]'),
    'pages[0].components[1].id',
    'the id a is used twice',
    'line 6',
  ],
  [
    'a group id twice',
    page('groups: [{ id: g, name: A }, { id: g, name: B }]'),
    'pages[0].groups[1].id',
    'the id g is used twice',
    'line 6',
  ],
  [
    'a group',
    page('groups: [{ id: core, name: Core }], components: [{ type: static, name: A, group_id: coer }]'),
    'pages[0].components[0].group_id',
    'there is no group coer',
    'Did you mean core?',
    'line 6',
  ],
  [
    'a home',
    `${page('')}`.replace('name: Acme', 'name: Acme, home: amce'),
    'site.home (line 1)',
    'There is no page amce',
    'Did you mean acme?',
  ],
  ['a CSS variable', page('css_variables: { "--colour": red }'), 'pages[0].css_variables', 'expected one of', 'line 6'],
  ['a redirect', page('redirects: { old: /new/ }'), 'pages[0].redirects', 'line 6'],
  // Mail, channels, intake, places
  [
    'a mail server over HTTP',
    below('access: { smtp: "${HTTP_URL}", from: a@example.com }'),
    'access.smtp',
    'smtp:// or smtps://',
    'line 5',
  ],
  [
    'a sender without an address',
    below('access: { smtp: "${SMTP}", from: "not an address" }'),
    'access.from',
    'status@example.com',
    'not an address',
    'line 5',
  ],
  ['a short key', below('access: { key: "${KEY}" }'), 'access.key', '32 characters', 'line 5'],
  [
    'subscriptions without a mail server',
    below('subscriptions: true'),
    'subscriptions',
    'set access.smtp and access.from',
    'line 5',
  ],
  [
    'a kind of channel',
    `${page('')}notifications: [{ id: x, kind: slak }]\n`,
    'notifications[0].kind',
    'Did you mean slack?',
    'line 7',
  ],
  [
    'an email channel without a mail server',
    `${page('')}notifications: [{ id: x, kind: email, email: [a@example.com] }]\n`,
    'notifications[0].kind',
    'set access.smtp',
    'line 7',
  ],
  [
    'a page of a channel',
    channel('pages: [amce]'),
    'notifications[0].pages[0] (line 8)',
    'There is no page amce',
    'Did you mean acme?',
  ],
  [
    'a component of a channel',
    channel('components: [acme/dsk]'),
    'notifications[0].components[0] (line 8)',
    'There is no component acme/dsk',
    'Did you mean acme/desk?',
  ],
  [
    'a monitor of a channel',
    channel('monitors: [iac/none]'),
    'notifications[0].monitors[0] (line 8)',
    'iac has no monitor iac/none',
  ],
  [
    'a page of an intake',
    intake('page: amce'),
    'intake[0].page (line 9)',
    'There is no page amce',
    'Did you mean acme?',
  ],
  [
    'a component of an intake',
    intake('page: acme, components: { web: dks }'),
    'intake[0].components.web (line 9)',
    'There is no component acme/dks',
    'Did you mean acme/desk?',
  ],
  [
    'an intake without a token',
    `${page('')}intake: [{ id: x, page: acme, preset: grafana, secrets: ["\${TOKEN}"] }]\n`,
    'intake',
    'operators.token',
    'line 7',
  ],
  [
    'output in the data folder',
    below('output: { folder: ./data/out }'),
    'output.folder',
    'inside the data folder',
    'Choose another folder',
    'line 5',
  ],
  ['a data folder that is a file', below('data: ./state.json'), 'state.json', 'not a folder'],
  ['a data folder below /proc', below('data: /proc/1/none'), '/proc/1/none', 'Choose another folder', 'line 5'],
];

const STATE = (retry: number): string =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.9.0',
    resources: [
      {
        mode: 'managed',
        type: 'svc_http_monitor',
        name: 'api',
        instances: [{ attributes: { id: '1', name: 'API', url: 'https://x.example', periodicity: '1m', retry } }],
      },
    ],
  });

describe('pharos check', () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    mkdirSync(join(folder.path, 'posts'));
    writeFileSync(join(folder.path, 'state.json'), STATE(3));
    writeFileSync(join(folder.path, 'rejected.json'), STATE(11));
  });
  afterAll(() => folder.remove());
  const check = async (text: string | Buffer): Promise<{ readonly status: number; readonly said: string }> => {
    writeFileSync(join(folder.path, 'pharos.yaml'), text);
    const { status, stdout, stderr } = await runHere(['check', '--offline'], { cwd: folder.path, env: ENV });
    return { status, said: `${stdout}${stderr}`.replaceAll(/\s+/g, ' ') };
  };

  it('has nothing to say of what these mistakes are made in', async () => {
    for (const text of [
      page('components: [{ monitor: iac/1 }, { type: static, id: desk, name: Desk }]'),
      channel('pages: [acme]'),
      intake('page: acme'),
    ])
      expect(await check(text)).toMatchObject({ status: 0, said: expect.not.stringContaining('✗') });
  });

  it('names an item that a sync can’t read, which is unknown by itself', async () => {
    const { status, said } = await check(upstream('id: iac, kind: terraform, path: ./rejected.json'));
    expect([status, said]).toEqual([0, expect.stringMatching(/! iac: .*retry/)]);
  });

  it.each(MISTAKES)('names %s', async (_name, text, ...expected) => {
    const { status, said } = await check(text);
    expect(status).not.toBe(0);
    for (const words of expected) expect(said).toContain(words);
    // A sentence, never a stack.
    expect(said).not.toMatch(/ at \S+ \(?(?:file|node):/);
    for (const secret of Object.values(ENV)) expect(said).not.toContain(secret);
  });
});
