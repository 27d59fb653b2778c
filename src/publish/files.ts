/** Every file of one status page. */

import type { PageModel } from '../model/index.ts';
import type { FileEntry } from './file-entry.ts';
import { htmlFiles } from './html-files.ts';
import { machineFiles } from './machine-files.ts';

export interface FilesOptions {
  /** Write badges as files, for targets with no server that draws them on demand. */
  readonly badges: boolean;
}

/** All files of a page, each path once. Cheap: views, keys and bytes are made only when an entry is asked for them. */
export function filesOf(model: PageModel, _options: FilesOptions): FileEntry[] {
  return [...htmlFiles(model), ...machineFiles(model)];
}
