/** Maintenances of a page: which window counts now, and what is said of it up to now. */

import {
  type EpochMs,
  type Interval,
  later,
  MAINTENANCE_STATUSES,
  type Maintenance,
  type MaintenanceStatus,
  type PageDefinition,
  type PageMaintenance,
  type PageSettings,
  type PageUpdate,
  textIn,
  toEpochMs,
  type Update,
} from '../../model/index.ts';
import { repeatText } from '../text/format.ts';
import { findWords } from '../words/index.ts';
import { isOnPage, matchComponents } from './known-incidents.ts';
import { createSlugger } from './stories.ts';

/** A maintenance, and what is recorded of it. */
export interface SeenMaintenance extends Maintenance {
  /** Absent: none of its changes was recorded. */
  readonly sequence?: number;
  readonly changedAt?: EpochMs;
  /** Absent: it was never not known. */
  readonly firstSeenAt?: EpochMs;
}

/** What maintenances are looked at by. */
interface PlanInputs {
  /** Its components in the order of the page. */
  readonly definition: PageDefinition;
  readonly settings: Pick<PageSettings, 'locale' | 'languages'>;
  readonly asOf: EpochMs;
}

/** An update as it is said in one language. */
type TranslatedUpdate = Omit<Update, 'bodies' | 'impacts'> & Pick<PageUpdate<string>, 'lang'>;

/** Those of the page, newest start first. */
export function listPlans(all: readonly SeenMaintenance[], inputs: PlanInputs): readonly PageMaintenance[] {
  const slugs = createSlugger('maintenance');
  const { definition } = inputs;
  return all
    .toSorted((a, b) => (a.firstSeenAt ?? 0) - (b.firstSeenAt ?? 0) || compareText(a.id, b.id))
    .flatMap((one) => {
      const components = one.components.map((id) => ({ id, state: null }));
      const componentIds = matchComponents(definition, { monitors: one.monitors, components });
      if (!isOnPage(definition, one.pages, componentIds)) return [];
      return [toPlan(one, { componentIds, slug: slugs(one.id) }, inputs)];
    })
    .toSorted((a, b) => b.startsAt - a.startsAt || compareText(a.id, b.id));
}

function toPlan(
  one: SeenMaintenance,
  place: Pick<PageMaintenance, 'slug' | 'componentIds'>,
  { settings, asOf }: PlanInputs,
): PageMaintenance {
  const { text: title, ...lang } = textIn(settings, one.title, one.titles);
  const repeated = one.repeats?.windows ?? [];
  const windows = repeated.length === 0 ? [{ from: one.startsAt, to: one.endsAt }] : repeated;
  const index = windows.findIndex(({ to }) => to > asOf);
  const [window = { from: one.startsAt, to: one.endsAt }, before] = [
    windows.at(index),
    index === -1 ? windows.at(-2) : windows[index - 1],
  ];
  const announcedAt = announcement(one, windows, asOf);
  const since = later(announcedAt, before?.to ?? announcedAt);
  const updates = listUpdates(one, { window, since }, { settings, asOf });
  const editedAt = later(announcedAt, notAfter(one.changedAt ?? announcedAt, asOf) ?? announcedAt);
  const edges = windows.flatMap(({ from, to }) => [from, to]);
  return {
    id: one.id,
    ...place,
    title,
    ...lang,
    startsAt: window.from,
    endsAt: window.to,
    windows,
    repeats: one.repeats ?? null,
    ...(one.covers === false ? { covers: false } : {}),
    status: updates.at(-1)?.status ?? 'scheduled',
    announcedAt,
    editedAt,
    changedAt: [...edges, ...updates.map(({ at }) => at)].reduce(
      (latest, at) => later(latest, notAfter(at, asOf) ?? latest),
      editedAt,
    ),
    sequence: one.sequence ?? 0,
    updates,
    texts: [
      plannedText(one, settings).body,
      ...one.updates.filter(({ at }) => at <= asOf).map(({ body, bodies }) => textIn(settings, body, bodies).text),
    ].filter(Boolean),
  };
}

