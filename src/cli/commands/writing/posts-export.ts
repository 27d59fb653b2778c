/** `pharos posts export`: what was written in the store, as files for a markdown upstream. */

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { makeFolder } from '../../../store/make-folder.ts';
import { type PlacedComponent, readPlaced } from '../../../store/written/components.ts';
import { readWritten } from '../../../store/written/posts.ts';
import { parseWritten, writtenFile } from '../../../sync/connectors/markdown/written.ts';
import { EXIT_DONE, EXIT_FAILED } from '../../terminal/exit.ts';
import { openToRead, print, requireConfig } from '../common.ts';

export interface PostsExportOptions {
  readonly config?: string;
  readonly out: string;
  readonly json?: boolean;
}

/** Writes every post; a file that is there is never overwritten. */
export async function postsExport(options: PostsExportOptions): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const rows = await readWritten(pharos.store.database);
  const folder = resolve(options.out);
  makeFolder(folder);
  const files: string[] = [];
  const skipped: { readonly id: string; readonly reason: string }[] = [];
  for (const { id, document } of rows) {
    const post = parseWritten(document);
    if (post === null) {
      skipped.push({ id, reason: 'is stored in a format this version can’t read' });
      continue;
    }
    const { name, text } = writtenFile(id, post);
    try {
      writeFileSync(join(folder, name), text, { flag: 'wx' });
      files.push(join(folder, name));
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
      skipped.push({ id, reason: 'already has a file there' });
    }
  }
  const lines = [...files, ...skipped.map(({ id, reason }) => `skipped ${id}: it ${reason}`)];
  print(
    options.json === true,
    { files, skipped },
    lines.length === 0 ? 'There are no posts to export.' : lines.join('\n'),
  );
  return skipped.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

/** `pharos components export`: components that were made over the API, as configuration. */
interface ComponentsExportOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Prints them; nothing is changed. */
export async function componentsExport(options: ComponentsExportOptions): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const made = await readPlaced(pharos.store.database);
  const pages = [...Map.groupBy(made, ({ slug }) => slug)].map(([slug, those]) => ({
    slug,
    ...toConfiguration(those),
  }));
  const text =
    pages.length === 0
      ? '# No components were made over the API.'
      : `# Add these to their pages in the configuration: to groups and components that are there already.\n${stringify({ pages }).trimEnd()}`;
  print(options.json === true, { pages }, text);
  return EXIT_DONE;
}

function toConfiguration(made: readonly PlacedComponent[]): object {
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
