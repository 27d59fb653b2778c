import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../helpers/browser.ts';
import {
  declare,
  linkIn,
  pathOf,
  type SubscribingSite,
  startSubscribingSite,
  tokenOf,
} from '../helpers/subscribing-site.ts';
import { runWarm } from '../helpers/warm.ts';
import { callApi, WRITING_ENV } from '../helpers/writing-site.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);

let site: SubscribingSite;
beforeAll(async () => {
  site = await startSubscribingSite();
});
afterAll(() => site?.close());

/** Longer than what is due takes to be sent. */
const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 1_000));

const command = (...args: string[]) =>
  runWarm(args, { cwd: site.folder, env: { ...WRITING_ENV, OTHER: 'another password', SMTP: site.sink.url } });

async function signIn(slug: string, password: string): Promise<string> {
  const answer = await site.post(`/${slug}/login/`, [['password', password]]);
  expect(answer.status).toBe(303);
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

describe('subscribing to a page', () => {
  it('sends one mail for an incident to whoever asked and confirmed, and none to who did not', async () => {
    const form = await site.get('/acme/subscribe/');
    expect(form.status).toBe(200);
    expect(form.body).toContain('name="email"');
    expect(form.body).toMatch(/name="component" value="api"/);
    expect((await site.get('/acme/')).body).toContain('http://127.0.0.1:4321/acme/subscribe/');
    expect((await site.get('/quiet/')).body).not.toContain('/subscribe/');
    expect((await site.get('/quiet/subscribe/')).status).toBe(404);

    await site.subscribe('acme', 'one@mail.example');
    await site.post('/acme/subscribe/', [['email', 'never@mail.example']]);
    await site.mailTo('never@mail.example');

    await declare(site.url(), 'acme', {
      name: 'Errors at the API',
      component_ids: ['api'],
      body: 'We are **looking**. <b>Not bold.</b>',
    });
    const mail = await site.mailTo('one@mail.example', 1);
    expect(mail.headers.get('subject')).toBe('[Acme] New incident: Errors at the API');
    expect(mail.text).toContain('We are looking. <b>Not bold.</b>');
    expect(mail.text).toContain('Affects API');
    expect(mail.html).toContain('<html lang="en"');
    expect(mail.html).toContain('&lt;b&gt;Not bold.');
    await settled();
    expect(site.sink.to('one@mail.example')).toHaveLength(2);
    expect(site.sink.to('never@mail.example')).toHaveLength(1);
    for (const line of site.pharos().stderr().trimEnd().split('\n')) expect(line).toMatch(/^\{.*\}$|^Pharos serves /);
  });

  it.each([true, false])(
    'is done in a browser, whose policy lets the forms be sent, with script: %s',
    async (javaScriptEnabled) => {
      const browser = await launchBrowser();
      const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
      const email = `browser-${javaScriptEnabled}@mail.example`;
      await page.goto(`${site.url()}/acme/subscribe/`);
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Website').check();
      await page.getByRole('main').getByRole('button').click();
      await page.waitForURL('**/acme/subscribe/sent/');
      const { pathname, search } = new URL(linkIn(await site.mailTo(email), 'confirm'));
      await page.goto(site.url() + pathname + search);
      await page.getByRole('main').getByRole('button').click();
      await page.getByRole('main').getByRole('link').click();
      await page.waitForURL('**/acme/subscribe/manage/**');
      expect(await page.getByLabel('Website').isChecked()).toBe(true);
      expect(await page.getByLabel('API').isChecked()).toBe(false);
      await browser.close();
    },
  );

  it.each([true, false])('begins in the header of every public page, with script: %s', async (javaScriptEnabled) => {
    // At the address that the site has for its visitors.
    const { host } = new URL(site.url());
    const browser = await launchBrowser({ args: [`--host-resolver-rules=MAP 127.0.0.1:4321 ${host}`] });
    const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
    const email = `header-${javaScriptEnabled}@mail.example`;
    await page.goto('http://127.0.0.1:4321/acme/history/');
    await page.getByText('Subscribe', { exact: true }).first().click();
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.waitForURL('**/acme/subscribe/sent/');
    linkIn(await site.mailTo(email), 'confirm');
    await browser.close();
  });

  it('shows the form again, with the address, to who sends it from a copy of the page elsewhere', async () => {
    const answer = await site.post('/acme/subscribe/', [['email', 'copy@mail.example']], {
      'sec-fetch-site': 'cross-site',
    });
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('value="copy@mail.example"');
    const cookie = await signIn('inner', 'open the other page');
    expect((await site.get('/inner/', { cookie })).body).not.toContain('type="email"');
    expect((await site.get('/inner/', { cookie })).headers.get('content-security-policy')).toContain(
      "form-action 'none'",
    );
  });

  it('groups components, and takes a whole group at once', async () => {
    const manage = await site.subscribe('cloud', 'groups@mail.example', { groups: ['us'] });
    const opened = (link: string) => site.get(`${pathOf(link)}?token=${tokenOf(link)}`);
    const { body } = await opened(manage);
    const chosen = [...body.matchAll(/name="component" value="([^"]+)" checked/g)].map(([, id]) => id);
    expect(chosen).toEqual(['us-api', 'us-web']);
    expect(body).toMatch(/<legend[^>]*>America<\/legend>/);
    expect(body).toContain('All of America');
    await declare(site.url(), 'cloud', { name: 'The API is slow', component_ids: ['us-api'], body: 'Why?' });
    const mail = await site.mailTo('groups@mail.example', 1);
    expect(mail.text).toContain('Affects API, America');
    // Every component of every group is the whole page, with what is added later.
    const all = await site.subscribe('cloud', 'all@mail.example', { groups: ['us', 'eu'] });
    const whole = await opened(all);
    expect(whole.body).toContain('name="component" value="us-api"');
    expect(whole.body).not.toMatch(/value="[^"]+" checked/);
  });

  it('answers new, known, unsubscribed and refused addresses with the same bytes, status and headers', async () => {
    await site.subscribe('acme', 'known@mail.example');
    const left = await site.subscribe('acme', 'left@mail.example');
    await site.post(pathOf(left).replace('manage', 'leave'), [['token', tokenOf(left)]]);
    const addresses = [
      'new@mail.example',
      'known@mail.example',
      'left@mail.example',
      'no address at all',
      'many@mail.example,more@mail.example',
      'x'.repeat(400),
    ];
    const answers = await Promise.all(addresses.map((email) => site.post('/acme/subscribe/', [['email', email]])));
    const shown = answers.map(({ status, headers, body }) =>
      JSON.stringify([status, [...headers].filter(([name]) => name !== 'date'), body]),
    );
    expect(new Set(shown).size).toBe(1);
    expect(answers[0]?.status).toBe(303);
    expect(answers[0]?.body).toBe('');
    // What tells them apart is in their mails only.
    expect((await site.mailTo('known@mail.example', 1)).text).toContain('already receives updates');
    linkIn(await site.mailTo('new@mail.example'), 'confirm');
    linkIn(await site.mailTo('left@mail.example', 1), 'confirm');
    expect(site.sink.mails.some(({ to }) => to.includes('more@'))).toBe(false);
  });

  it('confirms and removes nobody however often a scanner opens every link', async () => {
    const manage = await site.subscribe('acme', 'scanned@mail.example');
    await site.post('/acme/subscribe/', [['email', 'waiting@mail.example']]);
    const confirm = linkIn(await site.mailTo('waiting@mail.example'), 'confirm');
    const links = [confirm, manage, manage.replace('manage', 'leave')].map((link) => {
      const { pathname, search } = new URL(link, 'http://site');
      return pathname + search;
    });
    const rounds = Math.max(10, Math.min(1_000, 10 * SCALE));
    for (let round = 0; round < rounds; round += 1) {
      const statuses = await Promise.all(links.map(async (link) => (await site.get(link)).status));
      expect(statuses).toEqual([200, 200, 200]);
    }
    const listed = JSON.parse((await command('subscribers', 'list', '--json')).stdout) as {
      subscribers: { email: string; state: string }[];
    };
    const stateOf = (email: string) => listed.subscribers.find((one) => one.email === email)?.state;
    expect([stateOf('scanned@mail.example'), stateOf('waiting@mail.example')]).toEqual(['active', 'pending']);
  });

  it('keeps bots from sending more than ten mails from one client, and more than three to one mailbox', async () => {
    const count = Math.max(60, Math.min(10_000, 60 * SCALE));
    const before = site.sink.mails.length;
    const headers = { 'x-forwarded-for': '198.18.0.1' };
    const statuses = new Map<number, number>();
    for (let start = 0; start < count; start += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_one, index) =>
          site.post('/acme/subscribe/', [['email', `flood${start + index}@mail.example`]], headers),
        ),
      );
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(statuses).toEqual(
      new Map([
        [303, 10],
        [429, count - 10],
      ]),
    );
    await settled();
    expect(site.sink.mails.length - before).toBeLessThanOrEqual(10);
    for (let index = 0; index < 8; index += 1)
      await site.post('/acme/subscribe/', [['email', `victim+${index}@mail.example`]]);
    await settled();
    expect(site.sink.mails.filter(({ to }) => to.startsWith('victim'))).toHaveLength(3);
  });

  it('takes no form of another site', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const answer = await site.post('/acme/subscribe/', [['email', 'csrf@mail.example']], headers);
    expect(answer.status).toBe(403);
    await settled();
    expect(site.sink.to('csrf@mail.example')).toHaveLength(0);
  });
});

