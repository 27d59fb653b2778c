/** Mails to subscribers, in the language of the page: plain text, and HTML that loads nothing. */

import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Revealing } from '../access/digest.ts';
import { handOver, type Mail, oneLine, type SendMail } from '../mail/mail.ts';
import { escapeMarkup } from '../model/scalars.ts';
import type { PageKey } from '../model/slugs.ts';
import type { State } from '../model/state.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS } from '../model/time.ts';
import type { Handover, Job } from '../outbox/outbox.ts';
import { byteLength, shorten } from '../shorten.ts';
import type { Reader } from '../store/database.ts';
import { type Format, formatIn } from '../views/text/format.ts';
import { count, fill, findWords, impactWord, localeDirection, statusWord, type Words } from '../views/words/index.ts';
import { plainBlock, plainLine } from './channel.ts';
import { type MailDocument, type MailSection, writeHtml } from './mail-html.ts';
import { type Notice, type NoticeEvent, noticeIn } from './news.ts';
import { readFormComponents, readNotices } from './queue.ts';
import {
  type AddressSeal,
  gateVersion,
  linkToken,
  mayReceive,
  type SubscribablePage,
  type Subscriber,
  subscriberById,
  textOn,
} from './subscribers.ts';

/** The page that a mail is about. */
interface MailPage {
  readonly title: string;
  readonly locale: string;
  readonly timezone: string;
}

