/** Operators of a running Pharos: named tokens with roles, tokens of the API at the form, people by an identity provider. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENT, startProvider, type TestProvider } from '../helpers/identity-provider.ts';
import type { RunningPharos } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';
import { callApi, OPERATOR, startWritingSite, WRITING_CONFIG, WRITING_ENV } from '../helpers/writing-site.ts';

const TOKENS = {
  admin: 'admin-token-0123456789abc',
  writer: 'writer-token-0123456789ab',
  reader: 'reader-token-0123456789ab',
};
const ENV = {
  ...WRITING_ENV,
  OIDC_SECRET: CLIENT.client_secret,
  ADMIN: TOKENS.admin,
  WRITER: TOKENS.writer,
  READER: TOKENS.reader,
};
const CALLBACK = 'http://status.example.org/-/oidc/callback';

let folder: string;
let provider: TestProvider;
let pharos: RunningPharos;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-roles-'));
  provider = await startProvider([CALLBACK], { keepsOpen: false });
  provider.accounts.set('ada', { email: 'ada@corp.example', email_verified: true, groups: ['sre'] });
  provider.accounts.set('wim', { preferred_username: 'wim', groups: ['support'] });
  provider.accounts.set('rob', { preferred_username: 'rob', groups: ['staff'] });
  provider.accounts.set('eve', { preferred_username: 'eve', groups: ['sales'] });
  const operators = {
    token: '${PHAROS_TOKEN}',
    oidc: { ...CLIENT, client_secret: '${OIDC_SECRET}', issuer: provider.issuer },
    roles: {
      admin: { groups: ['sre'] },
      writer: { groups: ['support'], pages: ['acme'] },
      reader: { groups: ['staff'] },
    },
    tokens: [
      { name: 'ann', token: '${ADMIN}', role: 'admin' },
      { name: 'will', token: '${WRITER}', role: 'writer', pages: ['acme'] },
      { name: 'rita', token: '${READER}', role: 'reader' },
    ],
  };
  const line = 'operators: { token: "${PHAROS_TOKEN}" }';
  pharos = await startWritingSite(folder, WRITING_CONFIG.replace(line, `operators: ${JSON.stringify(operators)}`), ENV);
});
afterAll(async () => {
  await pharos?.stop();
  await provider?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A browser at the operators' pages. */
class Browser {
  cookie = '';

  async ask(
    path: string,
    form?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string; to: string }> {
    const answer = await fetch(new URL(path, `${pharos.url}/-/`), {
      redirect: 'manual',
      headers: { cookie: this.cookie, 'x-forwarded-for': '203.0.113.9' },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) this.cookie = line.split(';', 1)[0] ?? '';
    const to = answer.headers.get('location') ?? answer.headers.get('refresh')?.replace('0; url=', '') ?? '';
    return { status: answer.status, text: await answer.text(), to };
  }

  async signIn(token: string): Promise<number> {
    return (await this.ask('ops/sign-in', { token })).status;
  }

  async signInAt(account: string) {
    const begun = await this.ask('ops/oidc');
    const back = await provider.signIn(begun.to, account);
    return this.ask(`oidc/callback${back.search}`);
  }

  async formOf(path: string): Promise<Record<string, string>> {
    const { text } = await this.ask(path);
    const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
  }

  /** @returns the status, and where it leads */
  async declare(page: string, title: string): Promise<string> {
    const hidden = await this.formOf(`ops/write?page=acme`);
    const { status, to } = await this.ask('ops/write', {
      ...hidden,
      ...{ page, title, kind: 'incident', step: 'send', impact: 'minor', status: 'investigating', body: 'We look.' },
    });
    return `${status} ${to}`;
  }
}

async function rights(browser: Browser) {
  const form = (await browser.formOf('ops/write?page=acme'))['form'] ?? (await browser.formOf('ops'))['form'] ?? '';
  const statusOf = async (path: string, over?: Readonly<Record<string, string>>): Promise<string> => {
    const { status, to } = await browser.ask(path, over && { form, ...over });
    return `${status}${to === '' ? '' : ` ${to}`}`;
  };
  return {
    ops: await statusOf('ops'),
    write: await statusOf('ops/write?page=acme'),
    inner: await statusOf('ops/write?page=inner'),
    pull: await statusOf('ops/pull', {}),
    rebuild: await statusOf('ops/rebuild', { page: 'acme' }),
    rollback: await statusOf('ops/rollback', { page: 'acme', release: '1' }),
  };
}

const NO = '403';
const ADMIN = { ops: '200', write: '200', inner: '200', pull: '303 ../ops?did=pulling' };
const WRITER = { ops: '303 ops/write', write: '200', inner: '404', pull: NO, rebuild: NO, rollback: NO };
const READER = { ops: '200', write: '404', inner: '404', pull: NO, rebuild: NO, rollback: NO };

describe('a named token', () => {
  it.each([
    ['admin', ADMIN],
    ['writer', WRITER],
    ['reader', READER],
  ] as const)('of the role %s may that much at the operators’ pages', async (role, expected) => {
    const browser = new Browser();
    expect(await browser.signIn(TOKENS[role])).toBe(303);
    expect(await rights(browser)).toMatchObject(expected);
  });

  it('may that much over the API', async () => {
    const write = async (token: string, page: string) =>
      (await callApi(pharos.url, 'POST', `pages/${page}/incidents`, { token, body: { incident: { name: 'Slow' } } }))
        .status;
    const metrics = async (token: string) =>
      (await fetch(`${pharos.url}/-/metrics`, { headers: { authorization: `Bearer ${token}` } })).status;
    const rebuild = async (token: string) =>
      (await fetch(`${pharos.url}/-/rebuild`, { method: 'POST', headers: { authorization: `Bearer ${token}` } }))
        .status;
    const all = async (token: string) => [
      await write(token, 'acme'),
      await write(token, 'inner'),
      await metrics(token),
      await rebuild(token),
    ];
    expect(await all(TOKENS.admin)).toEqual([201, 201, 200, 202]);
    expect(await all(TOKENS.writer)).toEqual([201, 404, 401, 401]);
    expect(await all(TOKENS.reader)).toEqual([403, 403, 200, 403]);
  });

  it('declares incidents from the command line', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'pharos-elsewhere-'));
    const declare = (page: string) =>
      runWarm(['incident', 'new', 'By hand', '--page', page, '--url', pharos.url], {
        cwd: elsewhere,
        env: { PHAROS_TOKEN: TOKENS.writer },
      });
    expect(await declare('acme')).toMatchObject({ status: 0, stderr: '' });
    expect((await declare('inner')).status).not.toBe(0);
    rmSync(elsewhere, { recursive: true });
  });
});