/** When it was first told of: by its upstream's own word, when it was first seen, at the latest when it began. */
function announcement(one: SeenMaintenance, windows: readonly Interval[], asOf: EpochMs): EpochMs {
  const instants = [one.bornAt, one.firstSeenAt, windows[0]?.from, asOf].filter((at) => at !== undefined);
  return toEpochMs(Math.min(...instants));
}

function notAfter(at: EpochMs, asOf: EpochMs): EpochMs | null {
  return at <= asOf ? at : null;
}

/**
 * What is said of one window: that it is planned, what its upstream says meanwhile, that it began, that it is over. A window
 * that moved is told anew, by an update of its author if the start that was announced is known.
 */
function listUpdates(
  one: SeenMaintenance,
  { window, since }: { readonly window: Interval; readonly since: EpochMs },
  { settings, asOf }: Omit<PlanInputs, 'definition'>,
): PageUpdate<MaintenanceStatus>[] {
  const words = findWords(settings.locale);
  const id = `scheduled-${one.announcedFor ?? window.from}`;
  const opening = { id, at: since, status: 'scheduled', ...plannedText(one, settings) };
  const said = one.updates.filter(({ at }) => at <= asOf && (one.repeats === undefined || at >= since));
  const edges = [
    { id: `began-${window.from}`, at: window.from, status: 'in_progress', body: words.maintenanceBegan },
    { id: `over-${window.to}`, at: window.to, status: 'completed', body: words.maintenanceOver },
  ].filter(({ at }) => at <= asOf);
  // Whoever ends it early says so in the instant in which its window then ends.
  const isSaid = (edge: (typeof edges)[number], { at, status }: Pick<Update, 'at' | 'status'>): boolean =>
    at === edge.at && rankOf(status) >= rankOf(edge.status);
  // An imported one is first seen long after its author announced it, perhaps when it was over.
  const isAnnounced =
    opening.body === '' &&
    (since >= window.from || one.notify === false) &&
    said.some(({ at, status }) => status === 'scheduled' && at < since);
  const updates = [
    ...(isAnnounced ? [] : [opening]),
    ...said.map(({ bodies, ...update }) => {
      const { text, ...lang } = textIn(settings, update.body, bodies);
      const body = text || (edges.findLast((edge) => isSaid(edge, update))?.body ?? '');
      return { ...update, body, ...lang };
    }),
    ...edges.filter((edge) => !said.some((update) => isSaid(edge, update))),
  ].toSorted((a, b) => a.at - b.at);
  let rank = 0;
  return updates.flatMap(
    ({ id, at, status, body, lang, notify }: TranslatedUpdate): PageUpdate<MaintenanceStatus>[] => {
      // What its upstream says may name another status late; none is ever taken back by the next word.
      rank = Math.max(rank, rankOf(status));
      const isSilent = notify === false || one.notify === false ? ({ notify: false } as const) : {};
      const inOther = lang === undefined ? {} : { lang };
      return [{ id, at, status: MAINTENANCE_STATUSES[rank] ?? 'scheduled', body, ...inOther, ...isSilent }];
    },
  );
}

function rankOf(status: string | null): number {
  return (MAINTENANCE_STATUSES as readonly (string | null)[]).indexOf(status);
}

/** What is said of it without a time, and how it comes back. */
function plannedText(
  { body = '', bodies, repeats }: SeenMaintenance,
  settings: PlanInputs['settings'],
): Pick<PageUpdate<string>, 'body' | 'lang'> {
  const { text, ...lang } = textIn(settings, body, bodies);
  if (repeats === undefined) return { body: text, ...lang };
  // In one language, that of the text.
  return { body: [text, repeatText(repeats, lang.lang ?? settings.locale)].filter(Boolean).join('\n\n'), ...lang };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
