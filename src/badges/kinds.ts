/** What each kind of badge says of a page, a group or a component. Pure; the present is `subject.now`. */

import type { BadgeSubject } from '../views/badges/badge.ts';
import {
  type BadgeContent,
  type ContentMaker,
  daysSinceIncidentContent,
  maintenanceContent,
  openIncidentsContent,
  recentIncidentsContent,
  responseTimeContent,
  type Said,
  statusContent,
  uptimeContent,
} from './content.ts';
import type { BadgeStyle } from './names.ts';
import type { BadgeOptions } from './options.ts';
import type { BadgeFields } from './render.ts';
import { type BadgeWords, badgeWordsIn } from './words.ts';

/** A badge's fields, and whether it stands for something unknown. */
export interface KindFields extends BadgeFields {
  readonly label: string;
  /** Nothing is known, or it is too old to be said. */
  readonly isUnknown: boolean;
}

/** One kind of badge. A new one is an entry of `KINDS`; names, files, galleries, the guide and the tests follow from it. */
interface KindEntry {
  /** Left side; `{name}` is the name of the page, group or component. */
  readonly label: string;
  readonly content: ContentMaker;
  /** What the guide says that it says. */
  readonly meaning: string;
  /** Default: flat. */
  readonly style?: BadgeStyle;
  /** Whether groups and components have it as files too; drawn on demand they have every kind. */
  readonly isForParts?: boolean;
  /** Whether it is a picture of several figures, which takes milliseconds to draw where others take microseconds. */
  readonly isCard?: boolean;
}

const KINDS = {
  status: {
    label: '{name}',
    content: statusContent,
    meaning: 'the state, as a word and a colour',
    isForParts: true,
  },
  'uptime-24h': { label: 'uptime 24h', content: uptimeContent('24h'), meaning: 'uptime of the last 24 hours' },
  'uptime-7d': { label: 'uptime 7d', content: uptimeContent('7d'), meaning: 'uptime of the last 7 days' },
  'uptime-30d': { label: 'uptime 30d', content: uptimeContent('30d'), meaning: 'uptime of the last 30 days' },
  'uptime-90d': {
    label: 'uptime 90d',
    content: uptimeContent('90d'),
    meaning: 'uptime of the last 90 days',
    isForParts: true,
  },
  'uptime-1y': { label: 'uptime 1y', content: uptimeContent('365d'), meaning: 'uptime of the last 365 days' },
  'response-time': {
    label: 'response time',
    content: responseTimeContent('averageMs'),
    meaning: 'average response time of the last 24 hours; without measurements, the average reported by the upstream',
  },
  'response-time-p95': {
    label: 'response time p95',
    content: responseTimeContent('p95Ms'),
    meaning: '95th percentile of the response time in the last 24 hours',
  },
  incidents: { label: 'incidents', content: openIncidentsContent, meaning: 'number of open incidents' },
  'incidents-30d': {
    label: 'incidents 30d',
    content: recentIncidentsContent,
    meaning: 'number of incidents that began in the last 30 days',
  },
  'days-since-incident': {
    label: 'since last incident',
    content: daysSinceIncidentContent,
    meaning: 'whole days since the last incident ended',
  },
  maintenance: {
    label: 'maintenance',
    content: maintenanceContent,
    meaning: 'when the next maintenance begins, or that one is in progress',
  },
  'history-90d': {
    label: '90 days',
    content: (subject, context) => ({
      ...uptimeContent('90d')(subject, context),
      days: subject.days.map((day) => (day.coverageRatio > 0 ? day.state : 'unknown')),
    }),
    meaning: 'a bar for each of the last 90 days, and their uptime',
    style: 'bars',
  },
  'response-spark': {
    label: 'response time',
    content: (subject, context) => ({
      ...responseTimeContent('averageMs')(subject, context),
      series: subject.responseSeries,
    }),
    meaning: 'response time of the last 24 hours as a line, and its average',
    style: 'spark',
  },
  dot: {
    label: '{name}',
    content: statusContent,
    meaning: 'the state as a coloured shape with a symbol',
    style: 'dot',
  },
  card: {
    label: '{name}',
    content: statusContent,
    meaning: 'name, state, uptime, response time and 90 days; 400 × 132',
    isCard: true,
  },
} as const satisfies Readonly<Record<string, KindEntry>>;

/** What a badge tells. */
export type BadgeKind = keyof typeof KINDS;

/** In the order of the guide and the gallery. */
export const BADGE_KINDS = Object.keys(KINDS) as readonly BadgeKind[];

/** Kinds that groups and components have as files. */
export const PART_KINDS = BADGE_KINDS.filter((kind) => entryOf(kind).isForParts === true);

export function isBadgeKind(name: string): name is BadgeKind {
  return Object.hasOwn(KINDS, name);
}

/** Whether a badge of this kind is drawn as a card. */
export function isCard(kind: BadgeKind): boolean {
  return entryOf(kind).isCard === true;
}

/** What the guide says of a kind. */
export function meaningOf(kind: BadgeKind): string {
  return entryOf(kind).meaning;
}

function entryOf(kind: BadgeKind): KindEntry {
  return KINDS[kind];
}

/** The fields of a badge of the subject; what is unknown or stale is grey and says so. */
export function badgeFields(subject: BadgeSubject, kind: BadgeKind, options: BadgeOptions = {}): KindFields {
  const words = badgeWordsFor(options);
  const context = { words, options, locale: options.locale ?? 'en', timezone: subject.timezone };
  const { content, style } = entryOf(kind);
  const said = content(subject, context);
  const { message, tone, ...drawn } = claimed(said, subject, words);
  const isGrey = tone === 'unknown';
  return {
    label: labelOf(subject, kind, options),
    message,
    color: isGrey ? 'unknown' : (options.colors?.[tone] ?? tone),
    labelColor: options.labelColor,
    style: options.style ?? style,
    scheme: options.scheme,
    logo: options.logo,
    stateColors: options.colors,
    shape: tone === 'info' ? undefined : tone,
    ...drawn,
    isUnknown: isGrey,
  };
}

/**
 * What is said as far as it may be claimed. Of stale data a figure of the past stays, with the word, and so does trouble
 * that is known, in its colour: that something else is not heard from makes it no better. The rest is only the word.
 */
function claimed(
  { isPast = false, isTrouble = false, ...said }: Said,
  { isStale, isExpired = false }: BadgeSubject,
  words: BadgeWords,
): BadgeContent {
  if (!isStale && !isExpired) return said;
  const isClaimed = isTrouble && !isExpired;
  const isKept = isClaimed || (isPast && said.tone !== 'unknown');
  return {
    ...said,
    message: isKept ? `${said.message} (${words.stale})` : words.stale,
    tone: isClaimed ? said.tone : 'unknown',
  };
}

function labelOf(subject: BadgeSubject, kind: BadgeKind, { label }: BadgeOptions): string {
  return (label ?? entryOf(kind).label).replaceAll('{name}', () => subject.name);
}

function badgeWordsFor({ words, locale = 'en' }: BadgeOptions): BadgeWords {
  const own = badgeWordsIn(locale);
  if (words === undefined) return own;
  return { ...own, ...Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined)) };
}
