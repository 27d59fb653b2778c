/** What each kind of badge says of a page, a group or a component. Pure; the present is `subject.now`. */

import { stateOfLetter } from '../looks/states.ts';
import { textIn } from '../model/translated.ts';
import type { UptimePeriod } from '../model/uptime.ts';
import type { BadgeSubject } from '../views/badges/badge-subjects.ts';
import type { Words } from '../views/words/index.ts';
import {
  type BadgeContent,
  type ContentMaker,
  daysSinceIncidentContent,
  type KindContent,
  maintenanceContent,
  openIncidentsContent,
  recentIncidentsContent,
  responseTimeContent,
  statusContent,
  uptimeContent,
} from './content.ts';
import { BADGE_STYLES, type BadgeStyle } from './names.ts';
import type { BadgeOptions } from './options.ts';
import type { BadgeFields } from './render.ts';
import { type BadgeLanguage, badgeLanguage, counted } from './words.ts';

/** A badge's fields, and whether it stands for something unknown. */
export interface KindFields extends BadgeFields {
  readonly label: string;
  /** Nothing is known, or it is too old to be said. */
  readonly isUnknown: boolean;
}

/** One kind of badge. A new one is an entry of `KINDS`; names, files, galleries, the guide and the tests follow from it. */
interface KindEntry {
  /** Left side in the words of a language; `{name}` is the name of the page, group or component. */
  readonly label: (language: BadgeLanguage & { readonly locale: string }) => string;
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

const ofName = (): string => '{name}';

function uptimeKind(period: UptimePeriod, key: `badgeUptime${string}` & keyof Words, length: string): KindEntry {
  const label: KindEntry['label'] = ({ catalogue }) => catalogue[key];
  return { label, content: uptimeContent(period), meaning: `uptime of the last ${length}` };
}

const KINDS = {
  status: {
    label: ofName,
    content: statusContent,
    meaning: 'the state, as a word and a colour',
    isForParts: true,
  },
  'uptime-24h': uptimeKind('24h', 'badgeUptime24h', '24 hours'),
  'uptime-7d': uptimeKind('7d', 'badgeUptime7d', '7 days'),
  'uptime-30d': uptimeKind('30d', 'badgeUptime30d', '30 days'),
  'uptime-90d': { ...uptimeKind('90d', 'badgeUptime90d', '90 days'), isForParts: true },
  'uptime-1y': uptimeKind('365d', 'badgeUptime1y', '365 days'),
  'response-time': {
    label: ({ catalogue }) => catalogue.badgeResponse,
    content: responseTimeContent('averageMs'),
    meaning: 'average response time of the last 24 hours; without measurements, the average reported by the upstream',
  },
  'response-time-p95': {
    label: ({ catalogue }) => catalogue.badgeResponseP95,
    content: responseTimeContent('p95Ms'),
    meaning: '95th percentile of the response time in the last 24 hours',
  },
  incidents: {
    label: ({ catalogue }) => catalogue.badgeIncidents,
    content: openIncidentsContent,
    meaning: 'number of open incidents',
  },
  'incidents-30d': {
    label: ({ catalogue }) => catalogue.badgeIncidents30d,
    content: recentIncidentsContent,
    meaning: 'number of incidents that began in the last 30 days',
  },
  'days-since-incident': {
    label: ({ catalogue }) => catalogue.badgeSinceIncident,
    content: daysSinceIncidentContent,
    meaning: 'whole days since the last incident ended',
  },
  maintenance: {
    label: ({ catalogue }) => catalogue.badgeMaintenance,
    content: maintenanceContent,
    meaning: 'when the next maintenance begins, or that one is in progress',
  },
  'history-90d': {
    label: (language) => counted(language.catalogue.badgeDays, 90, language),
    content: (subject, context) => ({
      ...uptimeContent('90d')(subject, context),
      days: [...subject.days].map(stateOfLetter),
    }),
    meaning: 'a bar for each of the last 90 days, and their uptime',
    style: 'bars',
  },
  'response-spark': {
    label: ({ catalogue }) => catalogue.badgeResponse,
    content: (subject, context) => ({
      ...responseTimeContent('averageMs')(subject, context),
      series: subject.responseSeries,
    }),
    meaning: 'response time of the last 24 hours as a line, and its average',
    style: 'spark',
  },
  dot: {
    label: ofName,
    content: statusContent,
    meaning: 'the state as a coloured shape with a symbol',
    style: 'dot',
  },
  card: {
    label: ofName,
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
export const PART_KINDS = BADGE_KINDS.filter((kind) => findKind(kind).isForParts === true);

export function isBadgeKind(name: string): name is BadgeKind {
  return Object.hasOwn(KINDS, name);
}

/** Whether a badge of this kind is drawn as a card. */
export function isCard(kind: BadgeKind): boolean {
  return findKind(kind).isCard === true;
}

/** What the guide says of a kind. */
export function kindMeaning(kind: BadgeKind): string {
  return findKind(kind).meaning;
}

/** What the gallery offers: badges by name in the words of a language, an operator's own by their names. */
export function galleryChoices(names: readonly string[], locale: string) {
  const language = badgeLanguage({ locale });
  const { catalogue } = language;
  const styleText = (style: BadgeStyle): string => {
    const base = style.replace(/-text$/, '');
    const text = catalogue[STYLE_KEYS[base as keyof typeof STYLE_KEYS]];
    return base === style ? text : `${text} (${catalogue.badgeText})`;
  };
  const kindText = (kind: BadgeKind): string => {
    const { label, style, isCard: isDrawnAsCard } = findKind(kind);
    const text = label === ofName ? catalogue.badgeStatus : label({ ...language, locale });
    const shape = isDrawnAsCard ? catalogue.badgeCard : style && styleText(style);
    return shape === undefined ? text : `${text} (${shape})`;
  };
  return {
    kinds: names.map((name) => ({ name, text: isBadgeKind(name) ? kindText(name) : name })),
    partKinds: PART_KINDS,
    styles: BADGE_STYLES.map((name) => ({ name, text: styleText(name) })),
  };
}

const STYLE_KEYS = {
  flat: 'badgeFlat',
  square: 'badgeSquare',
  pill: 'badgePill',
  tall: 'badgeTall',
  dot: 'badgeDot',
  bars: 'badgeBars',
  spark: 'badgeSpark',
} as const satisfies Readonly<Record<Exclude<BadgeStyle, `${string}-text`>, string>>;

function findKind(kind: BadgeKind): KindEntry {
  return KINDS[kind];
}

/** The fields of a badge of the subject; what is unknown or stale is grey and says so. */
export function badgeFields(subject: BadgeSubject, kind: BadgeKind, options: BadgeOptions = {}): KindFields {
  const { locale = 'en' } = options;
  const context = { ...badgeLanguage(options), options, locale, timezone: subject.timezone };
  const { content, style } = findKind(kind);
  const made = content(subject, context);
  const { message, tone, ...drawn } = claimed(made, subject, context.words);
  const isGrey = tone === 'unknown';
  return {
    label: (options.label ?? findKind(kind).label(context)).replaceAll(
      '{name}',
      () => textIn({ locale }, subject.name, subject.names).text,
    ),
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
  { isPast = false, isTrouble = false, ...said }: KindContent,
  { isStale, isExpired = false }: BadgeSubject,
  words: BadgeLanguage['words'],
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
