/** What each kind of badge says of a page, a group or a component. Pure; the present is `subject.now`. */

import { formatUptime } from '../model/percent.ts';
import type { State } from '../model/state.ts';
import { DAY_MS } from '../model/time.ts';
import type { UptimePeriod } from '../model/uptime.ts';
import type { BadgeSubject } from '../views/badges/badge.ts';
import { formatCount, formatDuration, formatInstant } from './figures.ts';
import type { BadgeKind } from './names.ts';
import type { BadgeOptions } from './options.ts';
import type { BadgeFields } from './render.ts';
import { type BadgeWords, ENGLISH } from './words.ts';

/** A badge's fields, and whether it stands for something unknown. */
export interface KindFields extends BadgeFields {
  readonly label: string;
  /** Nothing is known, or it is too old to be said. */
  readonly isUnknown: boolean;
}

/** What a kind says before colours and styles: the colour is a state's, or `info` for what is neither good nor bad. */
interface BadgeContent {
  readonly message: string;
  readonly tone: State | 'info';
  readonly days?: readonly State[];
  readonly series?: readonly (number | null)[];
}

interface BadgeContext {
  readonly words: BadgeWords;
  readonly options: BadgeOptions;
  readonly locale: string;
  readonly timezone: string;
}

/** The fields of a badge of the subject; what is unknown or stale is grey and says so. */
export function badgeFields(subject: BadgeSubject, kind: BadgeKind, options: BadgeOptions = {}): KindFields {
  const words = badgeWordsFor(options);
  const context = { words, options, locale: options.locale ?? 'en', timezone: subject.timezone };
  const said = CONTENT[kind](subject, context);
  const { message, tone, ...drawn } = subject.isStale ? stale(said, words) : said;
  const isGrey = tone === 'unknown';
  return {
    label: labelOf(subject, kind, options),
    message,
    color: isGrey ? 'unknown' : (options.colors?.[tone] ?? tone),
    labelColor: options.labelColor,
    style: options.style ?? STYLES[kind],
    scheme: options.scheme,
    logo: options.logo,
    stateColors: options.colors,
    shape: tone === 'info' ? undefined : tone,
    ...drawn,
    isUnknown: isGrey,
  };
}

/** A figure of the past stays, with the word; whatever was said of the present is only the word. */
function stale(said: BadgeContent & { readonly isPast?: boolean }, words: BadgeWords): BadgeContent {
  const isFigure = said.isPast === true && said.tone !== 'unknown';
  return { ...said, message: isFigure ? `${said.message} (${words.stale})` : words.stale, tone: 'unknown' };
}

function labelOf(subject: BadgeSubject, kind: BadgeKind, { label }: BadgeOptions): string {
  return (label ?? LABELS[kind]).replaceAll('{name}', () => subject.name);
}

const LABELS: Readonly<Record<BadgeKind, string>> = {
  status: '{name}',
  'uptime-24h': 'uptime 24h',
  'uptime-7d': 'uptime 7d',
  'uptime-30d': 'uptime 30d',
  'uptime-90d': 'uptime 90d',
  'uptime-1y': 'uptime 1y',
  'response-time': 'response time',
  'response-time-p95': 'response time p95',
  incidents: 'incidents',
  'incidents-30d': 'incidents 30d',
  'days-since-incident': 'since last incident',
  maintenance: 'maintenance',
  'history-90d': '90 days',
  'response-spark': 'response time',
  dot: '{name}',
  card: '{name}',
};

const STYLES: Readonly<Partial<Record<BadgeKind, BadgeFields['style']>>> = {
  'history-90d': 'bars',
  'response-spark': 'spark',
  dot: 'dot',
};

type ContentMaker = (subject: BadgeSubject, context: BadgeContext) => BadgeContent & { readonly isPast?: boolean };

const CONTENT: Readonly<Record<BadgeKind, ContentMaker>> = {
  status: statusContent,
  'uptime-24h': uptimeContent('24h'),
  'uptime-7d': uptimeContent('7d'),
  'uptime-30d': uptimeContent('30d'),
  'uptime-90d': uptimeContent('90d'),
  'uptime-1y': uptimeContent('365d'),
  'response-time': responseTimeContent('averageMs'),
  'response-time-p95': responseTimeContent('p95Ms'),
  incidents: openIncidentsContent,
  'incidents-30d': recentIncidentsContent,
  'days-since-incident': daysSinceIncidentContent,
  maintenance: maintenanceContent,
  'history-90d': (subject, context) => ({
    ...uptimeContent('90d')(subject, context),
    days: subject.days.map((day) => (day.coverageRatio > 0 ? day.state : 'unknown')),
  }),
  'response-spark': (subject, context) => ({
    ...responseTimeContent('averageMs')(subject, context),
    series: subject.responseSeries,
  }),
  dot: statusContent,
  card: statusContent,
};

