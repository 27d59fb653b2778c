/** Components and groups that operators created over the API; each belongs to one page. */

import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Translated } from '../../model/translated.ts';
import type { Reader, Row, Writer } from '../database.ts';
import { bumpRevision } from '../revisions.ts';
import { parseInstant } from '../rows.ts';

export interface MadeComponent {
  readonly page: PageKey;
  /** As in addresses; never used before on the page. */
  readonly id: string;
  readonly kind: 'component' | 'group';
  readonly name: string;
  /** Names in other languages, by tag; absent: none. */
  readonly names?: Translated;
  readonly description: string | null;
  /** For components: their group, whoever defines it. */
  readonly groupId: string | null;
  /** This and the next two are returned to clients but have no effect. */
  readonly showcase: boolean;
  readonly onlyIfDegraded: boolean;
  /** `YYYY-MM-DD`; null: when it was first shown. */
  readonly startDate: string | null;
  readonly createdAt: EpochMs;
}

/** A component with its page's identity in definitions. */
export interface PlacedComponent extends MadeComponent {
  readonly slug: string;
  /** Id of the page's definition. */
  readonly origin: string;
}

/** Components of all current pages; oldest first. */
export async function readPlaced(reader: Reader): Promise<readonly PlacedComponent[]> {
  const rows = await reader.all(
    `SELECT component.*, page.slug, page.origin FROM component JOIN page ON page.key = component.page
     WHERE page.ended_at IS NULL ORDER BY component.created_at, component.id`,
  );
  return rows.map((row) => ({ ...toMade(row), slug: String(row['slug']), origin: String(row['origin']) }));
}

/** Components of one page; oldest first. */
export async function readMade(reader: Reader, page: PageKey): Promise<readonly MadeComponent[]> {
  const rows = await reader.all('SELECT * FROM component WHERE page = ? ORDER BY created_at, id', [page]);
  return rows.map(toMade);
}

/** Inserts or updates a component. */
export async function saveMade(tx: Writer, one: MadeComponent): Promise<void> {
  await tx.run(
    `INSERT INTO component (page, id, kind, name, names, description, group_id, showcase, only_if_degraded, start_date, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (page, id) DO UPDATE SET name = excluded.name, names = excluded.names, description = excluded.description,
       group_id = excluded.group_id, showcase = excluded.showcase, only_if_degraded = excluded.only_if_degraded,
       start_date = excluded.start_date`,
    [
      one.page,
      one.id,
      one.kind,
      one.name,
      one.names === undefined ? null : JSON.stringify(one.names),
      one.description,
      one.groupId,
      Number(one.showcase),
      Number(one.onlyIfDegraded),
      one.startDate,
      one.createdAt,
    ],
  );
  await redefine(tx, one.page);
}

/** Deletes a component for good. */
export async function deleteMade(tx: Writer, { page, id }: Pick<MadeComponent, 'page' | 'id'>): Promise<void> {
  await tx.run('DELETE FROM component WHERE page = ? AND id = ?', [page, id]);
  await redefine(tx, page);
}

/** Tells all processes that the page's definition changed. */
async function redefine(tx: Writer, page: PageKey): Promise<void> {
  await tx.run('UPDATE page SET revision = ? WHERE key = ?', [await bumpRevision(tx), page]);
  await tx.announce();
}

function toMade(row: Row): MadeComponent {
  const text = (name: string): string | null => (row[name] === null ? null : String(row[name]));
  const names = text('names');
  return {
    page: String(row['page']) as PageKey,
    id: String(row['id']),
    kind: row['kind'] === 'group' ? 'group' : 'component',
    name: String(row['name']),
    ...(names === null ? {} : { names: JSON.parse(names) as Translated }),
    description: text('description'),
    groupId: text('group_id'),
    showcase: Number(row['showcase']) === 1,
    onlyIfDegraded: Number(row['only_if_degraded']) === 1,
    startDate: text('start_date'),
    createdAt: parseInstant(row['created_at']) ?? (0 as EpochMs),
  };
}
