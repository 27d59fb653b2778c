import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../helpers/browser.ts';
import type { ReceivedMail } from '../helpers/mail-sink.ts';
import { eventually } from '../helpers/pharos.ts';
import { type SubscribingSite, startSubscribingSite } from '../helpers/subscribing-site.ts';
import { OPERATOR } from '../helpers/writing-site.ts';

/** Paths of the page that say something of an incident in one of its languages. */
const SURFACES = ['', 'de/', 'ja/', 'feed.atom', 'de/feed.atom', 'ja/feed.json', 'api/v2/incidents.json'] as const;

describe('an incident that is written in several languages in the form', () => {
  let site: SubscribingSite;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    [site, browser] = await Promise.all([
      startSubscribingSite((config) =>
        config.replace(
          '    title: Acme\n',
          '    title: Acme\n    locales: [en, de, ja]\n    translations: { de: { title: Acme Werke } }\n',
        ),
      ),
      launchBrowser(),
    ]);
    const context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    await page.goto(`${site.url()}/-/ops`);
    await page.getByLabel('Token').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Upstreams' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByText('Published.').first().waitFor();
  };
  const whole = ({ headers, text }: ReceivedMail): string => `${headers.get('subject')}\n${text}`;
  const fill = async (fields: Readonly<Record<string, string>>) => {
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  };
  /** All surfaces, once the German page shows a text. */
  const surfaces = async (text: string): Promise<ReadonlyMap<string, string>> => {
    await eventually(
      async () => (await site.get('/acme/de/')).body,
      (html) => html.includes(text),
    );
    return new Map(
      await Promise.all(SURFACES.map(async (path) => [path, (await site.get(`/acme/${path}`)).body] as const)),
    );
  };
  const saying = (said: ReadonlyMap<string, string>, text: string): string[] =>
    [...said].flatMap(([path, body]) => (body.includes(text) ? [path] : []));

  it('is the same on every surface and in mails, and on every surface when it is edited, when a translation goes, and when it is over', async () => {
    const manage = await site.subscribe('acme/de', 'ada@mail.example');
    await site.subscribe('acme', 'bob@mail.example');
    expect(manage).toContain('/de/subscribe/manage/');
    expect(await site.get(`/acme${manage}`)).toMatchObject({ body: expect.stringContaining('Acme Werke') });

    await page.goto(`${site.url()}/-/ops/write?page=acme`);
    await fill({
      ...{ Title: 'Sign-in is slow', 'Message for visitors': 'We are looking.' },
      ...{ 'Title (de)': 'Anmelden dauert', 'Text (de)': 'Wir sehen nach.', 'Title (ja)': 'ログインが遅い' },
    });
    await page.getByLabel('API').selectOption('Major outage');
    await press('Publish incident');
    const made = await surfaces('Anmelden dauert');
    expect(saying(made, 'Anmelden dauert')).toEqual(['de/', 'de/feed.atom']);
    expect(saying(made, 'Wir sehen nach.')).toEqual(['de/', 'de/feed.atom']);
    expect(saying(made, 'ログインが遅い')).toEqual(['ja/', 'ja/feed.json']);
    expect(saying(made, 'Sign-in is slow')).toEqual(['', 'feed.atom', 'api/v2/incidents.json']);
    // Of two texts one is in Japanese; the other is marked.
    expect(made.get('ja/')).toContain('<div class="prose" lang="en" dir="auto"><p>We are looking.');

    const german = await site.mailTo('ada@mail.example', 1);
    expect(german.headers.get('subject')).toContain('Anmelden dauert');
    expect(german.text).toMatch(/Wir sehen nach\.[\s\S]*\/acme\/de\//);
    expect(whole(german)).not.toMatch(/Sign-in is slow|We are looking/);
    const english = await site.mailTo('bob@mail.example', 1);
    expect(whole(english)).toMatch(/Sign-in is slow[\s\S]*We are looking\./);
    expect(whole(english)).not.toMatch(/Anmelden|\/de\//);

    const open = async () => {
      await page.goto(`${site.url()}/-/ops/write?page=acme`);
      await page.getByRole('link', { name: 'Sign-in is slow' }).click();
    };
    await open();
    expect(await page.getByLabel('Title (de)').inputValue()).toBe('Anmelden dauert');
    await fill({
      'Title (de)': 'Anmelden dauert lange',
      Update: 'A disk is full.',
      'Text (de)': 'Eine Platte ist voll.',
    });
    await press('Publish update');
    const edited = await surfaces('Eine Platte ist voll.');
    expect(saying(edited, 'Anmelden dauert lange')).toEqual(['de/', 'de/feed.atom']);
    expect(saying(edited, 'A disk is full.')).toEqual([
      '',
      'ja/',
      'feed.atom',
      'ja/feed.json',
      'api/v2/incidents.json',
    ]);

    await open();
    await fill({ 'Title (de)': '', Update: 'All is well again.' });
    await page.getByLabel('Status').selectOption('Resolved');
    await press('Publish update');
    const over = await surfaces('All is well again.');
    expect(saying(over, 'Anmelden dauert')).toEqual([]);
    expect(over.get('de/')).toMatch(/lang="en" dir="auto">Sign-in is slow/);
    expect(saying(over, 'ログインが遅い')).toEqual(['ja/', 'ja/feed.json']);
  });

  it('keeps an update of maintenance that has a text in another language only', async () => {
    await page.goto(`${site.url()}/-/ops/write?page=acme&kind=maintenance`);
    await fill({ Title: 'New disks', Starts: '2030-07-01T22:00', Ends: '2030-07-01T23:00' });
    await press('Publish maintenance');
    await page.getByRole('link', { name: 'New disks' }).click();
    await fill({ 'Text (de)': 'Es bleibt dabei.' });
    await press('Publish update');
    expect(saying(await surfaces('Es bleibt dabei.'), 'Es bleibt dabei.')).toContain('de/feed.atom');
  });
});
