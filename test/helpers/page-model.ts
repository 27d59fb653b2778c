/** Synthetic status pages for tests of views, pages, feeds and publishing. Everything follows from the arguments. */

import {
  type Announcement,
  type ComponentModel,
  combinedState,
  DAY_MS,
  type EpochMs,
  firstKnownAt,
  HOUR_MS,
  INCIDENT_STATUSES,
  lastRunFrom,
  MINUTE_MS,
  type PageDefinition,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  type PageSettings,
  type ResponseTime,
  SECOND_MS,
  type State,
  type TimelineSpan,
  toEpochMs,
  toMonitorId,
} from '../../src/model/index.ts';
import { pageFacts } from '../../src/publish/files/page-facts.ts';
import type { HistoryPage } from '../../src/views/history/history.ts';

/** 2026-11-21, 09:31 in Berlin. */
export const AS_OF: EpochMs = toEpochMs(Date.parse('2026-11-21T08:31:00Z'));
const HISTORY_DAYS = 400;

/** The instant `ms` before `AS_OF`. */
export function ago(ms: number): EpochMs {
  return toEpochMs(AS_OF - ms);
}

export interface Trouble {
  readonly state: State;
  /** Before `AS_OF`. */
  readonly startedAgoMs: number;
  /** Default: up to `AS_OF`. */
  readonly forMs?: number;
}

/** A time line of 400 days: silence before `knownDays`, then `base`, with troubles laid over it; later ones win. */
export function timelineWith(
  troubles: readonly Trouble[],
  knownDays = 400,
  base: State = 'operational',
): TimelineSpan[] {
  const start = ago(HISTORY_DAYS * DAY_MS);
  const known = ago(knownDays * DAY_MS);
  const pieces: TimelineSpan[] = [
    { state: 'unknown', from: start, to: known, provenance: 'none' },
    { state: base, from: known, to: AS_OF, provenance: 'observed' },
  ];
  for (const { state, startedAgoMs, forMs } of troubles) {
    const from = ago(startedAgoMs);
    const to = toEpochMs(Math.min(AS_OF, from + (forMs ?? startedAgoMs)));
    const cut = pieces.flatMap((piece) => [
      { ...piece, to: toEpochMs(Math.min(piece.to, from)) },
      { ...piece, from: toEpochMs(Math.max(piece.from, to)) },
    ]);
    pieces.length = 0;
    const provenance = state === 'unknown' ? 'none' : state === 'maintenance' ? 'maintenance' : 'observed';
    pieces.push(...cut, { state, from, to, provenance });
    pieces.sort((a, b) => a.from - b.from);
    for (let index = pieces.length - 1; index >= 0; index -= 1) {
      const piece = pieces[index];
      if (piece === undefined || piece.from >= piece.to) pieces.splice(index, 1);
    }
  }
  return pieces.filter((piece) => piece.from < piece.to);
}

export interface ComponentInit {
  readonly id?: string;
  readonly name?: string;
  readonly description?: string | null;
  readonly state?: State;
  readonly troubles?: readonly Trouble[];
  readonly knownDays?: number;
  readonly groupId?: string | null;
  readonly responseTimes?: readonly ResponseTime[];
  readonly target?: string | null;
  readonly isStale?: boolean;
  readonly timeline?: readonly TimelineSpan[];
  readonly upstreamUptime?: ComponentModel['upstreamUptime'];
}

/** Its state is that of its time line now, unless given. */
export function componentModel(init: ComponentInit = {}): ComponentModel {
  const id = init.id ?? 'api';
  const name = init.name ?? 'API';
  const timeline = init.timeline ?? timelineWith(init.troubles ?? [], init.knownDays);
  const monitor = toMonitorId('edge', id);
  return {
    definition: {
      id,
      type: 'monitor',
      monitor,
      name,
      description: init.description ?? null,
      groupId: init.groupId ?? null,
      order: 0,
      groupOrder: 0,
    },
    name,
    plainName: name,
    description: init.description ?? null,
    target: init.target ?? null,
    state: init.state ?? timeline.at(-1)?.state ?? 'unknown',
    since: lastRunFrom(timeline),
    isStale: init.isStale ?? false,
    timeline,
    knownSince: firstKnownAt(timeline) ?? AS_OF,
    responseTimes: init.responseTimes ?? [],
    upstreamUptime: init.upstreamUptime ?? null,
  };
}

/** Samples of the last days around `aroundMs`, from a seed: every five minutes in one day, else every two hours. */
export function responseTimes(seed: number, aroundMs = 140, days = 1): ResponseTime[] {
  const next = randomOf(seed);
  const [count, minutes] = days === 1 ? [288, 5] : [days * 12, 120];
  return Array.from({ length: count }, (_, index) => ({
    at: ago((count - index) * minutes * MINUTE_MS),
    ms: Math.round(aroundMs * (0.7 + next() * 0.6 + (next() > 0.97 ? 2 : 0))),
  }));
}

export interface IncidentInit extends Partial<PageIncident> {
  readonly updateBodies?: readonly string[];
}