describe('what subscribers are told', () => {
  it('tells of a component only who chose it, holds back what follows at once, and has the headers that mail programs look for', async () => {
    await site.subscribe('acme', 'api@mail.example', { components: ['api'] });
    await site.subscribe('acme', 'web@mail.example', { components: ['web'] });
    const id = await declare(site.url(), 'acme', { name: 'The website is slow', component_ids: ['web'], body: 'Why?' });
    const opened = await site.mailTo('web@mail.example', 1);
    expect(opened.headers.get('message-id')).toMatch(/^<[0-9a-f.]+@127\.0\.0\.1>$/);
    expect(opened.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(opened.headers.get('list-unsubscribe')).toMatch(
      /^<http:\/\/127\.0\.0\.1:4321\/acme\/subscribe\/leave\/\?token=/,
    );
    const changed = await callApi(site.url(), 'PATCH', `pages/acme/incidents/${id}`, {
      body: { incident: { status: 'resolved', body: 'It was a cable.' } },
    });
    expect(changed.status).toBe(200);
    // That waits for the end of the quiet time.
    await settled();
    expect(site.sink.to('web@mail.example')).toHaveLength(2);
    expect(site.sink.to('api@mail.example')).toHaveLength(1);
  });

  it('tells nobody of what its writer wants to be silent', async () => {
    await site.subscribe('acme', 'silent@mail.example');
    await declare(site.url(), 'acme', {
      name: 'Nobody is told',
      component_ids: ['api'],
      body: 'Quiet.',
      deliver_notifications: false,
    });
    await settled();
    expect(site.sink.to('silent@mail.example')).toHaveLength(1);
  });

  it('lets mail programs unsubscribe with one click, without cookie or origin, and erases the address for good', async () => {
    await site.subscribe('acme', 'oneclick@mail.example');
    await declare(site.url(), 'acme', { name: 'One click', component_ids: ['api'], body: 'x' });
    const mail = await site.mailTo('oneclick@mail.example', 1);
    const [, link = ''] = /<(http[^>]*)>/.exec(mail.headers.get('list-unsubscribe') ?? '') ?? [];
    const { pathname, search } = new URL(link);
    const done = await fetch(`${site.url()}${pathname}${search}`, {
      method: 'POST',
      body: 'List-Unsubscribe=One-Click',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(done.status).toBe(200);
    const listed = await command('subscribers', 'list', '--json');
    expect(listed.stdout).not.toContain('oneclick@mail.example');
    // A second click is as good as the first.
    const again = await fetch(`${site.url()}${pathname}${search}`, { method: 'POST' });
    expect(again.status).toBe(200);
  });

  it('pauses, resumes and narrows what is sent, by the link of a mail', async () => {
    const manage = await site.subscribe('acme', 'choosy@mail.example');
    const { pathname, search } = new URL(manage, 'http://site');
    const token = ['token', tokenOf(manage)] as const;
    const paused = await site.post(pathname, [token, ['action', 'pause']]);
    expect(paused.body).toContain('Emails are paused.');
    await declare(site.url(), 'acme', { name: 'While paused', component_ids: ['api'], body: 'x' });
    await settled();
    expect(site.sink.to('choosy@mail.example')).toHaveLength(1);
    await site.post(pathname, [token, ['action', 'resume']]);
    await site.post(pathname, [token, ['action', 'save'], ['component', 'web'], ['component', 'nosuch']]);
    const shown = await site.get(pathname + search);
    expect(shown.body).toMatch(/value="web"[^>]*checked/);
    expect(shown.body).not.toMatch(/value="api"[^>]*checked/);
    await declare(site.url(), 'acme', { name: 'About the API', component_ids: ['api'], body: 'x' });
    await declare(site.url(), 'acme', { name: 'About the website', component_ids: ['web'], body: 'x' });
    expect((await site.mailTo('choosy@mail.example', 1)).headers.get('subject')).toContain('About the website');
  });
});

describe('pages behind a gate', () => {
  it('answers whoever may not see a page as if there were none, whatever the address', async () => {
    for (const path of ['subscribe/', 'subscribe/sent/', 'subscribe/manage/?token=x', 'subscribe/nosuch/']) {
      const [gated, absent] = [await site.get(`/inner/${path}`), await site.get(`/nopag/${path}`)];
      expect(gated.status).toBe(404);
      expect(gated.body.replaceAll(/\binner\b/g, 'nopag')).toBe(absent.body);
    }
    const posted = await site.post('/inner/subscribe/', [['email', 'spy@mail.example']]);
    expect(posted.status).toBe(405);
    expect((await site.post('/nopag/subscribe/', [['email', 'spy@mail.example']])).status).toBe(405);
    await settled();
    expect(site.sink.to('spy@mail.example')).toHaveLength(0);
  });

  it('subscribes whoever sees a page behind a password, and stops when the password changes', async () => {
    const cookie = await signIn('inner', 'open the other page');
    const manage = await site.subscribe('inner', 'insider@mail.example', { cookie });
    await declare(site.url(), 'inner', { name: 'Vault stuck', component_ids: ['vault'], body: 'x' });
    const before = await site.mailTo('insider@mail.example', 1);
    expect(before.headers.get('subject')).toContain('Vault stuck');
    await site.subscribe('inner', 'returning@mail.example', { cookie });

    await site.stop();
    await site.restart((text) => text.replace('${PASSWORD}', '${OTHER}'));
    const renewed = await signIn('inner', 'another password');
    // Who has no email any more to resume from asks for one with the form.
    await site.post('/inner/subscribe/', [['email', 'returning@mail.example']], { cookie: renewed });
    const known = await site.mailTo('returning@mail.example', 1);
    expect(known.headers.get('subject')).toContain('already subscribed');
    const again = new URL(linkIn(known, 'manage'));
    const stopped = await site.get(again.pathname + again.search, {
      cookie: renewed,
    });
    expect(stopped.body).toContain('value="resume"');
    await declare(site.url(), 'inner', { name: 'Vault open', component_ids: ['vault'], body: 'x' });
    await settled();
    expect(site.sink.to('insider@mail.example')).toHaveLength(2);
    const { pathname, search } = new URL(manage, 'http://site');
    // The link tells nothing of the page any more; it still ends the subscription.
    expect((await site.get(pathname + search)).body).not.toContain('Gold');
    const resumed = await site.post(
      pathname,
      [
        ['token', tokenOf(manage)],
        ['action', 'resume'],
      ],
      { cookie: renewed },
    );
    expect(resumed.body).toContain('Gold');
    await site.stop();
    await site.restart();
  });

  it('subscribes addresses of the allowed domains only', async () => {
    // Nobody is signed in, so there is no form either; an operator brings them.
    const added = await command('subscribers', 'add', 'desk@corp.example', '--page', 'team', '--confirmed');
    expect(added.stdout).toContain('Subscribed.');
    await command('subscribers', 'add', 'desk@other.example', '--page', 'team', '--confirmed');
    await declare(site.url(), 'team', { name: 'No desk', component_ids: ['desk'], body: 'x' });
    expect((await site.mailTo('desk@corp.example')).headers.get('subject')).toContain('No desk');
    await settled();
    expect(site.sink.to('desk@other.example')).toHaveLength(0);
  });

  it('reach whom an operator subscribes to a page that is open to some addresses', async () => {
    const added = await command('subscribers', 'add', 'door@mail.example', '--page', 'office', '--confirmed');
    expect(added.stdout).toContain('Subscribed.');
    await declare(site.url(), 'office', { name: 'No door', component_ids: ['door'], body: 'x' });
    expect((await site.mailTo('door@mail.example')).headers.get('subject')).toContain('No door');
  });

  it('have links that lead to a home page also in a language that it gave up, and to nothing of another page', async () => {
    const manage = await site.subscribe('acme', 'home@mail.example');
    await site.stop();
    const secretPage =
      '  - { slug: de, title: Secret, password: "${PASSWORD}", components: [{ id: x, type: static, name: X }] }\n';
    await site.restart((text) => text.replace('name: Example }', 'name: Example, home: acme }') + secretPage);
    const shown = await site.get(manage.replace('/acme/', '/fr/'));
    expect([shown.status, shown.body]).toEqual([200, expect.stringContaining('action="/subscribe/manage/"')]);
    // A private page at that address is told apart from none by nothing.
    const [none, secret] = await Promise.all(
      ['fr', 'de'].map((slug) => site.get(`/${slug}/subscribe/manage/?token=x`)),
    );
    expect(none?.status).toBe(404);
    expect([secret?.status, secret?.body]).toEqual([404, none?.body]);
    const left = await site.post(manage.replace('/acme/subscribe/manage/', '/fr/subscribe/leave/'), [
      ['List-Unsubscribe', 'One-Click'],
    ]);
    expect([left.status, left.body]).toEqual([200, expect.stringContaining('unsubscribed')]);
    await site.stop();
    await site.restart();
  });

  it('tell nobody any more whose domain is taken off the list, nor of a page that is taken back', async () => {
    await site.stop();
    await site.restart((text) => text.replace('corp.example', 'third.example'));
    const before = site.sink.to('desk@corp.example').length;
    await declare(site.url(), 'team', { name: 'Desk moved', component_ids: ['desk'], body: 'x' });
    await settled();
    expect(site.sink.to('desk@corp.example')).toHaveLength(before);

    await site.stop();
    await site.restart();
    await site.subscribe('acme', 'curtain@mail.example');
    await site.stop();
    await site.restart((text) => text.replace('- slug: acme\n', '- slug: acme\n    published: false\n'));
    expect((await site.get('/acme/')).status).toBe(404);
    await declare(site.url(), 'acme', { name: 'Behind the curtain', component_ids: ['api'], body: 'x' }).catch(
      () => null,
    );
    await settled();
    expect(site.sink.to('curtain@mail.example')).toHaveLength(1);
    await site.stop();
    await site.restart();
  });
});

describe('what operators do', () => {
  it('brings lists of Statuspage and Instatus, unconfirmed unless it is said, and takes them again', async () => {
    writeFileSync(
      join(site.folder, 'statuspage.csv'),
      'Type,Email,Components\r\nemail,"sp1@mail.example","API"\r\nsms,+15550100,\r\nemail,not an address,\r\n',
    );
    const statuspage = await command('subscribers', 'import', 'statuspage.csv', '--page', 'acme');
    expect(statuspage.stdout).toContain('1 added and sent a confirmation link');
    expect(statuspage.stdout).toContain('line 3: sms is not supported');
    expect(statuspage.stdout).toContain('line 4: no email address');
    linkIn(await site.mailTo('sp1@mail.example'), 'confirm');
    writeFileSync(join(site.folder, 'instatus.csv'), 'email,confirmed\nis1@mail.example,true\n');
    const instatus = await command('subscribers', 'import', 'instatus.csv', '--page', 'acme', '--confirmed');
    expect(instatus.stdout).toContain('1 added;');
    const exported = await command('subscribers', 'export', '--page', 'acme');
    expect(exported.stdout).toMatch(/^acme,sp1@mail\.example,pending,api,/m);
    expect(exported.stdout).toMatch(/^acme,is1@mail\.example,active,,/m);
    const mistyped = await command('subscribers', 'export', '--page', 'acmee');
    expect([mistyped.status, mistyped.stdout]).toEqual([2, '']);
    expect(mistyped.stderr).toContain('There is no page "acmee". Did you mean acme?');
    const removed = await command('subscribers', 'remove', 'IS1@mail.example');
    expect(removed.stdout).toContain('Unsubscribed from 1 page and deleted.');
    expect((await command('subscribers', 'remove', 'is1@mail.example')).status).toBe(1);
  });

  it('keeps no address in the data folder that can be read without the key', async () => {
    await site.subscribe('acme', 'hidden.person@mail.example');
    const files = readdirSync(join(site.folder, 'data'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const holding = files.filter((file) => readFileSync(file).includes('hidden.person'));
    expect(holding).toEqual([]);
    expect(statSync(join(site.folder, 'data', 'secret.key')).mode & 0o777).toBe(0o600);
  });

  it('counts what was sent in metrics and on the page of the operators', async () => {
    const token = WRITING_ENV['PHAROS_TOKEN'] ?? '';
    const metrics = await site.get('/-/metrics', { authorization: `Bearer ${token}` });
    expect(metrics.body).toMatch(/pharos_notices_total\{channel="email",result="delivered"\} \d+/);
  });
});
