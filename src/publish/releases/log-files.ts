/** The signed log of a page as files of a release: the list of files, the checkpoint, and the entries. */

import { hash } from 'node:crypto';
import type { PageKey } from '../../model/slugs.ts';
import {
  CHECKPOINT_PATH,
  ENTRIES_PER_FILE,
  entriesPath,
  FILES_PATH,
  isLogFile,
  KEY_PATH,
} from '../../transparency/entries.ts';
import { parseCheckpoint } from '../../transparency/note.ts';
import type { LogHead, PageLog } from '../../transparency/page-log.ts';
import type { Manifest } from './manifest.ts';
import type { ReleaseFile } from './write.ts';

/** A release that is about to be written. */
export type LoggedRelease = Omit<Parameters<PageLog['commitRelease']>[0], 'root' | 'seen'>;

interface LogFilesDeps {
  readonly commitRelease: PageLog['commitRelease'];
  /** Lines of a page's log, for the files that the last release doesn't have. */
  readonly readLines: (page: PageKey, range: { readonly from: number; readonly to: number }) => Promise<string[]>;
  /** Reads a file of the release being served. @throws when it is missing */
  readonly readBefore: (path: string) => string;
}

/**
 * The files of a release, with those of its log.
 *
 * @param previous  where kept files are
 */
export async function withLogFiles(
  deps: LogFilesDeps,
  { files, previous, release }: { files: readonly ReleaseFile[]; previous: Manifest | null; release: LoggedRelease },
): Promise<readonly ReleaseFile[]> {
  const own = files.filter(({ path }) => !isLogFile(path));
  const sums = listSums(own, previous);
  const { event, ...place } = release;
  const head = await deps.commitRelease({
    ...place,
    event: hash('sha256', event),
    root: hash('sha256', sums),
    seen: readSeen(deps),
  });
  const written = (path: string, contentType: string, text: string): ReleaseFile => {
    const sha256 = hash('sha256', text);
    if (previous?.files[path]?.sha256 === sha256) return { path, drawn: null };
    return { path, drawn: { key: sha256, sha256, contentType, csp: null, body: Buffer.from(text) } };
  };
  return [
    ...own,
    written(CHECKPOINT_PATH, 'text/plain; charset=utf-8', head.checkpoint),
    written(FILES_PATH, 'text/plain; charset=utf-8', sums),
    written(KEY_PATH, 'application/json; charset=utf-8', `${JSON.stringify({ keys: [head.verifier] })}\n`),
    ...(
      await entryFiles(head, previous, (from) => deps.readLines(release.page, { from, to: from + ENTRIES_PER_FILE }))
    ).map(
      ([path, lines]): ReleaseFile =>
        lines === null
          ? { path, drawn: null }
          : written(path, 'application/jsonl; charset=utf-8', lines.map((line) => `${line}\n`).join('')),
    ),
  ];
}

/** As `sha256sum` writes it. Files that lead elsewhere are left out: hosts answer them differently. */
function listSums(files: readonly ReleaseFile[], previous: Manifest | null): string {
  const sums = new Map<string, string>();
  for (const { path, drawn } of files) {
    const { location, sha256 = '' } = drawn ?? previous?.files[path] ?? {};
    if (location === undefined) sums.set(path, sha256);
  }
  // By code units, as elsewhere.
  const paths = [...sums.keys()].sort();
  return paths.map((path) => `${sums.get(path)}  ${path}\n`).join('');
}

/** The log of the last release; null: it had none, or it can't be read. */
export function readSeen({ readBefore }: Pick<LogFilesDeps, 'readBefore'>) {
  try {
    const checkpoint = parseCheckpoint(readBefore(CHECKPOINT_PATH));
    if (checkpoint === null || checkpoint.size === 0) return null;
    const tail = readBefore(entriesPath(checkpoint.size - 1))
      .trimEnd()
      .split('\n');
    return { size: checkpoint.size, root: checkpoint.root, tail };
  } catch {
    // There is none before the first; and a release whose files are missing is written again from nothing.
    return null;
  }
}

/** The lines of each file of entries; null: it is as it was in the last release. */
async function entryFiles(
  head: LogHead,
  previous: Manifest | null,
  readFrom: (first: number) => Promise<readonly string[]>,
): Promise<(readonly [path: string, lines: readonly string[] | null])[]> {
  const files: (readonly [string, readonly string[] | null])[] = [];
  const tailFrom = head.size - head.tail.length;
  for (let from = 0; from < head.size; from += ENTRIES_PER_FILE) {
    const path = entriesPath(from);
    const isFullBefore = previous?.files[entriesPath(from + ENTRIES_PER_FILE)] !== undefined;
    if (from === tailFrom) files.push([path, head.tail]);
    else files.push([path, isFullBefore && previous?.files[path] !== undefined ? null : await readFrom(from)]);
  }
  return files;
}

/** The name of a new log, which no other page's has, whoever had the address before. */
export function logOrigin(url: string, page: PageKey): string {
  const { host, pathname } = new URL(url);
  const [path, slug = ''] = [pathname.replace(/\/$/, ''), page.split('~')[0]];
  return `${host}${path}${path.endsWith(`/${slug}`) ? page.slice(slug.length) : `~${page}`}`;
}
