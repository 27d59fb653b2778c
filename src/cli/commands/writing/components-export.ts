/** `pharos components export`: components that were made over the API, as configuration. */

import { stringify } from 'yaml';
import { type PlacedComponent, readPlaced } from '../../../store/written/components.ts';
import { EXIT_DONE } from '../../terminal/exit.ts';
import { openToRead, print, requireConfig } from '../common.ts';

export interface ComponentsExportOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Prints them; nothing is changed. */
export async function componentsExport(options: ComponentsExportOptions): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const made = await readPlaced(pharos.store.database);
  const pages = [...Map.groupBy(made, ({ slug }) => slug)].map(([slug, those]) => ({ slug, ...entriesOf(those) }));
  const text =
    pages.length === 0
      ? '# No components were made over the API.'
      : `# Add these to their pages in the configuration: to groups and components that are there already.\n${stringify({ pages }).trimEnd()}`;
  print(options.json === true, { pages }, text);
  return EXIT_DONE;
}

function entriesOf(made: readonly PlacedComponent[]): object {
  const groups = made.filter(({ kind }) => kind === 'group').map(({ id, name }) => ({ id, name }));
  const components = made
    .filter(({ kind }) => kind === 'component')
    .map(({ id, name, description, groupId }) => ({
      ...{ id, type: 'static', name },
      ...(description === null ? {} : { description }),
      ...(groupId === null ? {} : { group_id: groupId }),
    }));
  return { ...(groups.length === 0 ? {} : { groups }), ...(components.length === 0 ? {} : { components }) };
}
