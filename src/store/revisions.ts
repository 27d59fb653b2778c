/**
 * What a pass writes, what that changed, and revisions: each commit that changes something gets the next number, and stamps the
 * changed rows with it.
 */

import type { Incident, Learned, Maintenance, MonitorId, PageDefinition } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import type { SpanChange } from '../model/timeline.ts';
import { instant, number, orNull, type Reader, type RowOf, readIn, table, type Writer } from './database.ts';
import type { Lease } from './nodes/leases.ts';
import { parseIncident, parseMaintenance } from './rows.ts';

/** What a pass writes for one upstream, as a unit. */
export interface PassCommit {
  readonly upstreamId: string;
  /** When the requests were sent. */
  readonly observedAt: EpochMs;
  readonly learned: Learned;
  /** The known page definitions, to keep if `learned` could not read them; absent: as stored. */
  readonly kept?: readonly PageDefinition[];
  /**
   * `continuous`: open spans go on, only `spanChanges` are written. `broken`: the last pass is too long ago (or there
   * was none): every open span ends at the last `monitorsAt`, the time since is unknown, and each monitor begins a new
   * span at `observedAt`.
   */
  readonly continuity: 'continuous' | 'broken';
  readonly spanChanges: readonly SpanChange[];
  /** The lease that must be held for the commit; absent: none. */
  readonly lease?: Lease;
}

/**
 * What a commit changed: ids of monitors (state or description), incidents and maintenances, and whether definitions
 * changed.
 */
export interface CommitResult {
  readonly monitors: readonly MonitorId[];
  readonly incidents: readonly string[];
  readonly maintenances: readonly string[];
  readonly hasNewDefinitions: boolean;
  /** True: a newer answer was recorded before, so nothing was written. */
  readonly isOutdated?: true;
}

/** When each part of an upstream was last read; null: never. */
export const TIMES = { monitorsAt: orNull(instant()), incidentsAt: orNull(instant()), pagesAt: orNull(instant()) };
const UPSTREAM_TIMES = table('upstream', TIMES);

/** Age of an upstream's data. */
export interface UpstreamTimes extends RowOf<typeof UPSTREAM_TIMES> {
  /** List and incident requests of its last pass; absent: unknown. */
  readonly listCalls?: number;
}

declare const subject: unique symbol;
/** What an incident or a maintenance is about: a monitor, a component or a page. Created with `subjects`. */
export type Subject = string & { readonly [subject]: true };

/** Creates subjects. */
export const subjects = {
  monitor: (id: MonitorId) => `monitor:${id}` as Subject,
  /** `<definition id>/<component id>`. */
  component: (id: string) => `component:${id}` as Subject,
  /** A page by its key, its definition's id or its slug. */
  page: (idOrSlug: string) => `page:${idOrSlug}` as Subject,
};

/** The parts that a subject was created from. */
export function subjectNamed(of: Subject): { readonly kind: keyof typeof subjects; readonly name: string } {
  const end = of.indexOf(':');
  return { kind: of.slice(0, end) as keyof typeof subjects, name: of.slice(end + 1) };
}

export const INCIDENT_STAMPS = table('incident', { changedAt: instant(), firstSeenAt: instant() });
export const MAINTENANCE_STAMPS = table('maintenance', {
  /** Incremented with every change. */
  sequence: number(),
  changedAt: instant(),
  firstSeenAt: instant(),
});
export type StoredIncident = Incident & RowOf<typeof INCIDENT_STAMPS>;
export type StoredMaintenance = Maintenance & RowOf<typeof MAINTENANCE_STAMPS>;

