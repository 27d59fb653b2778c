/**
 * What this process remembers about the site between publishes. The cost of a call grows with what changed since the last one,
 * in any process: the store numbers its commits, and everything else is remembered here. An index of which
 * pages show a monitor, component or event saves a search for each change.
 */

import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { isStatusError } from '../../errors.ts';
import { type Announcement, type MonitorId, type PageDefinition, upstreamOf } from '../../model/observation.ts';
import type { SourceFreshness } from '../../model/page.ts';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import type { Store } from '../../store/create-store.ts';
import {
  decidePages,
  identify,
  type OwnPages,
  type PageChanges,
  type PageClaims,
  readPages,
  type StoredPage,
  settlePages,
} from '../../store/pages.ts';
import { type Changes, type Subject, subjectNamed, subjects, type UpstreamTimes } from '../../store/revisions.ts';
import { askedEveryMs } from '../../store/upstream-control.ts';
import { readPlaced } from '../../store/written.ts';
import { witnessDigest } from '../../transparency/page-log.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { type DefinedSite, type ResolvedPage, type ResolvedSite, resolvePages } from './definitions.ts';
import type { KnownMonitor } from './inputs.ts';
import { refusedIcons, type SiteState, type SiteStateInputs, sourceFreshness, withIcon } from './site-state.ts';

/** Merged definitions, and what they were merged from. */
interface KnownSite extends Pick<SiteState, 'announcements' | 'resolved'> {
  readonly inputs: SiteStateInputs;
  readonly definitions: readonly PageDefinition[];
  /** Upstreams that can define pages and have not listed them yet. */
  readonly undecided: ReadonlySet<string>;
  readonly index: PageIndex;
  /** Digest of all that defines each page. */
  readonly pageKeys: ReadonlyMap<string, string>;
}

interface SiteMemoryOptions {
  /** Revision up to which changes are already published. Default: none are. */
  readonly since: number | null;
  /**
   * Told of the eras of pages that this process began or ended. Absent: it decides on none, as a command that only looks, and
   * a new page has the identity that it will get.
   */
  readonly onSettled?: ((changes: PageChanges) => void) | undefined;
}

interface Memory extends SiteMemoryOptions {
  readonly store: Store;
  /** Pages that this process has seen defined, and their access; null: it has not seen all definitions yet. */
  mine: OwnPages | null;
  /** Whether eras could not be written, so that pages wait for theirs. */
  isUnsettled: boolean;
  readonly monitors: Map<MonitorId, KnownMonitor>;
  readonly staleness: Map<string, string>;
  revision: number;
  known: KnownSite | null;
  /** Kept until definitions are merged again, even if a call fails. */
  hasOtherMonitors: boolean;
  /** Replaced when it is taken, which may be at any time. */
  touched: Set<string>;
}

export type SiteMemory = ReturnType<typeof createSiteMemory>;

/** Creates an empty memory. */
export function createSiteMemory(store: Store, { since = null, onSettled }: Partial<SiteMemoryOptions> = {}) {
  const memory: Memory = {
    ...{ store, since, onSettled, mine: null, isUnsettled: false, monitors: new Map(), staleness: new Map() },
    ...{ revision: since ?? 0, known: null, hasOtherMonitors: false, touched: new Set<string>() },
  };
  const inTurn = pLimit(1);
  return {
    /**
     * Reads what changed; the first call reads everything. The returned `now` is never before the data that was read, whichever
     * clock wrote it. One call at a time, because each continues from the last.
     */
    refresh: (inputs: SiteStateInputs, now: EpochMs) => inTurn(() => look(memory, inputs, now)),
    /** Whether any page changed. */
    hasTouched: () => memory.touched.size > 0,
    /** Returns the pages that changed since the last call; all of them at first. */
    takeTouched: (): ReadonlySet<string> => {
      const taken = memory.touched;
      memory.touched = new Set();
      return taken;
    },
  };
}

