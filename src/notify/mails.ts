/** What subscribers are sent: plain text, and the same as HTML that loads nothing. In the language of the page. */

import { createHash } from 'node:crypto';
import { type Mail, oneLine } from '../mail/mail.ts';
import { escapeMarkup } from '../model/markup.ts';
import { formatIn } from '../views/text/format.ts';
import { count, fill, findWords, localeDirection, type Words } from '../views/words/index.ts';
import { impactWord, statusWord } from '../views/words/state-words.ts';
import type { Notice, NoticeEvent } from './notice.ts';

/** Of the page that a mail is about. */
interface MailPage {
  readonly title: string;
  readonly locale: string;
  readonly timezone: string;
}

export interface MailRecipient {
  readonly address: string;
  /** Tells recipients apart in Message-IDs, and says nothing of them. */
  readonly id: string;
  /** Absolute. */
  readonly manageUrl: string;
  /** Takes the POST of RFC 8058. Absolute. */
  readonly leaveUrl: string;
}

const EVENT_WORDS = {
  incident_opened: 'noticeOpened',
  incident_updated: 'noticeUpdated',
  incident_resolved: 'noticeResolved',
  maintenance_announced: 'noticeAnnounced',
  maintenance_started: 'noticeStarted',
  maintenance_completed: 'noticeCompleted',
} as const satisfies Record<NoticeEvent, keyof Words>;

interface NoticeMailInit {
  /** The same for the same notices however often they are sent. */
  readonly batch: string;
  /** At least one, in their order. */
  readonly notices: readonly Notice[];
  readonly page: MailPage;
  readonly recipient: MailRecipient;
}

/** One notice, or several as one digest. Mails about the same incident are one thread. */
export function noticeMail({ batch, notices, page, recipient }: NoticeMailInit): Mail {
  const words = findWords(page.locale);
  const title = oneLine(page.title);
  const sections = notices.map((notice) => sectionOf(notice, page, words));
  const [first] = notices;
  const subject =
    notices.length === 1 && first !== undefined
      ? `${words[EVENT_WORDS[first.event]]}: ${oneLine(first.subject.title)}`
      : fill(count(words.noticeDigest, notices.length, page.locale), { title });
  const subjects = [...new Set(notices.map((notice) => notice.subject.id))];
  return {
    to: recipient.address,
    subject: `[${title}] ${subject}`,
    ...bodyOf(page, {
      sections,
      footer: [
        { text: fill(words.noticeWhy, { title }), href: null },
        { text: words.noticeManage, href: recipient.manageUrl },
      ],
    }),
    messageId: messageId(batch, recipient),
    references: subjects.map((id) => messageId(id, recipient)),
    headers: {
      'List-Unsubscribe': `<${recipient.leaveUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-Id': `${headerWords(title)}<${hashOf(title)}.${hostOf(recipient)}>`,
      Precedence: 'list',
    },
  };
}

interface LinkMailInit {
  readonly kind: 'confirm' | 'known';
  /** Of the request. */
  readonly id: string;
  readonly page: MailPage;
  readonly recipient: MailRecipient;
  /** What it leads to. Absolute. */
  readonly link: string;
}

/** The link that begins a subscription, or that leads to the one there is. */
export function linkMail({ kind, id, page, recipient, link }: LinkMailInit): Mail {
  const words = findWords(page.locale);
  const title = oneLine(page.title);
  const isNew = kind === 'confirm';
  const lead = { text: fill(isNew ? words.confirmAsked : words.knownBody, { title }), href: link };
  return {
    to: recipient.address,
    subject: fill(isNew ? words.confirmSubject : words.knownSubject, { title }),
    ...bodyOf(page, {
      sections: [[lead]],
      footer: isNew ? [{ text: words.confirmIgnore, href: null }] : [],
    }),
    messageId: messageId(id, recipient),
  };
}

/** A paragraph, with an address below it. */
interface Paragraph {
  readonly text: string;
  readonly href: string | null;
  readonly isHeading?: boolean;
}

function sectionOf(notice: Notice, page: MailPage, words: Words): Paragraph[] {
  const { subject, components, text, at, event } = notice;
  const format = formatIn(page.locale, page.timezone);
  const impact = subject.impact === null || subject.impact === 'none' ? [] : [impactWord(subject.impact, words)];
  const facts = [
    `${words[EVENT_WORDS[event]]} · ${[statusWord(subject.status, words), ...impact].join(' · ')}`,
    ...(components.length === 0 ? [] : [fill(words.affects, { names: format.list([...components]) })]),
    ...(subject.impact === null && subject.endsAt !== null
      ? [`${format.timeWithZone(subject.startedAt).text} – ${format.timeWithZone(subject.endsAt).text}`]
      : []),
  ];
  return [
    { text: oneLine(subject.title), href: null, isHeading: true },
    { text: facts.join('\n'), href: null },
    ...(text === '' ? [] : [{ text, href: null }]),
    { text: format.timeWithZone(at).text, href: subject.url },
  ];
}

function bodyOf(
  { locale }: MailPage,
  { sections, footer }: { readonly sections: readonly (readonly Paragraph[])[]; readonly footer: readonly Paragraph[] },
): Pick<Mail, 'text' | 'html'> {
  const plain = (paragraphs: readonly Paragraph[]): string =>
    paragraphs.map(({ text, href }) => [text, ...(href === null ? [] : [href])].join('\n')).join('\n\n');
  const text = `${[...sections.map(plain), ...(footer.length === 0 ? [] : [`-- \n${plain(footer)}`])].join('\n\n\n')}\n`;
  const direction = localeDirection(locale);
  const html = [
    `<!doctype html><html lang="${escapeMarkup(locale)}" dir="${direction}"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>`,
    '<body style="margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,\'Segoe UI\',sans-serif"><div style="max-width:600px;margin:0 auto">',
    sections
      .map((section) => section.map(markupOf).join(''))
      .join('<hr style="border:0;border-top:1px solid #8888;margin:24px 0">'),
    footer.length === 0
      ? ''
      : `<hr style="border:0;border-top:1px solid #8888;margin:24px 0"><div style="font-size:14px">${footer.map(markupOf).join('')}</div>`,
    '</div></body></html>',
  ].join('');
  return { text, html };
}

function markupOf({ text, href, isHeading = false }: Paragraph): string {
  const body = escapeMarkup(text).replaceAll('\n', '<br>');
  const link = href === null ? '' : `<br><a href="${escapeMarkup(href)}">${escapeMarkup(href)}</a>`;
  return isHeading
    ? `<h1 style="font-size:20px;margin:0 0 12px">${body}</h1>`
    : `<p style="margin:0 0 12px">${body}${link}</p>`;
}

/** The same for the same thing and recipient for ever; of the domain that the links are of. */
function messageId(thing: string, recipient: MailRecipient): string {
  return `<${hashOf(thing)}.${hashOf(recipient.id)}@${hostOf(recipient)}>`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

function hostOf({ manageUrl }: MailRecipient): string {
  return new URL(manageUrl).hostname;
}

/** A title as the words before an id in a header; what is not plain is left out. */
function headerWords(title: string): string {
  const plain = title.replace(/[^A-Za-z0-9 ._-]/g, '').trim();
  return plain === '' ? '' : `"${plain}" `;
}