describe('the form', () => {
  it('takes a token of the API, on its page, until it is revoked', async () => {
    const options = { cwd: folder, env: ENV };
    const made = await runWarm(
      ['tokens', 'create', '--page', 'acme', '--scope', 'incidents', '--name', 'bridge', '--json'],
      options,
    );
    const { id, token } = JSON.parse(made.stdout) as { id: string; token: string };
    const browser = new Browser();
    expect(await browser.signIn(token)).toBe(303);
    expect(await rights(browser)).toMatchObject(WRITER);
    expect(await browser.declare('acme', 'By the bridge')).toMatch(/^303 write\?page=acme/);
    expect(await browser.declare('inner', 'By the bridge')).toBe('404 ');
    expect((await browser.ask('ops/write?kind=override')).status).toBe(404);
    await runWarm(['tokens', 'revoke', id], options);
    expect((await browser.ask('ops/write')).status).toBe(401);
    expect(await new Browser().signIn(token)).toBe(403);
  });
});

describe('people by the identity provider', () => {
  it.each([
    ['ada', ADMIN],
    ['wim', WRITER],
    ['rob', READER],
  ])('have the roles of their groups: %s', async (account, expected) => {
    const browser = new Browser();
    const back = await browser.signInAt(account);
    expect([back.status, back.to]).toEqual([200, '../ops']);
    expect(browser.cookie).toMatch(/^pharos-operator=/);
    expect(await rights(browser)).toMatchObject(expected);
  });

  it('without a role get no session', async () => {
    const browser = new Browser();
    const back = await browser.signInAt('eve');
    expect([back.status, back.text]).toEqual([403, expect.stringContaining('none of the roles')]);
    expect((await browser.ask('ops')).status).toBe(401);
  });

  it('are named in the audit and in the form, and never to visitors', async () => {
    const browser = new Browser();
    await browser.signInAt('wim');
    expect(await browser.declare('acme', 'Told by Wim')).toMatch(/^303 write\?page=acme/);
    const { text } = await browser.ask('ops/write?page=acme');
    expect(text).toContain('by oidc:wim');
    const admin = new Browser();
    await admin.signIn(OPERATOR);
    expect((await admin.ask('ops')).text).toMatch(/oidc:wim/);
    const { stdout } = await runWarm(['audit', '--json'], { cwd: folder, env: ENV });
    expect(stdout).toMatch(/"actor":\s*"oidc:wim"/);
    for (const path of ['', 'history/', 'feed.atom', 'feed.json', 'api/v2/summary.json', 'api/v2/incidents.json']) {
      const shown = await (await fetch(`${pharos.url}/acme/${path}`)).text();
      expect([path, shown]).toEqual([path, expect.not.stringMatching(/oidc:|wim\b|token:/)]);
    }
  });

  it('are out at once when the provider ends their session, and sign out there too', async () => {
    const [wim, rob] = [new Browser(), new Browser()];
    await wim.signInAt('wim');
    await rob.signInAt('rob');
    const token = await provider.sign({
      iss: provider.issuer,
      aud: CLIENT.client_id,
      iat: Math.floor(Date.now() / 1_000),
      sub: 'wim',
      jti: 'one',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    const ended = await wim.ask('oidc/backchannel-logout', { logout_token: token });
    expect(ended.status).toBe(200);
    expect([(await wim.ask('ops/write')).status, (await rob.ask('ops')).status]).toEqual([401, 200]);
    expect((await wim.ask('oidc/backchannel-logout', { logout_token: 'x' })).status).toBe(400);
    const { form = '' } = await rob.formOf('ops');
    const out = await rob.ask('ops/sign-out', { form });
    expect(out.to).toContain(`${provider.issuer}/session/end`);
    expect((await rob.ask('ops')).status).toBe(401);
  });

  it('who are away leave the operator token as the way in', async () => {
    provider.break('/');
    const browser = new Browser();
    const begun = await browser.ask('ops/oidc');
    expect([begun.status, begun.text]).toEqual([503, expect.stringContaining('use the operator token')]);
    expect(await browser.signIn(OPERATOR)).toBe(303);
    expect((await browser.ask('ops')).status).toBe(200);
    provider.break(null);
  });

  it('come back to nothing without having begun', async () => {
    const browser = new Browser();
    const begun = await browser.ask('ops/oidc');
    const back = await provider.signIn(begun.to, 'ada');
    expect((await new Browser().ask(`oidc/callback${back.search}`)).status).toBe(403);
    expect((await new Browser().ask('oidc/callback')).to).toBe('/');
  });
});
