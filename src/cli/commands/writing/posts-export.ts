/** `pharos posts export`: what was written in the store, as files for a markdown upstream. */

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../../store/make-folder.ts';
import { readWritten } from '../../../store/written/posts.ts';
import { writtenFile } from '../../../sync/connectors/markdown/files.ts';
import { parseWritten } from '../../../sync/connectors/markdown/written.ts';
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