async function look(memory: Memory, inputs: SiteStateInputs, begunAt: EpochMs): Promise<SiteState> {
  const { store, since } = memory;
  const changes = await store.changesSince(memory.revision);
  await rememberMonitors(memory, changes);
  const before = memory.known;
  const times = await store.upstreamTimes();
  const now = notBefore(times, begunAt);
  const undecided = new Set([...inputs.definesPages].filter((id) => (times.get(id)?.pagesAt ?? null) === null));
  const isNew = before === null || changes.hasNewDefinitions || isOther(before.inputs, inputs);
  const isOutdated =
    isNew || memory.hasOtherMonitors || memory.isUnsettled || !isDeepStrictEqual(before.undecided, undecided);
  const current = isOutdated ? await define(memory, { isNew, inputs, undecided }, now) : before;
  const sources = [...inputs.intervalMs].map(([id, scheduledMs]) => {
    const neededMs = (inputs.callMs?.get(id) ?? 0) * (times.get(id)?.listCalls ?? 0);
    return sourceFreshness(id, times.get(id), askedEveryMs(scheduledMs, neededMs), now);
  });
  for (const slug of showingPages(changes, [before, current])) memory.touched.add(slug);
  const turned = sources.filter((source) => hasTurned(memory, source));
  // At the first call, these are already published if the last process recorded so.
  if (before !== null || since === null) {
    for (const slug of redefined(before, current)) memory.touched.add(slug);
    for (const { upstreamId } of turned)
      for (const slug of await pagesDependingOn(store, upstreamId, current.index)) memory.touched.add(slug);
  }
  memory.known = current;
  memory.hasOtherMonitors = false;
  memory.revision = changes.revision;
  const { resolved, announcements } = current;
  return { now, revision: changes.revision, site: inputs.site, resolved, announcements, sources };
}

/** Records whether a monitor was added, removed, or changed in what definitions need. */
async function rememberMonitors(memory: Memory, changes: Changes): Promise<void> {
  const { store, known, monitors } = memory;
  const found = known === null ? await store.monitors() : await store.monitorsById(changes.monitors);
  for (const id of known === null ? found.keys() : changes.monitors) {
    const monitor = found.get(id);
    const earlier = monitors.get(id);
    if (monitor?.name === earlier?.name && monitor?.isPublic === earlier?.isPublic) continue;
    memory.hasOtherMonitors = true;
    if (monitor === undefined) monitors.delete(id);
    else monitors.set(id, { id, name: monitor.name, isPublic: monitor.isPublic });
  }
}

/** Pages with data of an upstream, and pages with an open incident or maintenance of it. */
async function pagesDependingOn(store: Store, upstreamId: string, index: PageIndex): Promise<readonly string[]> {
  const about = await store.openSubjects(upstreamId);
  return [...index.drawingOn(upstreamId), ...about.flatMap(index.showing)];
}

/** @param isNew  whether upstreams or the configuration define pages otherwise than before */
async function define(
  memory: Memory,
  { isNew, inputs, undecided }: Pick<KnownSite, 'inputs' | 'undecided'> & { readonly isNew: boolean },
  now: EpochMs,
): Promise<KnownSite> {
  const { store, monitors } = memory;
  const before = isNew ? null : memory.known;
  const upstreams = before === null ? await store.upstreams() : null;
  const active = [...inputs.intervalMs.keys()].flatMap((id) => upstreams?.get(id) ?? []);
  const definitions = before?.definitions ?? active.flatMap((record) => record.definitions);
  const announcements = before?.announcements ?? active.flatMap((record) => record.announcements);
  const defined = resolvePages({
    site: inputs.site,
    pages: inputs.pages,
    upstreamDefinitions: definitions,
    undecidedUpstreams: undecided,
    looks: inputs.looks,
    vendorPages: inputs.vendorPages,
    made: await readPlaced(store.database),
    witnesses: await witnessDigest(store.database),
    monitors: new Map([...monitors].filter(([id]) => inputs.intervalMs.has(upstreamOf(id)))),
  });
  const identified = await withIdentities(memory, defined, now);
  const { icons = new Map() } = inputs;
  const resolved = {
    ...identified,
    pages: identified.pages.map((page) => withIcon(page, icons)),
    problems: [...identified.problems, ...refusedIcons(identified.pages, icons)],
  };
  const pageKeys = new Map(
    resolved.pages.map((page) => [
      page.definition.slug,
      fingerprintOf([page.identity, page.definition, page.settings, page.config, page.icon, page.logo]),
    ]),
  );
  const pages = keepUnchanged(memory.known, resolved.pages, pageKeys);
  return {
    ...{ inputs, definitions, announcements, undecided, pageKeys },
    resolved: { ...resolved, pages },
    index: indexPages(pages),
  };
}