/** Stamps the rows that a commit changed, inside its transaction; writes nothing if nothing changed. */
export async function recordChanges(tx: Writer, upstreamId: string, changes: Partial<CommitResult>): Promise<void> {
  const { monitors = [], incidents = [], maintenances = [], hasNewDefinitions = false } = changes;
  if (monitors.length + incidents.length + maintenances.length === 0 && !hasNewDefinitions) return;
  const revision = await bumpRevision(tx);
  const mark = (table: string, ids: readonly string[]): Promise<void> =>
    tx.runMany(
      `UPDATE ${table} SET revision = ? WHERE id = ?`,
      ids.map((id) => [revision, id]),
    );
  await mark('monitor', monitors);
  await mark('incident', incidents);
  await mark('maintenance', maintenances);
  await mark('upstream', hasNewDefinitions ? [upstreamId] : []);
  await recordSubjects(tx, incidents, maintenances);
  await tx.announce();
}

/** Starts a revision for the changes of this transaction. */
export async function bumpRevision(tx: Writer): Promise<number> {
  await tx.run('UPDATE revision SET value = value + 1');
  return readRevision(tx);
}

/** Changes committed after a revision, by any process. */
export type Changes = Awaited<ReturnType<typeof readChanges>>;

/** @see Store.changesSince */
export async function readChanges(reader: Reader, since: number) {
  // Read first: commits by other processes in the meantime may be reported twice, but are never missed.
  const revision = await readRevision(reader);
  const read: Reader['all'] = revision === since ? async () => [] : reader.all;
  const monitors = await read('SELECT id FROM monitor WHERE revision > ?', [since]);
  const about = await read(
    `SELECT DISTINCT subject FROM event_subject WHERE event IN (SELECT id FROM incident WHERE revision > ?)
       OR event IN (SELECT id FROM maintenance WHERE revision > ?)`,
    [since, since],
  );
  const defined = await read(
    'SELECT id FROM upstream WHERE revision > ? UNION ALL SELECT key FROM page WHERE revision > ?',
    [since, since],
  );
  return {
    /** The latest revision included. */
    revision,
    /** New, gone, or changed in state or description. */
    monitors: monitors.map((row) => String(row['id']) as MonitorId),
    /** Current and former subjects of the changed incidents and maintenances. */
    subjects: about.map((row) => String(row['subject']) as Subject),
    /** Whether page definitions or announcements changed. */
    hasNewDefinitions: defined.length > 0,
  };
}

/** Deletes the subjects of events that no longer exist. */
export async function forgetSubjects(tx: Writer): Promise<void> {
  await tx.run(
    `DELETE FROM event_subject WHERE event NOT IN (SELECT id FROM incident) AND event NOT IN (SELECT id FROM maintenance)`,
  );
}

/** Number of the latest revision. */
export async function readRevision(reader: Reader): Promise<number> {
  const [row] = await reader.all('SELECT value FROM revision');
  return Number(row?.['value']);
}

async function recordSubjects(tx: Writer, incidents: readonly string[], maintenances: readonly string[]) {
  const documents = (table: string, ids: readonly string[]) =>
    readIn(tx, ids, (list) => ({ sql: `SELECT document FROM ${table} WHERE id IN (${list})` }));
  const events = [
    ...(await documents('incident', incidents)).map((row) => parseIncident(row['document'])),
    ...(await documents('maintenance', maintenances)).map((row) => parseMaintenance(row['document'])),
  ];
  await tx.runMany(
    'INSERT INTO event_subject (subject, event) VALUES (?, ?) ON CONFLICT (subject, event) DO NOTHING',
    events.flatMap((event) => eventSubjects(event).map((subject) => [subject, event.id])),
  );
}

/**
 * An event written on a page is about that page; an event with a list of pages is about those alone; any other is about
 * its monitors and components.
 */
function eventSubjects({ pages, monitors, components, owner }: Incident | Maintenance): Subject[] {
  if (owner !== undefined) return [subjects.page(owner.page)];
  if (pages !== null) return pages.map((page) => subjects.page(page));
  return [
    ...monitors.map((id) => subjects.monitor(id)),
    ...components.map((component) => subjects.component(typeof component === 'string' ? component : component.id)),
  ];
}
