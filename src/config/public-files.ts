/** Lists and checks the files of `site.public`, which are served at the root of the site. */

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';
import { type ConfigIssue, fileReason } from '../errors.ts';
import { isOwnRootFile, PUBLIC_TYPES, SECURITY_TXT } from '../model/slugs.ts';
import type { ConfigFile } from './file-schema.ts';

/** A file in the folder `site.public`. */
export type PublicFile = Readonly<ReturnType<typeof publicFile>>;

const PUBLIC_FILES_MAX = 200;
const PUBLIC_BYTES_MAX = 5 * 1024 * 1024;
/** Folders at the root of the site that can't be the slug of a page. */
const PUBLIC_FOLDERS: ReadonlySet<string> = new Set(['assets', '.well-known']);

/** The files of `site.public`; empty if it isn't set. */
export function readPublicFiles({ site }: ConfigFile, folder: string, issues: ConfigIssue[]): readonly PublicFile[] {
  if (site.public === undefined) return [];
  const root = resolve(folder, site.public);
  const refuse = (message: string): void => void issues.push({ path: 'site.public', message });
  try {
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
    if (files.length > PUBLIC_FILES_MAX) refuse(`has more than ${PUBLIC_FILES_MAX} files`);
    return files.toSorted().flatMap((file) => {
      const path = relative(root, file).replaceAll('\\', '/');
      const isGenerated = path === SECURITY_TXT && site.security !== undefined;
      const fault = isGenerated ? 'site.security creates this file too; remove one of them' : faultOfPublic(path, file);
      if (fault !== null) refuse(`${path}: ${fault}`);
      return fault === null ? [publicFile(path, file)] : [];
    });
  } catch (error) {
    refuse(`can’t read ${root}: ${fileReason(error)}`);
    return [];
  }
}

function faultOfPublic(path: string, file: string): string | null {
  const [first = '', ...rest] = path.split('/');
  const found = lstatSync(file);
  if (!found.isFile()) return 'it is a link or not a file; only regular files are served';
  if (found.size > PUBLIC_BYTES_MAX) return `it is larger than ${PUBLIC_BYTES_MAX / 1024 / 1024} MiB`;
  if (found.size === 0) return 'it is empty';
  if (!/^(?:\.well-known\/)?(?:[A-Za-z0-9_-][\w.-]*\/)*[A-Za-z0-9_-][\w.-]*$/.test(path))
    return 'file names can contain letters, digits, dots, dashes and underscores, and can’t start with a dot';
  if (rest.length > 0 && !PUBLIC_FOLDERS.has(first))
    return 'a folder at the root could be a page; put it below assets/ (or .well-known/)';
  if (rest.length === 0 && isOwnRootFile(first)) return 'Pharos uses this name itself; choose another one';
  if (first !== '.well-known' && PUBLIC_TYPES[extname(path).toLowerCase()] === undefined)
    return `files of this type are not served. Allowed: ${Object.keys(PUBLIC_TYPES).join(' ')}`;
  return null;
}

/** @param path  below the root of the site @param file  its path on disk */
function publicFile(path: string, file: string) {
  return {
    path,
    file,
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
    contentType: PUBLIC_TYPES[extname(path).toLowerCase()] ?? PUBLIC_TYPES['.txt'],
  };
}
