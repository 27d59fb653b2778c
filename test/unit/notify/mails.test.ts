import { afterEach, describe, expect, it } from 'vitest';
import { createSmtpMailer } from '../../../src/mail/mailer.ts';
import { escapeMarkup } from '../../../src/model/scalars.ts';
import { MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import { linkMail, noticeMail } from '../../../src/notify/mails.ts';
import { NOTICE_EVENTS, type Notice } from '../../../src/notify/news.ts';
import { AT, noticeOf, noticeSaying } from '../../helpers/channels.ts';
import { hostileTexts } from '../../helpers/hostile-text.ts';
import { type MailSink, startMailSink } from '../../helpers/mail-sink.ts';

const MANAGE = 'https://status.example.com/acme/subscribe/manage/?token=secret';
const RECIPIENT = {
  address: 'anna@mail.example',
  id: 'subscription-1',
  manageUrl: MANAGE,
  leaveUrl: 'https://status.example.com/acme/subscribe/leave/?token=secret',
};
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const PAGE = { title: 'Acme', locale: 'en', timezone: 'Europe/Berlin' };

async function mailOf(notices: readonly Notice[], page: Partial<typeof PAGE> = {}) {
  const init = { batch: 'batch-1', page: { ...PAGE, ...page }, recipient: RECIPIENT };
  const { html = '', ...mail } = await noticeMail(init, notices);
  /** What a reader sees of it. */
  const shown = html
    .replace(/<(style|title)>.*?<\/\1>/gs, '')
    .replace(/<\/(td|h1)>|<br>/g, '\n')
    .replace(/<!--.*?-->|<[^>]*>/gs, '')
    .replace(/&nbsp;/g, '')
    .replace(/\n+/g, '\n')
    .trim();
  const links = [...html.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].map(([, href, text]) => [text, href]);
  return { ...mail, html, shown, links };
}

const resolved = noticeOf({
  event: 'incident_resolved',
  subject: {
    ...noticeOf().subject,
    ...{ status: 'resolved', impact: 'critical', startedAt: toEpochMs(AT - 47 * MINUTE_MS), endsAt: AT },
  },
  text: 'All is well again.',
});

describe('a mail about an incident', () => {
  it('lets what people wrote read in its own direction', async () => {
    const { html } = await mailOf([resolved], { locale: 'ar' });
    expect(html).toMatch(/^<!doctype html><html lang="ar" dir="rtl">/);
    expect(html).toMatch(/<td class="ink text" dir="auto"[^>]*>All is well again\./);
  });

  it('has the links of its own recipient only, whoever got the same notice before', async () => {
    for (const token of ['first', 'second&<']) {
      const manageUrl = `https://status.example.com/acme/subscribe/manage/?token=${token}`;
      const recipient = { ...RECIPIENT, manageUrl };
      const { text, html = '' } = await noticeMail({ batch: 'b', page: PAGE, recipient }, [resolved]);
      expect(text.match(/https:\S*manage\S*/g)).toEqual([manageUrl]);
      expect([...html.matchAll(/href="([^"]*(?:manage|invalid)[^"]*)"/g)].map(([, href]) => href)).toEqual([
        escapeMarkup(manageUrl),
      ]);
      expect(`${text}${html}`).not.toContain('.invalid');
    }
  });

  it('says its state once, in its colour, with one button and no bare address', async () => {
    const { subject, shown, links, html } = await mailOf([resolved]);
    expect(subject).toBe('[Acme] Resolved: Errors at the API');
    expect(shown.split('\n')).toEqual([
      'Acme',
      'Resolved',
      'Errors at the API',
      'Affects API and Checkout',
      'Nov 21, 2026, 09:43 – 10:30 GMT+1 (47 min)',
      'All is well again.',
      'Nov 21, 2026, 10:30 GMT+1',
      'View details',
      'You’re receiving this email because you subscribed to updates from Acme.',
      'Manage your subscription or unsubscribe',
    ]);
    expect(links).toEqual([
      ['View details', 'https://status.example.com/acme/incidents/4/'],
      ['Manage your subscription or unsubscribe', MANAGE],
    ]);
    expect(html).toContain('bgcolor="#1f7a49"');
    expect((await mailOf([noticeOf()])).shown).toContain('\nInvestigating · Major impact\n');
    expect((await mailOf([noticeOf()])).shown).toContain('\nOngoing · since Nov 21, 2026, 10:30 GMT+1\n');
  });

  it('is as good in plain text', async () => {
    expect((await mailOf([resolved])).text).toBe(
      [
        'Errors at the API',
        'Resolved',
        'Affects API and Checkout',
        'Nov 21, 2026, 09:43 – 10:30 GMT+1 (47 min)',
        '',
        'All is well again.',
        '',
        'Nov 21, 2026, 10:30 GMT+1',
        '',
        'https://status.example.com/acme/incidents/4/',
        '',
        '',
        '-- ',
        'You’re receiving this email because you subscribed to updates from Acme.',
        '',
        'Manage your subscription or unsubscribe:',
        MANAGE,
        '',
      ].join('\n'),
    );
  });

  it('repeats no word of its state, whatever happens', async () => {
    for (const locale of ['en', 'de', 'fr', 'es', 'pt-BR', 'ja', 'zh-Hans', 'ar'])
      for (const event of NOTICE_EVENTS)
        for (const status of ['investigating', 'resolved', 'postmortem', 'scheduled', 'completed']) {
          const impact = event.startsWith('incident_') ? ('minor' as const) : null;
          const notice = noticeOf({ event, subject: { ...noticeOf().subject, impact, status, endsAt: AT } });
          const [, label = ''] = (await mailOf([notice], { locale })).shown.split('\n');
          const parts = label.split(' · ');
          expect(new Set(parts).size, label).toBe(parts.length);
        }
  });

  it('lets a digest lead to each incident, and its button to the page', async () => {
    const other = noticeOf({ id: 'n-2', subject: { ...noticeOf().subject, title: 'Slow search', url: null } });
    const { subject, links } = await mailOf([resolved, other]);
    expect(subject).toBe('[Acme] 2 updates from Acme');
    expect(links).toEqual([
      ['Errors at the API', 'https://status.example.com/acme/incidents/4/'],
      ['View details', 'https://status.example.com/acme/'],
      ['Manage your subscription or unsubscribe', MANAGE],
    ]);
  });

  it('is nobody’s markup, and turns no direction', async () => {
    for (const text of [...hostileTexts(200), 'a\u202eb\u2066c']) {
      const { html, text: plain, subject } = await mailOf([noticeSaying(text)], { title: text });
      const tags = html.replace(
        /<!--\[if mso\]>.*?<!\[endif\]-->|<(?:!doctype html|\/?(?:html|head|meta|title|style|body|table|tbody|tr|td|h1|br|a)\b[^<>]*)>/g,
        '',
      );
      expect(tags).not.toMatch(/[<>]/);
      expect(
        [...html.matchAll(/href="([^"]*)"/g)].every(([, href]) => href?.startsWith('https://status.example.com/')),
      ).toBe(true);
      expect(`${html}${plain}${subject}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    }
  });

  it('stays below what Gmail shows of a mail', async () => {
    for (const [at, text] of ['<&>"'.repeat(9_000), '文'.repeat(20_000), '😀\n'.repeat(9_000)].entries())
      for (const count of [1, 2, 100]) {
        // Most of the time of these tests: at a smaller scale than 1, with one of the texts.
        if (count === 100 && at > 0 && SCALE < 1) continue;
        const components = Array.from({ length: 300 }, () => text.slice(0, 120));
        const notices = Array.from({ length: count }, (_, index) => ({
          ...noticeSaying(text),
          id: `n-${index}`,
          components,
        }));
        const { html, text: plain, shown } = await mailOf(notices);
        expect(Buffer.byteLength(html)).toBeLessThanOrEqual(90_000);
        expect(Buffer.byteLength(plain)).toBeLessThanOrEqual(90_000);
        if (count === 100) expect(shown).toMatch(/\+ \d+ updates from/);
      }
  });
});

it('titles keep what joins letters, and are cut between characters', async () => {
  const about = async (title: string): Promise<string> =>
    (await mailOf([noticeOf({ subject: { ...noticeOf().subject, title } })])).subject.replace(
      '[Acme] New incident: ',
      '',
    );
  expect(await about('Family 👨‍👩‍👧‍👦, می‌خواهم')).toBe('Family 👨‍👩‍👧‍👦, می‌خواهم');
  const long = await about(`${'x'.repeat(112)}👨‍👩‍👧‍👦👨‍👩‍👧‍👦`);
  expect(long).toBe(`${'x'.repeat(112)}…`);
  expect((await about(`${'x'.repeat(118)}😀😀`)).isWellFormed()).toBe(true);
  expect(await about('a\u202eb\u0007c\r\nBcc: x')).toBe('a b c Bcc: x');
});

it('a mail with a link has it behind a button', async () => {
  const link = 'https://status.example.com/acme/subscribe/confirm/?token=t';
  const { html = '', text } = await linkMail({ batch: 'r-1', page: PAGE, recipient: RECIPIENT }, 'confirm', link);
  expect(html).toMatch(new RegExp(`<a href="${link.replace('?', '\\?')}"[^>]*>Confirm</a>`));
  expect(html.replace(/<[^>]*>/g, '')).not.toContain('http');
  expect(text).toContain(`To confirm, open this link:\n\n${link}\n`);
});

/** Every style in a tag, with the tag. */
function stylesIn(html: string) {
  return [...html.matchAll(/<([a-z0-9]+)\b[^>]*?\sstyle="([^"]*)"[^>]*>/g)].map(([markup, tag = '', text = '']) => ({
    tag,
    markup,
    styles: new Map(text.split(';').map((one) => one.split(':') as [string, string])),
  }));
}

describe('documented rules of mail programs', () => {
  const both = [resolved, noticeOf({ id: 'n-2' })];

  /** Developers' documentation of Gmail, "CSS support": what it knows, and that a sheet with a fault is dropped whole. */
  it('Gmail: nothing but the dark theme is lost without the style sheet, which is short and without fault', async () => {
    const { html } = await mailOf(both);
    const [, sheet = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
    expect(sheet.length).toBeLessThan(8_192);
    expect(sheet.replace(/@media \(prefers-color-scheme:dark\)\{(.*)\}/s, '').match(/[^{}]+\{/g)).toHaveLength(1);
    expect(sheet.match(/\{/g)).toHaveLength(sheet.match(/\}/g)?.length ?? 0);
    expect(`${sheet}${html}`).not.toMatch(/url\(|@import|@font-face|position|<img|<link/);
    // Whatever has text of its own has its letters, colour and size in the tag.
    for (const [cell = '', style = ''] of [...html.matchAll(/<td\b[^>]*style="([^"]*)"[^>]*>(?=[^<\s&])/g)])
      for (const property of ['font-family', 'font-size', 'color']) expect(style, cell).toContain(`${property}:`);
  });

  /** "Word 2007 HTML and CSS rendering capabilities in Outlook": no largest width, no corners, padding of cells only. */
  it('Outlook: boxes, colours and the width of a line stand without what Word does not know', async () => {
    const { html } = await mailOf(both);
    expect(html).toMatch(
      /<!--\[if mso\]><table [^>]*width="600">.*<!\[endif\]-->.*<!--\[if mso\]><\/td>.*<!\[endif\]-->/s,
    );
    const known =
      /^(font-(family|size|weight)|line-height|color|background|padding|border|margin|height|text-decoration)$/;
    for (const { tag, markup, styles } of stylesIn(html)) {
      const lost = ['max-width', 'border-radius'];
      expect(
        [...styles.keys()].filter((name) => !known.test(name) && !lost.includes(name)),
        markup,
      ).toEqual([]);
      if (styles.has('padding') && tag !== 'body') expect(tag, markup).toBe('td');
      if (styles.has('margin')) expect(['h1', 'body'], markup).toContain(tag);
      const background = styles.get('background');
      if (background !== undefined && tag !== 'body') expect(markup).toContain(`bgcolor="${background}"`);
      for (const name of ['color', 'background'])
        expect(styles.get(name) ?? '#000000', markup).toMatch(/^#[0-9a-f]{6}$/);
    }
  });

  /** "Supporting dark mode" of WebKit, and Apple's list of what is detected in text. */
  it('Apple Mail: both themes are offered, every colour has a dark one, and dates stay text', async () => {
    const { html } = await mailOf(both);
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toMatch(/<meta name="format-detection" content="[^"]*date=no/);
    const [, dark = ''] = /prefers-color-scheme:dark\)\{(.*?)\}<\/style>/s.exec(html) ?? [];
    for (const { markup, styles } of stylesIn(html)) {
      if (!styles.has('color') && !styles.has('background')) continue;
      // The label and the button have the same colours in both.
      const names = /class="([^"]*)"/.exec(markup)?.[1]?.split(' ') ?? [];
      const isPlate = styles.get('color') === '#ffffff' || names.includes('label') || names.includes('button');
      const isLink = markup.startsWith('<a');
      if (!isPlate) expect(isLink || names.some((name) => new RegExp(`\\.${name}[,{]`).test(dark)), markup).toBe(true);
    }
    expect(dark).toMatch(/\.ink a\{/);
    expect(dark).toMatch(/\.quiet a\{/);
  });
});

describe('on the wire', () => {
  let sink: MailSink;
  afterEach(() => sink.close());

  it.each(['Acme', 'Acme: “Status” (EU)', 'アクメ', 'Acme <x@y.example> "quoted", Inc.'])(
    'the list id of %s is one as RFC 2919 has it',
    async (title) => {
      sink = await startMailSink();
      const page = { ...PAGE, title };
      const mail = await noticeMail({ batch: 'b', page, recipient: RECIPIENT }, [noticeOf()]);
      await createSmtpMailer({ url: sink.url, from: 'status@pharos.example' })(mail);
      const raw = /^List-Id: (.*(?:\r?\n[ \t].*)*)/im.exec(sink.mails[0]?.raw ?? '')?.[1]?.replace(/\r?\n/g, '');
      expect(raw).toMatch(/^([A-Za-z0-9_-]+( [A-Za-z0-9_-]+)* )?<[0-9a-f]{24}\.status\.example\.com>$/);
    },
  );
});

it('no time of a notice depends on when its mail is written', async () => {
  const later = noticeOf({ at: toEpochMs(AT + 1) });
  const [first, again, other] = [await mailOf([noticeOf()]), await mailOf([noticeOf()]), await mailOf([later])];
  expect(again.html).toBe(first.html);
  expect(other.messageId).toBe(first.messageId);
});