export function incident(init: IncidentInit = {}): PageIncident {
  const slug = init.slug ?? 'inc-1';
  const startedAt = init.startedAt ?? ago(2 * HOUR_MS);
  const endedAt = init.endedAt === undefined ? null : init.endedAt;
  const bodies = init.updateBodies ?? ['We are looking into it.'];
  const componentIds = init.componentIds ?? ['api'];
  return {
    id: `edge/${slug}`,
    slug,
    aliases: [],
    title: 'Requests are failing',
    status: endedAt === null ? 'investigating' : 'resolved',
    impact: 'major',
    startedAt,
    endedAt,
    isAutomatic: false,
    components: componentIds.map((id) => ({ id, state: 'partial_outage' })),
    componentIds,
    updates: bodies.map((body, index) => ({
      id: `${slug}-u${index}`,
      at: toEpochMs(startedAt + index * 20 * MINUTE_MS),
      status: INCIDENT_STATUSES[Math.min(index, 3)] ?? 'resolved',
      body,
    })),
    ...init,
  };
}

export function maintenance(init: Partial<PageMaintenance> = {}): PageMaintenance {
  const slug = init.slug ?? 'mnt-1';
  const startsAt = init.startsAt ?? ago(-3 * DAY_MS);
  const endsAt = init.endsAt ?? toEpochMs(startsAt + 2 * HOUR_MS);
  const announcedAt = init.announcedAt ?? toEpochMs(Math.min(ago(DAY_MS), startsAt));
  const body = 'Reads keep working. Writes **pause** for a moment.';
  return {
    id: `edge/${slug}`,
    slug,
    title: 'Database upgrade',
    startsAt,
    endsAt,
    windows: [{ from: startsAt, to: endsAt }],
    repeats: null,
    componentIds: ['api'],
    status: 'scheduled',
    announcedAt,
    editedAt: announcedAt,
    changedAt: announcedAt,
    sequence: 0,
    updates: [{ id: `${slug}-u0`, at: announcedAt, status: init.status ?? 'scheduled', body }],
    texts: [body],
    ...init,
  };
}

export interface PageInit extends Partial<Omit<PageModel, 'definition' | 'settings'>> {
  readonly definition?: Partial<PageDefinition>;
  readonly settings?: Partial<PageSettings>;
}

/** A page with one working component, everything else by `init`; its state is that of its components. */
export function pageModel(init: PageInit = {}): PageModel {
  const components = init.components ?? [componentModel()];
  const definition: PageDefinition = {
    id: 'config/acme',
    slug: 'acme',
    title: 'Acme',
    description: null,
    homepageUrl: 'https://www.acme.example/',
    contactUrl: 'mailto:help@acme.example',
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: [],
    components: components.map((one) => one.definition),
    ...init.definition,
  };
  return {
    groups: definition.groups,
    incidents: [],
    maintenances: [],
    announcements: [],
    sources: [source()],
    asOf: AS_OF,
    staleAfter: ago(-17 * MINUTE_MS),
    dataFrom: ago(20 * SECOND_MS),
    isStale: false,
    state: combinedState(components.map((one) => one.state)),
    since: components[0]?.since ?? null,
    knownSince: ago(HISTORY_DAYS * DAY_MS),
    newEntries: [],
    nextEntryAt: null,
    log: null,
    ...init,
    components,
    definition,
    settings: { ...SETTINGS, ...init.settings },
  };
}

export const SETTINGS: PageSettings = {
  url: 'https://status.acme.example/acme/',
  timezone: 'Europe/Berlin',
  locale: 'en',
  showTargets: false,
  blipFloorMs: MINUTE_MS,
  uptimeDecimals: 2,
  accentColor: null,
  cssVariables: {},
  allowIndex: true,
  historyDays: HISTORY_DAYS,
  entriesAfterMs: 3 * MINUTE_MS,
  showUptime: true,
  subscriptions: true,
};

function source(): PageModel['sources'][number] {
  return {
    upstreamId: 'edge',
    monitorsAt: ago(20 * SECOND_MS),
    incidentsAt: ago(20 * SECOND_MS),
    intervalMs: MINUTE_MS,
    isMonitorsStale: false,
    isIncidentsStale: false,
  };
}

export function announcement(init: Partial<Announcement> = {}): Announcement {
  return {
    id: 'a1',
    title: 'A new region is open',
    body: 'You can now choose **Frankfurt** for new projects. [How it works](https://docs.acme.example/regions)',
    level: 'info',
    from: ago(2 * DAY_MS),
    to: null,
    pages: null,
    ...init,
  };
}

/** Numbers from 0 to 1 that depend on the seed alone. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A page with the months that its history and its reports have. */
export function withMonths(model: PageModel): PageModel & Pick<HistoryPage, 'months' | 'incidentCounts'> {
  const { months, incidentCounts } = pageFacts(model).history(null);
  return { ...model, months, incidentCounts };
}

/** The same page a moment later, with one component down. */
export function withOneDown(model: PageModel): PageModel {
  const [first, ...others] = model.components;
  if (first === undefined) throw new Error('the page has no components');
  const asOf = toEpochMs(model.asOf + MINUTE_MS);
  const grown = [first, ...others].map((one) => ({
    ...one,
    timeline: one.timeline.map((span, index) => (index === one.timeline.length - 1 ? { ...span, to: asOf } : span)),
  }));
  const components = grown.map((one, index) => (index === 0 ? { ...one, state: 'major_outage' as const } : one));
  return { ...model, asOf, staleAfter: toEpochMs(model.staleAfter + MINUTE_MS), components, state: 'partial_outage' };
}