function statusContent({ state }: BadgeSubject, { words }: BadgeContext): BadgeContent {
  return { message: words[state], tone: state };
}

function uptimeContent(period: UptimePeriod): ContentMaker {
  return ({ uptime }, { words, options, locale }) => {
    const ratio = uptime[period];
    if (ratio === null || !(ratio >= 0 && ratio <= 1)) return { message: words.unknown, tone: 'unknown', isPast: true };
    const steps = options.thresholds?.uptime ?? { good: 0.999, fair: 0.99, poor: 0.95 };
    return { message: formatUptime(ratio, options.decimals ?? 2, locale), tone: atLeast(ratio, steps), isPast: true };
  };
}

function responseTimeContent(figure: 'averageMs' | 'p95Ms'): ContentMaker {
  return ({ responseTime }, { words, options, locale }) => {
    const ms = responseTime?.[figure] ?? Number.NaN;
    if (!(ms >= 0)) return { message: words.unknown, tone: 'unknown', isPast: true };
    const steps = options.thresholds?.responseTimeMs ?? { good: 300, fair: 800, poor: 2_000 };
    return { message: formatDuration(ms, locale), tone: atMost(ms, steps), isPast: true };
  };
}

function openIncidentsContent({ openIncidents, state }: BadgeSubject, { words, locale }: BadgeContext): BadgeContent {
  if (openIncidents > 0) {
    const isOutage = state === 'major_outage' || state === 'partial_outage';
    return { message: fillIn(words.open, openIncidents, locale), tone: isOutage ? state : 'degraded' };
  }
  // Silence of what we do not see is not good news.
  if (state === 'unknown') return { message: words.unknown, tone: 'unknown' };
  return { message: words.noneOpen, tone: 'operational' };
}

function recentIncidentsContent(
  { incidents30d, state }: BadgeSubject,
  { words, options, locale }: BadgeContext,
): BadgeContent {
  if (incidents30d === 0 && state === 'unknown') return { message: words.unknown, tone: 'unknown' };
  const steps = options.thresholds?.incidents30d ?? { good: 0, fair: 2, poor: 5 };
  return { message: formatCount(incidents30d, locale), tone: atMost(incidents30d, steps) };
}

function daysSinceIncidentContent(subject: BadgeSubject, { words, options, locale }: BadgeContext): BadgeContent {
  const { openIncidents, state, lastIncidentEndedAt, now } = subject;
  if (openIncidents > 0) return { message: words.ongoing, tone: state === 'major_outage' ? state : 'partial_outage' };
  if (state === 'unknown') return { message: words.unknown, tone: 'unknown' };
  if (lastIncidentEndedAt === null) return { message: words.noneRecorded, tone: 'info' };
  const days = Math.max(0, Math.floor((now - lastIncidentEndedAt) / DAY_MS));
  const steps = options.thresholds?.daysSinceIncident ?? { good: 7, fair: 2, poor: 1 };
  return { message: days === 1 ? words.oneDay : fillIn(words.days, days, locale), tone: atLeast(days, steps) };
}

function maintenanceContent({ state, nextMaintenanceAt }: BadgeSubject, context: BadgeContext): BadgeContent {
  if (state === 'maintenance') return { message: context.words.inProgress, tone: 'maintenance' };
  if (nextMaintenanceAt === null) return { message: context.words.nonePlanned, tone: 'info' };
  return { message: formatInstant(nextMaintenanceAt, context), tone: 'maintenance' };
}

interface Steps {
  readonly good: number;
  readonly fair: number;
  readonly poor: number;
}

function atLeast(value: number, { good, fair, poor }: Steps): State {
  if (value >= good) return 'operational';
  if (value >= fair) return 'degraded';
  return value >= poor ? 'partial_outage' : 'major_outage';
}

function atMost(value: number, { good, fair, poor }: Steps): State {
  if (value <= good) return 'operational';
  if (value <= fair) return 'degraded';
  return value <= poor ? 'partial_outage' : 'major_outage';
}

function fillIn(words: string, count: number, locale: string): string {
  return words.replaceAll('{n}', () => formatCount(count, locale));
}

function badgeWordsFor({ words }: BadgeOptions): BadgeWords {
  if (words === undefined) return ENGLISH;
  return { ...ENGLISH, ...Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined)) };
}
