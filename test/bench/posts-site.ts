/** A site whose news is in posts: nothing is asked over a network, and one page may have thousands of incidents. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS, HOUR_MS } from '../../src/model/time.ts';

export interface PostsSite {
  /** Beside the big page; each has two components. */
  readonly pages: number;
  /** Of the page `big`; 0: there is no such page. */
  readonly incidents: number;
  /** A folder that is kept as a static host. */
  readonly out: string | null;
  /** Behind a password from now on. */
  readonly closed?: string;
}

export const BIG = 'big';
/** `PASSWORD` has to be in the environment. */
export const ENVIRONMENT = { PASSWORD: 'a long pass phrase' };

/** Writes the configuration, again for a change of it. */
export function writeConfig(folder: string, { pages, incidents, out, closed }: PostsSite): void {
  const slugs = [...(incidents > 0 ? [BIG] : []), ...Array.from({ length: pages }, (_, page) => `page-${page}`)];
  writeFileSync(
    join(folder, 'pharos.yaml'),
    JSON.stringify({
      site: { url: 'http://status.example', name: 'Example' },
      schedule: '0 0 1 1 *',
      upstreams: [{ id: 'posts', kind: 'markdown', path: './posts' }],
      ...(out === null ? {} : { output: { folder: out } }),
      pages: slugs.map((slug) => ({
        slug,
        title: `Title of ${slug}`,
        ...(slug === closed ? { password: '${PASSWORD}' } : {}),
        components: ['one', 'two'].map((id) => ({ type: 'static', id, name: `${id} of ${slug}` })),
      })),
    }),
  );
}

/** Writes the incidents of the big page: an hour each, evenly over the last year. */
export function writePosts(folder: string, incidents: number): void {
  mkdirSync(join(folder, 'posts'), { recursive: true });
  const newest = Date.now() - DAY_MS;
  for (let index = 0; index < incidents; index += 1) {
    const startedAt = newest - Math.round((index * 364 * DAY_MS) / incidents);
    const at = (ms: number): string => new Date(ms).toISOString();
    writeFileSync(
      join(folder, 'posts', `incident-${index}.md`),
      `---\ntype: incident\ntitle: Incident ${index}\nimpact: minor\nstarted: ${at(startedAt)}\nended: ${at(startedAt + HOUR_MS)}\ncomponents: [${BIG}/one]\n---\n\nWhat happened in incident ${index}.\n`,
    );
  }
}
