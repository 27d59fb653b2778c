/** What a kind of channel is: a notice, in the form that the program at the other end documents. */

import { hash } from 'node:crypto';
import type { ChannelKindName, ChannelSettings } from '../../config/notifications.ts';
import { LINK_LENGTH_MAX } from '../../model/scalars.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Handover } from '../../outbox/outbox.ts';
import { shorten } from '../../shorten.ts';
import { formatIn } from '../../views/text/format.ts';
import { cleanLine, cleanText } from '../../views/text/plain-text.ts';
import { fill, findWords } from '../../views/words/index.ts';
import { impactWord, statusWord } from '../../views/words/state-words.ts';
import type { Notice } from '../news.ts';

/** One HTTP request, to be sent as it is. */
export interface OutgoingRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How one attempt to send a notice by HTTP ended. */
export type Delivery = Extract<Handover, { outcome: 'delivered' | 'postponed' | 'rejected' }>;

/** The response to a request; its body may be cut. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A kind that is reached by HTTP: address, headers and body. Pure. */
export interface ChannelKind<K extends ChannelKindName> {
  readonly kind: K;
  /**
   * The requests that tell `notice`, in their order, each of which may be sent again. None: such a notice is none of its
   * business, and counts as delivered.
   *
   * @param at when it is sent, for signatures
   */
  readonly requests: (settings: ChannelSettings<K>, notice: Notice, at: EpochMs) => readonly OutgoingRequest[];
  /** Whether a 2xx is what the program documents. Something else may listen at a mistyped address. */
  readonly isTaken: (answer: Answer) => boolean;
  /** Statuses to retry besides the usual ones. */
  readonly retried?: readonly number[];
}

export type ChannelKinds<Names extends ChannelKindName> = { readonly [K in Names]: ChannelKind<K> };

/** A request with a JSON body. */
export function sendJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  method: OutgoingRequest['method'] = 'POST',
): OutgoingRequest {
  return {
    method,
    url,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

/** A body as a JSON object; null: it is none, or it was cut. */
export function parseObject({ body }: Answer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

/**
 * A string or boolean of a JSON object. Programs return the whole message that they were sent, which is too long to be read:
 * of an object that was cut, the first field of that name counts.
 */
export function readField(answer: Answer, name: string): unknown {
  const whole = parseObject(answer);
  if (whole !== null) return whole[name];
  if (!/^\s*\{/.test(answer.body)) return undefined;
  const found = new RegExp(`"${name}"\\s*:\\s*(true|false|"(?:[^"\\\\]|\\\\.)*")`).exec(answer.body)?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as unknown);
}

/** What a notice says, in words of its language: the same for all channels, each of which dresses it in its own form. */
interface Message {
  /** `Investigating: Errors at the API` */
  readonly headline: string;
  /** The text of the update; may be empty. */
  readonly text: string;
  /** What it affects, how badly, and when: a short sentence each. */
  readonly facts: readonly string[];
  /** Text and facts. */
  readonly body: string;
  /** Names of components, a hundred at most. */
  readonly names: readonly string[];
  readonly page: string;
  /** Of the incident, else of its page; null: the site has no address. */
  readonly url: string | null;
  /** Title of the incident. */
  readonly title: string;
}

/** Characters that turn the direction of what follows, also outside of the text that they are in. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;
/** So that a thousand components make no message of names only. */
const NAMES_SHOWN_MAX = 10;
const NAMES_MAX = 100;
const NAME_MAX = 200;

/** Every text in it is clean: no control characters, no lone surrogates. It is still hostile where a program reads markup. */
export function describeNotice(notice: Notice): Message {
  const { page, subject, components } = notice;
  const words = findWords(page.language);
  const format = formatIn(page.language, 'UTC');
  const names = components.map((name) => shorten(plainLine(name), NAME_MAX)).filter((name) => name !== '');
  const shown = names.slice(0, NAMES_SHOWN_MAX);
  const others = names.length > NAMES_SHOWN_MAX ? ['…'] : [];
  const isMaintenance = notice.event.startsWith('maintenance_');
  const time = (label: string, at: typeof subject.startedAt): string => `${label}: ${format.zoned.time(at).text}`;
  const title = plainLine(subject.title);
  const text = plainBlock(notice.text);
  const facts = [
    ...(names.length === 0 ? [] : [fill(words.affects, { names: format.list([...shown, ...others]) })]),
    ...(subject.impact === null ? [] : [impactWord(subject.impact, words)]),
    ...(isMaintenance ? [time(words.starts, subject.startedAt)] : []),
    ...(isMaintenance && subject.endsAt !== null ? [time(words.ends, subject.endsAt)] : []),
  ];
  return {
    headline: `${statusWord(subject.status, words)}: ${title}`,
    text,
    facts,
    body: joinParts([text, facts.join('\n')]),
    names: names.slice(0, NAMES_MAX),
    page: plainLine(page.title) || page.slug,
    url: safeLink(subject.url ?? page.url),
    title: title || page.slug,
  };
}

/** Headline, text and facts below each other, for programs that show plain text; its link last. */
export function writePlainText({ headline, body, page, url }: Message): string {
  return joinParts([headline, body, url === null ? page : `${page}: ${url}`]);
}

/** The parts that say something, with a blank line between them. */
export function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/**
 * What becomes of the alert of an incident: it is open, or over. Null: nobody on call is concerned, since the work is planned,
 * or since something is added to an incident that has ended, such as its postmortem.
 */
export function alertState({ event, subject }: Notice): 'open' | 'over' | null {
  if (event === 'incident_resolved') return 'over';
  return event.startsWith('incident_') && subject.endsAt === null ? 'open' : null;
}

/** What a notice is recognised by, however often it is sent; fit for a header. */
export function noticeKey({ id }: Notice): string {
  return /^[\w:/-]{1,120}$/.test(id) ? id : hash('sha256', id);
}

/** The same for all notices of one incident or maintenance, in plain characters, `max` of them at most. */
export function subjectKey({ subject }: Notice, max: number): string {
  const key = `pharos/${subject.id}`;
  return key.length <= max && /^[\w./:-]+$/.test(key) ? key : `pharos/${hash('sha256', subject.id)}`.slice(0, max);
}

/** One line of clean text. */
export function plainLine(text: string): string {
  return cleanLine(text.replace(DIRECTION, ''));
}

/** Clean text, with one blank line at most between its paragraphs. */
export function plainBlock(text: string): string {
  return cleanText(text.replace(DIRECTION, ''))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Our own addresses only, none longer than any program takes, written so that no program takes a part of one for markup. */
export function safeLink(url: string | null): string | null {
  const parsed = url === null ? null : URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return null;
  const href = parsed.href.replace(
    /[|'()*[\]<>\\^`{}]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return href.length > LINK_LENGTH_MAX ? null : href;
}
