/**
 * Publishes every file of one page and of the site with the sources of the tree that it lies in, on top of what it printed
 * the last time, and prints result as JSON. Arguments: a file with what it printed; none: nothing was published.
 * To be run as a process of its own, in a copy of the tree.
 */

import { readFileSync } from 'node:fs';
import { type FileEntry, PRIORITIES } from '../../src/publish/files/file-entry.ts';
import { listSiteFiles } from '../../src/publish/files/site-files.ts';
import type { Manifest } from '../../src/publish/releases/manifest.ts';
import { sceneOf } from './page-fields.ts';
import { filesWithBadges } from './page-files.ts';
import { eventful } from './page-scenes.ts';
import { createRedrawing } from './redrawing.ts';

/** What is printed. */
export interface RedrawnFiles {
  readonly bytes: readonly (readonly [path: string, digest: string])[];
  readonly manifest: Manifest;
  readonly stale: readonly string[];
  readonly written: readonly string[];
  readonly needless: readonly string[];
  readonly drawnInVain: readonly string[];
}

const SITE = { url: 'https://s.example', name: 'S', home: null, timezone: 'UTC', locale: 'en', historyDays: 90 };

function list(): FileEntry[] {
  const { model, badge } = sceneOf(eventful());
  const files = filesWithBadges(model, { badge }).filter(({ priority }) => priority !== PRIORITIES.at(-1));
  const ofSite = listSiteFiles({ site: SITE, pages: [] }).map(
    (entry): FileEntry => Object.create(entry, { path: { value: `_site/${entry.path}` } }),
  );
  return [...files, ...ofSite];
}

const [printed] = process.argv.slice(2);
const earlier = printed === undefined ? null : (JSON.parse(readFileSync(printed, 'utf8')) as RedrawnFiles);
const before = earlier === null ? null : { bytes: new Map(earlier.bytes), manifest: earlier.manifest };
const { after, ...verdict } = await (await createRedrawing()).redraw(before, list);
const result: RedrawnFiles = {
  ...verdict,
  bytes: [...after.bytes],
  manifest: after.manifest,
};
console.log(JSON.stringify(result));
