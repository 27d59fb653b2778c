/**
 * Defines kinds of channels, which convert a notice into the format that the receiver documents; and the text of
 * notices.
 */

import { hash } from 'node:crypto';
import type { ChannelKindName, ChannelSettings } from '../config/notifications.ts';
import { LINK_LENGTH_MAX } from '../model/scalars.ts';
import type { EpochMs } from '../model/time.ts';
import { byteLength, shorten } from '../shorten.ts';
import { formatIn } from '../views/text/format.ts';
import { cleanLine, cleanText } from '../views/text/plain-text.ts';
import { fill, findWords, impactWord, statusWord } from '../views/words/index.ts';
import type { Notice } from './news.ts';

/** One HTTP request to send. */
export type OutgoingRequest = ReturnType<typeof sendJson>;

/** The response to a request; its body may be cut. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A kind that is reached by HTTP: address, headers and body. Pure. */
interface ChannelKind<K extends ChannelKindName> {
  /**
   * The request for a notice, or several in order; each may be sent again.
   *
   * @param at time of sending, for signatures
   */
  readonly write: (
    settings: ChannelSettings<K>,
    message: Message,
    notice: Notice,
    at: EpochMs,
  ) => OutgoingRequest | readonly OutgoingRequest[];
  /** Whether a 2xx response is the documented one. Another program may listen at a mistyped address. */
  readonly isTaken: (answer: Answer) => boolean;
  /** True: it uses no other notices than alerts, which counts as delivered. */
  readonly isOnCall?: true;
  /** Statuses to retry besides the usual ones. */
  readonly retried?: readonly number[];
}

export type ChannelKinds<Names extends ChannelKindName> = { readonly [K in Names]: ChannelKind<K> };

/** A request with a JSON body. */
export function sendJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  method: 'POST' | 'PUT' = 'POST',
) {
  const all: typeof headers = { 'content-type': 'application/json; charset=utf-8', ...headers };
  return { method, url, headers: all, body: JSON.stringify(body) };
}

/** A body as a JSON object; null: it isn't one, or was cut. */
export function parseObject({ body }: Answer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

/**
 * A string or boolean from a JSON object. Some services return the whole message sent, which is too long to read: if
 * the object was cut, the first field with that name counts.
 */
export function readField(answer: Answer, name: string): unknown {
  const whole = parseObject(answer);
  if (whole !== null) return whole[name];
  if (!/^\s*\{/.test(answer.body)) return undefined;
  const found = new RegExp(`"${name}"\\s*:\\s*(true|false|"(?:[^"\\\\]|\\\\.)*")`).exec(answer.body)?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as unknown);
}

/** The text of a notice in its language, the same for all channels. */
export type Message = ReturnType<typeof describeNotice>;

/** Characters that change the text direction, also of the text that follows. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;
/** So that a thousand components don't fill a message with names. */
const NAMES_SHOWN_MAX = 10;
const NAMES_MAX = 100;
const NAME_MAX = 200;

/** Texts contain no control characters and no lone surrogates. They may still contain hostile markup. */
export function describeNotice(notice: Notice) {
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
    /** `Investigating: Errors at the API` */
    headline: `${statusWord(subject.status, words)}: ${title}`,
    /** The text of the update; may be empty. */
    text,
    /** Short sentences: what is affected, how badly, and when. */
    facts,
    /** Text and facts. */
    body: joinParts([text, facts.join('\n')]),
    /** Names of components, a hundred at most. */
    names: names.slice(0, NAMES_MAX),
    page: plainLine(page.title) || page.slug,
    /** Address of the incident, or of its page; null: the site has no address. */
    url: safeLink(subject.url ?? page.url),
    /** Title of the incident. */
    title: title || page.slug,
    alert: alertState(notice),
  };
}

/** Plain text: headline, text, facts and the link, one below the other. */
export function writePlainText({ headline, body, page, url }: Message): string {
  return joinParts([headline, body, url === null ? page : `${page}: ${url}`]);
}

/** Joins the parts that aren’t empty, with blank lines by default. */
export function joinParts(parts: readonly string[], between = '\n\n'): string {
  return parts.filter((part) => part !== '').join(between);
}

/** `text` in at most `max` bytes, as they count in UTF-8 or in a JSON document. */
export function shortenBytes(text: string, max: number, measure: (text: string) => number = byteLength): string {
  return shorten(text, max, (plain) => plain, measure);
}

/**
 * State of the alert for an incident. Null: no alert, because this is planned work, or because it adds to an incident that has
 * ended, such as a postmortem.
 */
export function alertState({ event, subject }: Notice): 'open' | 'over' | null {
  if (event === 'incident_resolved') return 'over';
  return event.startsWith('incident_') && subject.endsAt === null ? 'open' : null;
}

/** Identifies a notice, however often it is sent. Valid in a header. */
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

/** Returns an address of ours that isn’t too long for any receiver, encoded so that none parses markup in it. */
export function safeLink(url: string | null): string | null {
  const parsed = url === null ? null : URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return null;
  const href = parsed.href.replace(
    /[|'()*[\]<>\\^`{}]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return href.length > LINK_LENGTH_MAX ? null : href;
}