/** The pages with what they are known by. Those whose era could not be written are withheld; nothing else waits for it. */
async function withIdentities(memory: Memory, { claims, ...site }: DefinedSite, now: EpochMs): Promise<ResolvedSite> {
  const { store, onSettled } = memory;
  const isDeciding = onSettled !== undefined && store.database.isReadOnly !== true;
  const settled = isDeciding ? await settle(memory, claims, now) : null;
  memory.isUnsettled = isDeciding && settled === null;
  const stored = settled ?? (await readPages(store.database));
  const waiting = memory.isUnsettled ? unsettledSlugs(stored, claims) : new Set<string>();
  const pages = await Promise.all(
    site.pages
      .filter(({ definition }) => !waiting.has(definition.slug))
      .map(async (page): Promise<ResolvedPage> => {
        const { slug, id: origin } = page.definition;
        const { key, gate } = await identify(store.database, stored, { slug, origin });
        return { ...page, identity: { key, gate } };
      }),
  );
  const names = new Set(pages.map(({ definition }) => definition.slug));
  return { ...site, pages, withheld: [...site.withheld, ...[...waiting].filter((slug) => !names.has(slug))] };
}

/** Null: the database takes nothing now. */
async function settle(memory: Memory, claims: PageClaims, now: EpochMs): Promise<readonly StoredPage[] | null> {
  try {
    const { pages, changes } = await settlePages(memory.store.database, claims, { mine: memory.mine, now });
    if (claims.isComplete) memory.mine = ownPages(pages, claims);
    memory.onSettled?.(changes);
    return pages;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return null;
  }
}

/** Whether a source became stale or fresh since the last call. */
function hasTurned({ staleness }: Memory, { upstreamId, isMonitorsStale, isIncidentsStale }: SourceFreshness): boolean {
  const now = `${isMonitorsStale} ${isIncidentsStale}`;
  const earlier = staleness.get(upstreamId);
  staleness.set(upstreamId, now);
  return earlier !== now;
}

function ownPages(stored: readonly StoredPage[], { pages }: PageClaims): OwnPages {
  const claims = new Map(pages.map((claim) => [claim.slug, claim]));
  return new Map(
    stored.flatMap(({ key, slug, origin }) => {
      const claim = claims.get(slug);
      return claim?.origin === origin ? [[key, claim.access]] : [];
    }),
  );
}

/** Pages that begin, or that open: each would be shown with what belongs to the time before. */
function unsettledSlugs(stored: readonly StoredPage[], claims: PageClaims): Set<string> {
  const { begun, changed } = decidePages(stored, claims, null);
  const opened = changed.filter(({ claim }) => claim.access === 'public').map(({ claim }) => claim);
  return new Set([...begun, ...opened].map(({ slug }) => slug));
}

/** Further ahead than clocks of nodes differ, or than reading the store takes: written before a clock was set back. */
const AHEAD_MS_MAX = 10 * SECOND_MS;

/**
 * Returns `now`, or the time of the latest data if that is later. A page as of an earlier time would leave out data that was
 * just read, and would stay so until its next heartbeat.
 */
function notBefore(times: ReadonlyMap<string, UpstreamTimes>, now: EpochMs): EpochMs {
  const heard = [...times.values()].flatMap((one) => [one.monitorsAt, one.incidentsAt, one.pagesAt]);
  return heard.reduce<EpochMs>((last, at) => (at !== null && at > last && at - now <= AHEAD_MS_MAX ? at : last), now);
}

/** Keeps the same objects for unchanged pages, so that they needn't be sent to other threads again. */
function keepUnchanged(
  before: KnownSite | null,
  pages: readonly ResolvedPage[],
  pageKeys: ReadonlyMap<string, string>,
): readonly ResolvedPage[] {
  const known = new Map(before?.resolved.pages.map((page) => [page.definition.slug, page]));
  return pages.map((page) => {
    const { slug } = page.definition;
    const same = known.get(slug);
    const isSame = same !== undefined && before?.pageKeys.get(slug) === pageKeys.get(slug);
    // Keys contain no secrets.
    return isSame && same.password?.reveal() === page.password?.reveal() ? same : page;
  });
}

/** Whether the configuration was reloaded and differs. */
function isOther(before: SiteStateInputs, inputs: SiteStateInputs): boolean {
  return (
    before.pages !== inputs.pages ||
    before.icons !== inputs.icons ||
    !isDeepStrictEqual(
      [before.site, before.intervalMs, before.definesPages, before.vendorPages],
      [inputs.site, inputs.intervalMs, inputs.definesPages, inputs.vendorPages],
    )
  );
}

