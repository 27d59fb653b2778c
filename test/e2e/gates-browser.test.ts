import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { launchBrowser } from '../helpers/browser.ts';
import { eventually } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';
import { CANARY, cookieOf, DOMAIN, formOf, type GatesSite, SECRETS, SLUG, startGatesSite } from './gates-site.ts';

describe('a visitor with a browser', () => {
  let site: GatesSite;
  let browser: Browser;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startGatesSite({ withOut: false }), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const at = (path: string): string => site.pharos.url + path;

  async function withPage(
    context: BrowserContext,
    path: string,
  ): Promise<Awaited<ReturnType<BrowserContext['newPage']>>> {
    const page = await context.newPage();
    await page.goto(at(path));
    return page;
  }

  it.each([true, false])(
    'signs in by password, gets to the address asked for, and out (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const context = await browser.newContext({ javaScriptEnabled });
      const page = await withPage(context, `/${SLUG.password}/history/`);
      expect(await page.content()).not.toContain(CANARY.password);
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
      await page.getByLabel('Password').fill(SECRETS.VAULT_PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`**/${SLUG.password}/history/`);
      expect(await page.content()).toContain(CANARY.password);
      const [cookie] = await context.cookies();
      expect(cookie).toMatchObject({ name: 'pharos', httpOnly: true, sameSite: 'Lax', path: '/' });

      await page.getByRole('link', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`**/${SLUG.password}/`);
      expect(await page.content()).not.toContain(CANARY.password);
      expect(await context.cookies()).toEqual([]);
      await context.close();
    },
  );

  it('is shown the way for password managers and for assistive technology', async () => {
    const context = await browser.newContext();
    const page = await withPage(context, `/${SLUG.unknown}/`);
    expect(await page.locator('input[autocomplete=username]').inputValue()).toBe(SLUG.unknown);
    expect(await page.locator('input[autocomplete=current-password]').count()).toBe(1);
    await page.evaluate(readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8'));
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run: (options: object) => Promise<{ violations: { id: string }[] }> };
      };
      return (await axe.run({ preload: false })).violations.map(({ id }) => id);
    });
    expect(found).toEqual([]);
    await context.close();
  });

  it('signs in by the link in a mail, in the browser that asked and in no other', async () => {
    const [context, elsewhere] = [await browser.newContext(), await browser.newContext()];
    const before = site.mails.length;
    const page = await withPage(context, `/${SLUG.email}/`);
    await page.getByLabel('Email address').fill(`someone@${DOMAIN}`);
    await page.getByRole('button', { name: 'Send sign-in link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await eventually(
      async () => site.mails.length,
      (count) => count > before,
    );
    const link = /https?:\/\/\S+\/login\/link\/\S+/.exec(site.mails.at(-1) ?? '')?.[0] ?? '';
    expect(link).toContain(`/${SLUG.email}/login/link/?token=`);
    const { pathname, search } = new URL(link);

    const stranger = await withPage(elsewhere, pathname + search);
    await stranger.getByRole('button', { name: 'Sign in' }).click();
    await stranger.getByRole('alert').waitFor();
    expect(await stranger.getByRole('alert').innerText()).toContain('the browser you requested it from');

    await page.goto(at(pathname + search));
    expect(await page.content()).not.toContain(CANARY.email);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`**/${SLUG.email}/`);
    expect(await page.content()).toContain(CANARY.email);
    await page.goto(at(pathname + search));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('already been used');
    await Promise.all([context.close(), elsewhere.close()]);
  });

  it('signs in by the code in a mail', async () => {
    const context = await browser.newContext();
    const before = site.mails.length;
    const page = await withPage(context, `/${SLUG.email}/history/`);
    await page.getByLabel('Email address').fill(`another@${DOMAIN}`);
    await page.getByRole('button', { name: 'Send sign-in link' }).click();
    await eventually(
      async () => site.mails.length,
      (count) => count > before,
    );
    const code = /\b\d{4} \d{4}\b/.exec(site.mails.at(-1)?.split('\r\n\r\n').slice(1).join() ?? '')?.[0] ?? '';
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`**/${SLUG.email}/history/`);
    expect(await page.content()).toContain(CANARY.email);
    await context.close();
  });

  it('is not signed out, in or shown anything by a page of another site', async () => {
    const forms = [
      [`${SLUG.password}/logout`, {}],
      [`${SLUG.other}/login/`, { password: SECRETS.OTHER_PASSWORD }],
    ] as const;
    const evil = createServer((request, response) => {
      const [path, fields] = forms[Number(request.url?.slice(1))] ?? forms[0];
      const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
      response.setHeader('content-type', 'text/html');
      response.end(
        `<form method="post" action="${at(`/${path}`)}">${inputs.join('')}</form><iframe src="${at(`/${SLUG.password}/`)}"></iframe><script>document.forms[0].submit()</script>`,
      );
    });
    await new Promise((listening) => evil.listen(0, '127.0.0.1', () => listening(undefined)));
    // Another site to the browser, not only another port.
    const origin = `http://localhost:${(evil.address() as AddressInfo).port}`;
    const context = await browser.newContext();
    const page = await withPage(context, `/${SLUG.password}/`);
    await page.getByLabel('Password').fill(SECRETS.VAULT_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`**/${SLUG.password}/`);
    const before = await context.cookies(at('/'));
    for (const index of forms.keys()) {
      const attack = await context.newPage();
      const answered = attack.waitForResponse((response) => response.request().method() === 'POST');
      await attack.goto(`${origin}/${index}`);
      expect((await answered).status()).toBe(403);
      for (const frame of attack.frames()) expect(await frame.content()).not.toContain(CANARY.password);
      await attack.close();
    }
    expect(await context.cookies(at('/'))).toEqual(before);
    await page.reload();
    expect(await page.content()).toContain(CANARY.password);
    await context.close();
    evil.close();
  });

  it('of a README sees the badges of a private page by their token only, until it is revoked', async () => {
    const { cwd, env } = site;
    const made = await runWarm(['badges', 'token', SLUG.password], { cwd, env });
    const { pathname, search } = new URL(made.stdout.trim().replace(/^https?:\/\/[^/]+/, 'http://127.0.0.1'));
    const path = pathname.startsWith(`/${SLUG.password}/`) ? pathname : `/${SLUG.password}${pathname}`;
    const missing = await site.ask(path);
    const shown = await site.ask(path + search);
    expect(shown.status).toBe(200);
    expect(shown.headers['cache-control']).toBe('private, no-store');
    expect((await site.ask(path.replace(SLUG.password, SLUG.other) + search)).body).toBe(missing.body);
    expect((await site.ask(`/${SLUG.password}/${search}`)).status).toBe(404);
    expect((await site.ask(`/${SLUG.password}/api/v2/summary.json${search}`)).status).toBe(404);
    await runWarm(['badges', 'token', SLUG.password, '--revoke'], { cwd, env });
    expect((await site.ask(path + search)).body).toBe(missing.body);
  });

  it('loses sight of a page within a second of its password changing, and of a public page that turns private', async () => {
    const signedIn = await site.ask(`/${SLUG.password}/login/`, formOf({ password: SECRETS.VAULT_PASSWORD }));
    const cookie = cookieOf(signedIn);
    const sees = async (slug: string): Promise<boolean> =>
      (await site.ask(`/${slug}/`, { headers: { cookie } })).status === 200;
    expect([await sees(SLUG.password), await sees(SLUG.public)]).toEqual([true, true]);
    const file = join(site.cwd, 'pharos.yaml');
    const config = parse(readFileSync(file, 'utf8')) as { pages: Record<string, unknown>[] };
    for (const page of config.pages) {
      if (page['slug'] === SLUG.password) page['password'] = '${OTHER_PASSWORD}';
      if (page['slug'] === SLUG.public) Object.assign(page, { access_type: 'password', password: '${VAULT_PASSWORD}' });
    }
    writeFileSync(file, stringify(config));
    process.kill(site.pharos.pid, 'SIGHUP');
    await new Promise((second) => setTimeout(second, 1_000));
    expect([await sees(SLUG.password), await sees(SLUG.public)]).toEqual([false, false]);
    for (const path of ['index.html', 'feed.atom', 'api/v2/summary.json', 'history/', 'badges/status.svg'])
      expect((await site.ask(`/${SLUG.public}/${path}`)).body, path).not.toContain(CANARY.public);
    const gone = await eventually(
      async () => (await site.ask('/')).body + (await site.ask('/sitemap.xml')).body,
      (text) => !text.includes(SLUG.public),
    );
    expect(gone).not.toContain(CANARY.public);
    // The site's own files are published again; with no public page left, they have no sitemap.
    const robots = await eventually(
      () => site.ask('/robots.txt'),
      ({ status }) => status === 200,
    );
    expect(robots.body).not.toContain('Sitemap:');
    expect((await site.ask('/sitemap.xml')).status).toBe(404);
    const again = await site.ask(`/${SLUG.public}/login/`, formOf({ password: SECRETS.VAULT_PASSWORD }));
    expect(again.status).toBe(303);
  });
});
