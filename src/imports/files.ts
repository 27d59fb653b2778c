/** What an import writes: a file for each post, and the page as a part of a configuration. */

import { hash } from 'node:crypto';
import { isOverStatus } from '../model/observation.ts';
import { isOwnPath, isPagePath, toSlug } from '../model/slugs.ts';
import { writtenFile } from '../sync/connectors/markdown/files.ts';
import { projectPosts } from '../sync/connectors/markdown/project.ts';
import { buildFragment, type FragmentOptions } from './fragment.ts';
import { changed, dropped, type ImportedPost, type ImportedSite, type ImportNote } from './site.ts';

interface ImportFiles {
  readonly posts: readonly { readonly name: string; readonly text: string }[];
  /** YAML with `upstreams` and `pages`. */
  readonly fragment: string;
  /** The same as data. */
  readonly config: object;
  readonly notes: readonly ImportNote[];
}

/** The files of an import. A post that the markdown upstream could not read is told and left out. */
export function importFiles(site: ImportedSite, options: FragmentOptions): ImportFiles {
  const notes: ImportNote[] = [];
  const names = new Set<string>();
  const posts = site.posts
    .map((post) => ({ ...post, name: fileName(post.name) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((post) => {
      if (names.has(post.name)) {
        notes.push(dropped(post.name, 'two items have this id; the first was imported'));
        return [];
      }
      names.add(post.name);
      const file = writtenFile(post.name, { ...post, post: silent(post.post) });
      const problems = projectPosts([file], { upstreamId: options.upstreamId, zone: 'UTC', now: options.now }).problems;
      if (problems.length === 0) return [{ post, ...file }];
      notes.push(...problems.map(({ place, message }) => dropped(place, message)));
      return [];
    });
  const redirects = listRedirects(
    site,
    posts.map(({ post }) => post),
    { ...options, notes },
  );
  const open = posts.filter(({ post }) => isOpen(post)).map(({ name }) => name);
  if (open.length > 0)
    notes.push(
      changed(
        open.join(', '),
        'still open at the source; import again with --update once it is over, or resolve it in the file',
      ),
    );
  const fragment = buildFragment({ ...site, posts: posts.map(({ post }) => post) }, redirects, options);
  return {
    posts: posts.map(({ name, text }) => ({ name, text })),
    ...fragment,
    notes: [...site.notes, ...notes, ...fragment.notes],
  };
}

/** An id of somebody else's as a name in a folder, which it must not lead out of. */
function fileName(name: string): string {
  return /^[a-z0-9][a-z0-9_-]{0,150}$/.test(name) ? name : `${toSlug(name)}-${hash('sha256', name, 'hex').slice(0, 8)}`;
}

/** What was told elsewhere is news to nobody here. */
function silent(post: ImportedPost['post']): ImportedPost['post'] {
  return post.type === 'incident' || post.type === 'maintenance' ? { ...post, deliver_notifications: false } : post;
}

function isOpen({ post, updates }: ImportedPost): boolean {
  return post.type === 'incident' && post.ended === undefined && !updates.some(({ status }) => isOverStatus(status));
}

function listRedirects(
  site: ImportedSite,
  posts: readonly ImportedPost[],
  { upstreamId, notes }: { readonly upstreamId: string; readonly notes: ImportNote[] },
): Record<string, string> {
  const ofPosts = posts.flatMap(({ name, post, addresses }) =>
    addresses.map((address) => [address, postAddress(upstreamId, name, post.type)] as const),
  );
  const all = [...Object.entries(site.redirects), ...ofPosts];
  const isKept = ([from]: readonly [string, string]): boolean => isPagePath(from) && !isOwnPath(from);
  notes.push(
    ...all
      .filter((one) => !isKept(one))
      .map(([from]) => dropped(from, 'no page has this address in Pharos, so there is no redirect')),
  );
  return Object.fromEntries(all.filter(isKept));
}

/** Where a page has a post: an id of an upstream as a part of an address (`createSlugger`). */
function postAddress(upstreamId: string, name: string, type: string): string {
  const slug = `${upstreamId}/${name}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (type === 'announcement') return '/';
  return `/${type === 'maintenance' ? 'maintenance' : 'incidents'}/${slug}/`;
}