/** Pages that show what changed, by the old and the new definitions. */
function showingPages(changes: Changes, knowns: readonly (KnownSite | null)[]): string[] {
  const about = [...changes.monitors.map((id) => subjects.monitor(id)), ...changes.subjects];
  return knowns.flatMap((known) => (known === null ? [] : about.flatMap((subject) => known.index.showing(subject))));
}

/** Pages that are new or whose definition changed, and pages whose announcements changed. */
function redefined(before: KnownSite | null, current: KnownSite): string[] {
  if (before === current) return [];
  const slugs = [...current.pageKeys.keys()];
  const changed = slugs.filter((slug) => before?.pageKeys.get(slug) !== current.pageKeys.get(slug));
  const announcements = differing(before?.announcements ?? [], current.announcements);
  const onAll = announcements.some(({ pages }) => pages === null);
  return onAll ? slugs : [...changed, ...announcements.flatMap(({ pages }) => pages ?? [])];
}

function differing(before: readonly Announcement[], after: readonly Announcement[]): readonly Announcement[] {
  if (before === after) return [];
  const textsBefore = new Set(before.map((item) => JSON.stringify(item)));
  const textsAfter = new Set(after.map((item) => JSON.stringify(item)));
  return [
    ...before.filter((item) => !textsAfter.has(JSON.stringify(item))),
    ...after.filter((item) => !textsBefore.has(JSON.stringify(item))),
  ];
}

type PageIndex = ReturnType<typeof indexPages>;

/** The subjects of a page, by which its incidents and maintenances are found. */
export function pageSubjects({ definition, identity }: ResolvedPage): readonly Subject[] {
  return [
    subjects.page(identity.key),
    subjects.page(definition.slug),
    ...namesOfPage(definition).flatMap((name) => [
      subjects.page(name),
      ...definition.components.map(({ id }) => subjects.component(`${name}/${id}`)),
    ]),
    ...shownMonitors(definition).map((id) => subjects.monitor(id)),
  ];
}

/** Names of a page in subjects: its id, and its slug as used in posts. */
export function namesOfPage({ id, slug }: Pick<PageDefinition, 'id' | 'slug'>): readonly string[] {
  return [...new Set([id, `config/${slug}`])];
}

/** The monitors of a page, each once. */
export function shownMonitors({ components }: ResolvedPage['definition']): readonly MonitorId[] {
  return [...new Set(components.flatMap(({ monitor }) => (monitor === null ? [] : [monitor])))];
}

/**
 * Monitors are by far the most names of a large site, and most of them are on one page: all of a page share one list. Components are
 * found by their page, so that they need no names of their own.
 */
export function indexPages(pages: readonly ResolvedPage[]) {
  const bySlug = new Map(pages.map((page) => [page.definition.slug, page]));
  const byName = new Map<string, string[]>();
  const byMonitor = new Map<string, readonly string[]>();
  const byUpstream = new Map<string, string[]>();
  for (const { definition, identity } of pages) {
    const { slug, id } = definition;
    byName.getOrInsert(identity.key, []).push(slug);
    const alone = [slug];
    const monitors = shownMonitors(definition);
    for (const name of namesOfPage(definition)) byName.getOrInsert(name, []).push(slug);
    for (const monitor of monitors) {
      const others = byMonitor.get(monitor);
      byMonitor.set(monitor, others === undefined ? alone : [...others, slug]);
    }
    const [definedBy = ''] = id.split('/');
    for (const upstream of new Set([definedBy, ...monitors.map(upstreamOf)]))
      byUpstream.getOrInsert(upstream, []).push(slug);
  }
  const having = (page: string, component: string): readonly string[] =>
    (byName.get(page) ?? []).filter((slug) =>
      bySlug.get(slug)?.definition.components.some(({ id }) => id === component),
    );
  return {
    /** Slugs of the pages that a monitor, a component or an event of theirs shows on. */
    showing: (subject: Subject): readonly string[] => {
      const { kind, name } = subjectNamed(subject);
      if (kind === 'monitor') return byMonitor.get(name) ?? [];
      if (kind === 'page') return [...(bySlug.has(name) ? [name] : []), ...(byName.get(name) ?? [])];
      const end = name.lastIndexOf('/');
      return end < 0 ? [] : having(name.slice(0, end), name.slice(end + 1));
    },
    /** Slugs of the pages whose data, or whose definition, comes from an upstream. */
    drawingOn: (upstreamId: string): readonly string[] => byUpstream.get(upstreamId) ?? [],
  };
}
