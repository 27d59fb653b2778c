/** Revisions: each commit that changes something gets the next number, and stamps the changed rows with it. */

import type { Incident, Maintenance, MonitorId } from '../model/observation.ts';
import { type Reader, readIn, type Writer } from './database.ts';
import { parseIncident, parseMaintenance } from './rows.ts';
import { type CommitResult, type Subject, subjects } from './store.ts';

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
