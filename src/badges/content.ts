/** What badges say, by what they look at. Pure; the present is `subject.now`. */

import { isWorse, type State } from '../model/state.ts';
import { DAY_MS } from '../model/time.ts';
import { formatUptime, type UptimePeriod } from '../model/uptime.ts';
import type { BadgeSubject } from '../views/badges/badge-subjects.ts';
import type { BadgeOptions } from './options.ts';
import { type BadgeLanguage, counted, durationText, formatCount, formatInstant } from './words.ts';

/** What a kind says before colours and styles: the colour is a state's, or `info` for what is neither good nor bad. */
export interface BadgeContent {
  readonly message: string;
  readonly tone: State | 'info';
  readonly days?: readonly State[];
  readonly series?: readonly (number | null)[];
}

interface BadgeContext extends BadgeLanguage {
  readonly options: BadgeOptions;
  readonly locale: string;
  readonly timezone: string;
}

/** What is said, and what of it stays when the data is stale. */
export interface KindContent extends BadgeContent {
  /** A figure of the past: it stays, in grey. */
  readonly isPast?: boolean;
  /** Trouble that is known: it stays as it is, since silence makes nothing better. */
  readonly isTrouble?: boolean;
}

export type ContentMaker = (subject: BadgeSubject, context: BadgeContext) => KindContent;

export function statusContent({ state }: BadgeSubject, { words }: BadgeContext): KindContent {
  return { message: words[state], tone: state, isTrouble: isWorse(state, 'unknown') };
}

export function uptimeContent(period: UptimePeriod): ContentMaker {
  return ({ uptime }, { words, options, locale }) => {
    const ratio = uptime[period];
    if (ratio === null || !(ratio >= 0 && ratio <= 1)) return { message: words.unknown, tone: 'unknown', isPast: true };
    const steps = options.thresholds?.uptime ?? { good: 0.999, fair: 0.99, poor: 0.95 };
    return { message: formatUptime(ratio, options.decimals ?? 2, locale), tone: atLeast(ratio, steps), isPast: true };
  };
}

export function responseTimeContent(figure: 'averageMs' | 'p95Ms'): ContentMaker {
  return ({ responseTime }, context) => {
    const { words, options } = context;
    const ms = responseTime?.[figure] ?? Number.NaN;
    if (!(ms >= 0)) return { message: words.unknown, tone: 'unknown', isPast: true };
    const steps = options.thresholds?.responseTimeMs ?? { good: 300, fair: 800, poor: 2_000 };
    return { message: durationText(ms, context), tone: atMost(ms, steps), isPast: true };
  };
}

export function openIncidentsContent({ openIncidents, state }: BadgeSubject, context: BadgeContext): KindContent {
  const { words } = context;
  if (openIncidents > 0) {
    const isOutage = state === 'major_outage' || state === 'partial_outage';
    const message = counted(words.open, openIncidents, context);
    return { message, tone: isOutage ? state : 'degraded', isTrouble: true };
  }
  // Silence of what we do not see is not good news.
  if (state === 'unknown') return { message: words.unknown, tone: 'unknown' };
  return { message: words.noneOpen, tone: 'operational' };
}

export function recentIncidentsContent(
  { incidents30d, state }: BadgeSubject,
  { words, options, locale }: BadgeContext,
): BadgeContent {
  if (incidents30d === 0 && state === 'unknown') return { message: words.unknown, tone: 'unknown' };
  const steps = options.thresholds?.incidents30d ?? { good: 0, fair: 2, poor: 5 };
  return { message: formatCount(incidents30d, locale), tone: atMost(incidents30d, steps) };
}

export function daysSinceIncidentContent(subject: BadgeSubject, context: BadgeContext): KindContent {
  const { words, options } = context;
  const { openIncidents, state, lastIncidentEndedAt, now } = subject;
  if (openIncidents > 0) {
    const tone = state === 'major_outage' ? state : 'partial_outage';
    return { message: words.ongoing, tone, isTrouble: true };
  }
  if (state === 'unknown') return { message: words.unknown, tone: 'unknown' };
  if (lastIncidentEndedAt === null) return { message: words.noneRecorded, tone: 'info' };
  const days = Math.max(0, Math.floor((now - lastIncidentEndedAt) / DAY_MS));
  const steps = options.thresholds?.daysSinceIncident ?? { good: 7, fair: 2, poor: 1 };
  return { message: days === 1 ? words.oneDay : counted(words.days, days, context), tone: atLeast(days, steps) };
}

export function maintenanceContent({ state, nextMaintenanceAt }: BadgeSubject, context: BadgeContext): BadgeContent {
  if (state === 'maintenance') return { message: context.words.inProgress, tone: 'maintenance' };
  if (nextMaintenanceAt === null) return { message: context.words.nonePlanned, tone: 'info' };
  return { message: formatInstant(nextMaintenanceAt, context), tone: 'maintenance' };
}

type Steps = Readonly<Record<'good' | 'fair' | 'poor', number>>;

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
