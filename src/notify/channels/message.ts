/** What a notice says, in words of its language: the same for all channels, each of which dresses it in its own form. */

import { LINK_LENGTH_MAX } from '../../model/scalars.ts';
import { formatIn } from '../../views/text/format.ts';
import { cleanLine, cleanText } from '../../views/text/plain-text.ts';
import { fill, findWords } from '../../views/words/index.ts';
import { impactWord, statusWord } from '../../views/words/state-words.ts';
import type { Notice } from '../notice.ts';

interface Message {
  /** `Investigating: Errors at the API` */
  readonly headline: string;
  /** What the update says; empty: nothing. */
  readonly text: string;
  /** What it affects, how badly, and when: a short sentence each. */
  readonly facts: readonly string[];
  /** Of components, a hundred at most. */
  readonly names: readonly string[];
  readonly page: string;
  /** Of the incident, else of its page; null: the site has no address. */
  readonly url: string | null;
  /** Of a link to it. */
  readonly linkText: string;
}

/** Characters that turn the direction of what follows, also outside of the text that they are in. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;
/** So that a thousand components make no message of names only. */
const NAMES_SHOWN_MAX = 10;
const NAMES_MAX = 100;

/** Every text in it is clean: no control characters, no lone surrogates. It is still hostile where a program reads markup. */
export function messageOf(notice: Notice): Message {
  const { page, subject, components } = notice;
  const words = findWords(page.language);
  const format = formatIn(page.language, 'UTC');
  const names = components.map(lineOf).filter((name) => name !== '');
  const shown = names.slice(0, NAMES_SHOWN_MAX);
  const others = names.length > NAMES_SHOWN_MAX ? ['…'] : [];
  const isMaintenance = notice.event.startsWith('maintenance_');
  const time = (label: string, at: typeof subject.startedAt): string => `${label}: ${format.timeWithZone(at).text}`;
  return {
    headline: `${statusWord(subject.status, words)}: ${lineOf(subject.title)}`,
    text: blockOf(notice.text),
    facts: [
      ...(names.length === 0 ? [] : [fill(words.affects, { names: format.list([...shown, ...others]) })]),
      ...(subject.impact === null ? [] : [impactWord(subject.impact, words)]),
      ...(isMaintenance ? [time(words.starts, subject.startedAt)] : []),
      ...(isMaintenance && subject.endsAt !== null ? [time(words.ends, subject.endsAt)] : []),
    ],
    names: names.slice(0, NAMES_MAX),
    page: lineOf(page.title) || page.slug,
    url: linkOf(subject.url ?? page.url),
    linkText: lineOf(subject.title) || page.slug,
  };
}

/** Headline, text and facts below each other, for programs that show plain text; its link last. */
export function plainTextOf({ headline, text, facts, page, url }: Message): string {
  return [headline, text, facts.join('\n'), url === null ? page : `${page}: ${url}`]
    .filter((part) => part !== '')
    .join('\n\n');
}

/**
 * What becomes of the alert of an incident: it is open, or over. Null: nobody on call is concerned, since the work is planned,
 * or since something is added to an incident that has ended, such as its post-mortem.
 */
export function alertOf({ event, subject }: Notice): 'open' | 'over' | null {
  if (event === 'incident_resolved') return 'over';
  return event.startsWith('incident_') && subject.endsAt === null ? 'open' : null;
}

function lineOf(text: string): string {
  return cleanLine(text.replace(DIRECTION, ''));
}

function blockOf(text: string): string {
  return cleanText(text.replace(DIRECTION, ''))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Our own addresses only, none longer than any program takes, written so that no program takes a part of one for markup. */
function linkOf(url: string | null): string | null {
  const parsed = url === null ? null : URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return null;
  const href = parsed.href.replace(
    /[|'()*[\]<>\\^`{}]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return href.length > LINK_LENGTH_MAX ? null : href;
}
