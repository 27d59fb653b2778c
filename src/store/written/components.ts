/** Components and groups that operators created over the API; each belongs to one page. */

import type { PageKey } from '../../model/slugs.ts';
import type { Translated } from '../../model/translated.ts';
import type { Reader, Row, Writer } from '../database.ts';
import { bumpRevision } from '../revisions.ts';
import { flag, instant, orNull, type RowOf, table, text, word } from '../table.ts';

const COMPONENTS = table('component', {
  page: text<PageKey>(),
  /** As in addresses; never used before on the page. */
  id: text(),
  kind: word(['component', 'group'], 'component'),
  name: text(),
  description: orNull(text()),
  /** For components: their group, whoever defines it. */
  groupId: orNull(text()),
  /** This and the next two are returned to clients but have no effect. */
  showcase: flag(),
  onlyIfDegraded: flag(),
  /** `YYYY-MM-DD`; null: when it was first shown. */
  startDate: orNull(text()),
  createdAt: instant(),
});
export interface MadeComponent extends RowOf<typeof COMPONENTS> {
  /** Names in other languages, by tag; absent: none. */
  readonly names?: Translated;
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
  const names = one.names === undefined ? null : JSON.stringify(one.names);
  await COMPONENTS.save(tx, [one], { key: ['page', 'id'], kept: ['kind', 'created_at'] }, { names });
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
  const names = row['names'] === null ? {} : { names: JSON.parse(String(row['names'])) as Translated };
  return { ...COMPONENTS.read(row), ...names };
}
