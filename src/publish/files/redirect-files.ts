/** Files at addresses that lead to others of the page: our server answers with the new address, other hosts with a document. */

import { type FileEntry, fileEntry } from './file-entry.ts';
import { REDIRECT } from './kinds/redirect.ts';

interface RedirectContext {
  /** With a slash at its end. */
  readonly pageUrl: string;
  /** Everything else that the page has. */
  readonly files: readonly Pick<FileEntry, 'path'>[];
}

/** An old address of a file, such as that of a feed: it ends in a name with an ending. */
const FILE_NAME = /\.[a-z][a-z0-9]{1,4}$/i;

/**
 * A file for each redirect that leads to something the page has, and from where it has nothing.
 *
 * @param redirects  addresses below the page, as in the configuration
 */
export function redirectFiles(
  redirects: Readonly<Record<string, string>>,
  { pageUrl, files }: RedirectContext,
): FileEntry[] {
  // Most pages have none, and looking at the places of all files costs as much as drawing one.
  if (Object.keys(redirects).length === 0) return [];
  const taken = new Set(files.map(({ path }) => path));
  const places = new Set([...taken].flatMap(placesOf));
  const entries: FileEntry[] = [];
  for (const [from, to] of Object.entries(redirects)) {
    const path = pathOf(from);
    const target = pathOf(to);
    if (!taken.has(target) || places.has(path) || foldersOf(path).some((folder) => taken.has(folder))) continue;
    for (const place of placesOf(path)) places.add(place);
    taken.add(path);
    const location = target.replace(/(^|\/)index\.html$/, '$1');
    const up = '../'.repeat(foldersOf(path).length);
    const link = up + location;
    entries.push(
      fileEntry(REDIRECT, path, {
        inputs: () => ({ location, link: link === '' ? './' : link, url: pageUrl + location }),
      }),
    );
  }
  return entries;
}

/** The file at an address. */
function pathOf(address: string): string {
  const path = address.replace(/^\/|\/$/g, '');
  if (path === '') return 'index.html';
  return FILE_NAME.test(path) && !address.endsWith('/') ? path : `${path}/index.html`;
}

/** A file and every folder that it is in: where no other file can be. */
function placesOf(path: string): string[] {
  return [path, ...foldersOf(path)];
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