interface MailRecipient {
  readonly address: string;
  /** Distinguishes recipients in Message-IDs without revealing who they are. */
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

const IMPACT_STATES = {
  none: 'unknown',
  minor: 'degraded',
  major: 'partial_outage',
  critical: 'major_outage',
} as const satisfies Record<NonNullable<Notice['subject']['impact']>, State>;

/** Limits for one text, alone and among others, and for all sections: Gmail cuts mails off at 102 kB. */
const TEXT_BYTES_MAX = 16_000;
const DIGEST_TEXT_BYTES_MAX = 4_000;
const SECTIONS_BYTES_MAX = 70_000;
const NAMES_MAX = 20;
const NAME_MAX = 100;

interface MailInit {
  /** The same whenever the same is sent. */
  readonly batch: string;
  readonly page: MailPage;
  readonly recipient: MailRecipient;
}

/** Notices in order, at least one. */
type Notices = readonly Notice[];

/** One notice, or several as one digest. Mails about the same incident are one thread. */
export async function noticeMail({ batch, page, recipient }: MailInit, notices: Notices): Promise<Mail> {
  const words = findWords(page.locale);
  const title = oneLine(page.title);
  const [first] = notices;
  if (first === undefined) throw new TypeError('a mail without notices');
  const subject =
    notices.length > 1
      ? digestText(notices.length, page)
      : `${words[EVENT_WORDS[first.event]]}: ${oneLine(first.subject.title)}`;
  const init = { notices, page };
  const { text, html } = await bodies.forceFetch(JSON.stringify(init), { context: init });
  return {
    to: recipient.address,
    subject: `[${title}] ${subject}`,
    text: text.replaceAll(MANAGE_PLACE, recipient.manageUrl),
    html: html.replaceAll(MANAGE_PLACE, escapeMarkup(recipient.manageUrl)),
    messageId: messageId(batch, recipient),
    references: [...new Set(notices.map((notice) => notice.subject.id))].map((id) => messageId(id, recipient)),
    headers: {
      'List-Unsubscribe': `<${recipient.leaveUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-Id': listId(title, recipient),
      Precedence: 'list',
    },
  };
}

/** Stands for the link of a recipient, the only thing in a body that differs between them. Nobody can guess it. */
const MANAGE_PLACE = `https://${randomUUID()}.invalid/`;
/** Bodies kept: thousands get the same notices, and styles take milliseconds to inline. */
const BODIES_MAX = 20;
const bodies = new LRUCache<string, Body, Parameters<typeof noticeBody>[0]>({
  max: BODIES_MAX,
  fetchMethod: (_key, _old, { context }) => noticeBody(context),
});

function noticeBody({ notices, page }: { readonly notices: Notices; readonly page: MailPage }): Promise<Body> {
  const words = findWords(page.locale);
  const isDigest = notices.length > 1;
  const sections = fitSections(notices.map((notice) => toSection(notice, page, words, isDigest)));
  const left = notices.length - sections.length;
  const more = left === 0 ? [] : [{ ...EMPTY, text: `+ ${digestText(left, page)}` }];
  const pageUrl = notices[0]?.page.url ?? null;
  const target = isDigest ? pageUrl : (notices[0]?.subject.url ?? pageUrl);
  return writeBody(page, {
    sections: [...sections, ...more],
    button: target === null ? null : { text: words.noticeView, href: target },
    footer: [fill(words.noticeWhy, { title: oneLine(page.title) }), { text: words.noticeManage, href: MANAGE_PLACE }],
  });
}

function digestText(notices: number, { title, locale }: MailPage): string {
  return fill(count(findWords(locale).noticeDigest, notices, locale), { title: oneLine(title) });
}

/** A mail with a link, to confirm a subscription or to manage an existing one. */
export async function linkMail({ batch, page, recipient }: MailInit, kind: 'confirm' | 'known', link: string) {
  const words = findWords(page.locale);
  const title = oneLine(page.title);
  const isNew = kind === 'confirm';
  const text = fill(isNew ? words.confirmAsked : words.knownBody, { title });
  return {
    to: recipient.address,
    subject: fill(isNew ? words.confirmSubject : words.knownSubject, { title }),
    ...(await writeBody(page, {
      sections: [{ ...EMPTY, text }],
      button: { text: isNew ? words.subscribeConfirm : words.subscribeManage, href: link },
      footer: isNew ? [words.confirmIgnore] : [],
    })),
    messageId: messageId(batch, recipient),
  };
}

const EMPTY: MailSection = { label: null, heading: '', href: null, facts: [], text: '', time: '' };

/** @param isDigest each heading links to its notice, because the button leads to the page */
function toSection(notice: Notice, page: MailPage, words: Words, isDigest: boolean): MailSection {
  const { subject, components, text, at, event } = notice;
  const { impact } = subject;
  const format = formatIn(page.locale, page.timezone);
  const isOver = event === 'incident_resolved' || event === 'maintenance_completed';
  const status = impact === null ? words[EVENT_WORDS[event]] : statusWord(subject.status, words);
  const suffix = impact === null || impact === 'none' || isOver ? '' : ` · ${impactWord(impact, words)}`;
  const names = components.map((name) => shorten(plainLine(name), NAME_MAX));
  const shown = names.length > NAMES_MAX ? [...names.slice(0, NAMES_MAX), '…'] : names;
  return {
    label: {
      text: `${status}${suffix}`,
      state: isOver ? 'operational' : impact === null ? 'maintenance' : IMPACT_STATES[impact],
    },
    heading: oneLine(subject.title),
    href: isDigest ? subject.url : null,
    facts: [
      ...(shown.length === 0 ? [] : [fill(words.affects, { names: format.list(shown) })]),
      ...(impact === null && subject.endsAt === null ? [] : [whenText(subject, words, format)]),
    ],
    text: shorten(
      plainBlock(text),
      isDigest ? DIGEST_TEXT_BYTES_MAX : TEXT_BYTES_MAX,
      (plain) => plain,
      (plain) => byteLength(escapeMarkup(plain)),
    ),
    time: format.zoned.time(at).text,
  };
}

/** Start, end and duration; only the start if it is ongoing. */
function whenText({ startedAt, endsAt }: Notice['subject'], words: Words, format: Format): string {
  const { from, to } = format.range(startedAt, endsAt, 'time');
  if (to === null || endsAt === null) return `${words.ongoing} · ${fill(words.sinceTime, { time: from.text })}`;
  return `${from.text} – ${to.text}${endsAt > startedAt ? ` (${format.duration(endsAt - startedAt)})` : ''}`;
}

/** As many sections as fit into a mail; at least one. */
function fitSections(sections: readonly MailSection[]): readonly MailSection[] {
  let bytes = 0;
  const end = sections.findIndex((section) => {
    // About 1,600 bytes are styles.
    bytes += 1_600 + byteLength(escapeMarkup(JSON.stringify(section)));
    return bytes > SECTIONS_BYTES_MAX;
  });
  return end === -1 ? sections : sections.slice(0, Math.max(1, end));
}

type Body = Required<Pick<Mail, 'text' | 'html'>>;

async function writeBody(
  { locale, title }: MailPage,
  { sections, button, footer }: Pick<MailDocument, 'sections' | 'button' | 'footer'>,
): Promise<Body> {
  const written = sections.map(({ label, heading, href, facts, text, time }) =>
    [[heading, label?.text ?? '', ...facts], [text], [time, href ?? '']]
      .map((lines) => lines.filter((line) => line !== '').join('\n'))
      .filter((part) => part !== '')
      .join('\n\n'),
  );
  const foot = footer.map((part) => (typeof part === 'string' ? part : `${part.text}\n${part.href}`)).join('\n\n');
  const link = button === null ? '' : `\n\n${button.href}`;
  return {
    text: `${[`${written.join('\n\n\n')}${link}`, ...(foot === '' ? [] : [`-- \n${foot}`])].join('\n\n\n')}\n`,
    html: await writeHtml({
      locale,
      direction: localeDirection(locale),
      title: oneLine(title),
      sections,
      button,
      // Addresses follow a colon in text, but not in a link.
      footer: footer.map((part) =>
        typeof part === 'string' ? part : { ...part, text: part.text.replace(/\s*[:：]$/, '') },
      ),
    }),
  };
}

/** A Message-ID that is always the same for one incident and recipient, in the domain of the links. */
function messageId(thing: string, recipient: MailRecipient): string {
  return `<${shortHash(thing)}.${shortHash(recipient.id)}@${linkHost(recipient)}>`;
}

/** Follows RFC 2919, with words that need no quotes: mailers would encode quotes together with the id. */
function listId(title: string, recipient: MailRecipient): string {
  const words = title
    .replace(/[^A-Za-z0-9 _-]/g, '')
    .replace(/ +/g, ' ')
    .trim();
  return `${words} <${shortHash(title)}.${linkHost(recipient)}>`.trimStart();
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

function linkHost({ manageUrl }: MailRecipient): string {
  return new URL(manageUrl).hostname;
}

/** Sends one message of the outbox to a subscriber, if it is still for them. */
interface SubscriberMailDeps {
  readonly reader: Reader;
  readonly key: Revealing;
  readonly seal: AddressSeal;
  readonly now: () => EpochMs;
  readonly send: SendMail;
  /** Null: there is no such page, or it has no subscriptions. */
  readonly pageOf: (page: PageKey) => SubscribablePage | null;
}

/**
 * A page may be missing or closed to the subscriber only for a moment, during a restart or while its gate is being changed. After
 * this time the message is dropped.
 */
const PAGE_WAIT_MS = HOUR_MS;

export async function sendToSubscriber(deps: SubscriberMailDeps, job: Job): Promise<Handover> {
  const subscriber = await subscriberById(deps.reader, job.recipient);
  if (subscriber === null || !wantedStates(job).includes(subscriber.state)) return { outcome: 'dropped' };
  const address = deps.seal.open(subscriber.address, subscriber.id);
  if (address === null)
    return {
      outcome: 'postponed',
      reason: 'the address was encrypted with another key; restore the previous secret.key or access.key',
      afterMs: MINUTE_MS,
    };
  const page = deps.pageOf(subscriber.page);
  // Whoever asked again has just passed the gate, which may be another than when they subscribed.
  const gate = job.kind === 'known' && page !== null ? gateVersion(page.gated) : subscriber.gate;
  if (page === null || !mayReceive(page, address, gate)) {
    if (deps.now() - job.createdAt > PAGE_WAIT_MS) return { outcome: 'dropped' };
    return { outcome: 'postponed', reason: 'the subscriber is not allowed to see the page', afterMs: MINUTE_MS };
  }
  // What was written behind another gate may be hidden now.
  const identity = { ...page.identity, key: subscriber.page };
  if (job.kind === 'notice' && (await readFormComponents(deps.reader, identity)) === null)
    return { outcome: 'postponed', reason: 'the page is not published with its current access', afterMs: MINUTE_MS };
  const mail = await mailFor(deps, job, subscriber, address, page);
  return mail === null ? { outcome: 'dropped' } : handOver(deps.send, mail);
}

/** Links to confirm are for pending subscribers only, updates for active ones, and links to manage also for paused ones. */
function wantedStates({ kind }: Job): readonly Subscriber['state'][] {
  return kind === 'confirm' ? ['pending'] : kind === 'known' ? ['active', 'paused'] : ['active'];
}

async function mailFor(
  { reader, key }: SubscriberMailDeps,
  { kind, batch, items }: Job,
  { id, locale: chosen }: Subscriber,
  address: string,
  { page, titles, timezone, locales }: SubscribablePage,
): Promise<Mail | null> {
  const other = locales?.find((locale) => locale === chosen);
  const locale = other ?? page.locale;
  const tree = other === undefined ? '' : `${other}/`;
  const linkTo = (path: string, token: string): string => `${page.url}${tree}subscribe/${path}/?token=${token}`;
  const manage = linkToken(key, 'manage', id);
  const recipient = { address, id, manageUrl: linkTo('manage', manage), leaveUrl: linkTo('leave', manage) };
  const title = textOn(page, locale, page.title, titles).text;
  const init = { batch, page: { title, locale, timezone }, recipient };
  if (kind === 'confirm') return linkMail(init, kind, linkTo('confirm', linkToken(key, 'confirm', id)));
  if (kind === 'known') return linkMail(init, kind, recipient.manageUrl);
  const notices = (await readNotices(reader, items)).map((told) => noticeIn(told, locale));
  return notices.length === 0 ? null : noticeMail(init, notices);
}
