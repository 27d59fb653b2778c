import { afterEach, describe, expect, it } from 'vitest';
import { createSmtpMailer } from '../../../src/mail/mailer.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { linkMail, noticeMail } from '../../../src/notify/mails.ts';
import { NOTICE_EVENTS, type Notice } from '../../../src/notify/notice.ts';
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
const PAGE = { title: 'Acme', locale: 'en', timezone: 'Europe/Berlin' };

function mailOf(notices: readonly Notice[], page: Partial<typeof PAGE> = {}) {
  const { html = '', ...mail } = noticeMail({
    batch: 'batch-1',
    notices,
    page: { ...PAGE, ...page },
    recipient: RECIPIENT,
  });
  /** What a reader sees of it. */
  const shown = html
    .replace(/<(style|title)>.*?<\/\1>/gs, '')
    .replace(/<\/(td|h1)>|<br>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&nbsp;/g, '')
    .replace(/\n+/g, '\n')
    .trim();
  const links = [...html.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].map(([, href, text]) => [text, href]);
  return { ...mail, html, shown, links };
}

const resolved = noticeOf({
  event: 'incident_resolved',
  subject: { ...noticeOf().subject, status: 'resolved', impact: 'critical', endsAt: AT },
  text: 'All is well again.',
});

describe('a mail about an incident', () => {
  it('says its state once, in its colour, with one button and no bare address', () => {
    const { subject, shown, links, html } = mailOf([resolved]);
    expect(subject).toBe('[Acme] Resolved: Errors at the API');
    expect(shown.split('\n')).toEqual([
      'Acme',
      'Resolved',
      'Errors at the API',
      'Affects API and Checkout',
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
    expect(mailOf([noticeOf()]).shown).toContain('\nInvestigating · Major impact\n');
  });

  it('is as good in plain text', () => {
    expect(mailOf([resolved]).text).toBe(
      [
        'Errors at the API',
        'Resolved',
        'Affects API and Checkout',
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

  it('repeats no word of its state, whatever happens', () => {
    for (const locale of ['en', 'de', 'fr', 'es', 'pt-BR', 'ja', 'zh-Hans', 'ar'])
      for (const event of NOTICE_EVENTS)
        for (const status of ['investigating', 'resolved', 'postmortem', 'scheduled', 'completed']) {
          const impact = event.startsWith('incident_') ? ('minor' as const) : null;
          const notice = noticeOf({ event, subject: { ...noticeOf().subject, impact, status, endsAt: AT } });
          const [, label = ''] = mailOf([notice], { locale }).shown.split('\n');
          const parts = label.split(' · ');
          expect(new Set(parts).size, label).toBe(parts.length);
        }
  });

  it('lets a digest lead to each incident, and its button to the page', () => {
    const other = noticeOf({ id: 'n-2', subject: { ...noticeOf().subject, title: 'Slow search', url: null } });
    const { subject, links } = mailOf([resolved, other]);
    expect(subject).toBe('[Acme] 2 updates from Acme');
    expect(links).toEqual([
      ['Errors at the API', 'https://status.example.com/acme/incidents/4/'],
      ['View details', 'https://status.example.com/acme/'],
      ['Manage your subscription or unsubscribe', MANAGE],
    ]);
  });

  it('is nobody’s markup, and turns no direction', () => {
    for (const text of [...hostileTexts(200), 'a\u202eb\u2066c']) {
      const { html, text: plain, subject } = mailOf([noticeSaying(text)], { title: text });
      const tags = html.replace(
        /<(?:!doctype html|\/?(?:html|head|meta|title|style|body|table|tr|td|h1|br|span|a)\b[^<>]*)>/g,
        '',
      );
      expect(tags).not.toMatch(/[<>]/);
      expect(
        [...html.matchAll(/href="([^"]*)"/g)].every(([, href]) => href?.startsWith('https://status.example.com/')),
      ).toBe(true);
      expect(`${html}${plain}${subject}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    }
  });

  it('stays below what Gmail shows of a mail', () => {
    for (const text of ['<&>"'.repeat(9_000), '文'.repeat(20_000), '😀\n'.repeat(9_000)])
      for (const count of [1, 2, 100]) {
        const components = Array.from({ length: 300 }, () => text.slice(0, 120));
        const notices = Array.from({ length: count }, (_, index) => ({
          ...noticeSaying(text),
          id: `n-${index}`,
          components,
        }));
        const { html, text: plain, shown } = mailOf(notices);
        expect(Buffer.byteLength(html)).toBeLessThanOrEqual(90_000);
        expect(Buffer.byteLength(plain)).toBeLessThanOrEqual(90_000);
        if (count === 100) expect(shown).toMatch(/\+ \d+ updates from/);
      }
  });
});

it('titles keep what joins letters, and are cut between characters', () => {
  const about = (title: string): string =>
    mailOf([noticeOf({ subject: { ...noticeOf().subject, title } })]).subject.replace('[Acme] New incident: ', '');
  expect(about('Family 👨‍👩‍👧‍👦, می‌خواهم')).toBe('Family 👨‍👩‍👧‍👦, می‌خواهم');
  const long = about(`${'x'.repeat(112)}👨‍👩‍👧‍👦👨‍👩‍👧‍👦`);
  expect(long).toBe(`${'x'.repeat(112)}…`);
  expect(about(`${'x'.repeat(118)}😀😀`).isWellFormed()).toBe(true);
  expect(about('a\u202eb\u0007c\r\nBcc: x')).toBe('a b c Bcc: x');
});

it('a mail with a link has it behind a button', () => {
  const link = 'https://status.example.com/acme/subscribe/confirm/?token=t';
  const { html = '', text } = linkMail({ kind: 'confirm', id: 'r-1', page: PAGE, recipient: RECIPIENT, link });
  expect(html).toMatch(new RegExp(`<a href="${link.replace('?', '\\?')}"[^>]*>Confirm</a>`));
  expect(html.replace(/<[^>]*>/g, '')).not.toContain('http');
  expect(text).toContain(`To confirm, open this link:\n\n${link}\n`);
});

describe('on the wire', () => {
  let sink: MailSink;
  afterEach(() => sink.close());

  it.each(['Acme', 'Acme: “Status” (EU)', 'アクメ', 'Acme <x@y.example> "quoted", Inc.'])(
    'the list id of %s is one as RFC 2919 has it',
    async (title) => {
      sink = await startMailSink();
      const page = { ...PAGE, title };
      const mail = noticeMail({ batch: 'b', notices: [noticeOf()], page, recipient: RECIPIENT });
      await createSmtpMailer({ url: sink.url, from: 'status@pharos.example' })(mail);
      const raw = /^List-Id: (.*(?:\r?\n[ \t].*)*)/im.exec(sink.mails[0]?.raw ?? '')?.[1]?.replace(/\r?\n/g, '');
      expect(raw).toMatch(/^([A-Za-z0-9_-]+( [A-Za-z0-9_-]+)* )?<[0-9a-f]{24}\.status\.example\.com>$/);
    },
  );
});

it('no time of a notice depends on when its mail is written', () => {
  const later = noticeOf({ at: toEpochMs(AT + 1) });
  expect(mailOf([noticeOf()]).html).toBe(mailOf([noticeOf()]).html);
  expect(mailOf([later]).messageId).toBe(mailOf([noticeOf()]).messageId);
});
