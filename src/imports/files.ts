/** What an import writes: a file for each post, and the page as a part of a configuration. */

import { stringify } from 'yaml';
import { isOverStatus } from '../model/observation.ts';
import { DAY_MS, type EpochMs } from '../model/time.ts';
import { writtenFile } from '../sync/connectors/markdown/export.ts';
import { projectPosts } from '../sync/connectors/markdown/project.ts';
import { changed, dropped, type ImportContext, type ImportedPost, type ImportedSite, type ImportNote } from './site.ts';

export interface ImportFiles {
  readonly posts: readonly { readonly name: string; readonly text: string }[];
  /** YAML with `upstreams` and `pages`. */
  readonly fragment: string;
  readonly notes: readonly ImportNote[];
}

export interface ImportFilesOptions extends ImportContext {
  /** Id of the upstream that the posts are read by. */
  readonly upstreamId: string;
  /** Its folder, as it stands in the configuration. */
  readonly folder: string;
}

/** The files of an import. A post that the markdown upstream could not read is told and left out. */
export function importFiles(site: ImportedSite, options: ImportFilesOptions): ImportFiles {
  const notes: ImportNote[] = [];
  const posts = site.posts
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((post) => {
      const file = writtenFile(post.name, post);
      const problems = projectPosts([file], { upstreamId: options.upstreamId, zone: 'UTC', now: options.now }).problems;
      if (problems.length === 0) return [{ post, ...file }];
      notes.push(...problems.map(({ place, message }) => dropped(place, message)));
      return [];
    });
  const redirects = redirectsOf(
    site,
    posts.map(({ post }) => post),
    { ...options, notes },
  );
  const open = posts.filter(({ post }) => isOpen(post)).map(({ name }) => name);
  if (open.length > 0)
    notes.push(
      changed(open.join(', '), 'not over there by now; import again with --update once it is, or say so in the file'),
    );
  return {
    posts: posts.map(({ name, text }) => ({ name, text })),
    fragment: fragmentOf({ ...site, posts: posts.map(({ post }) => post) }, redirects, options),
    notes: [...site.notes, ...notes],
  };
}

function isOpen({ post, updates }: ImportedPost): boolean {
  return post.type === 'incident' && post.ended === undefined && !updates.some(({ status }) => isOverStatus(status));
}

/** As the schema of `pages[].redirects` takes it. */
const ADDRESS = /^(?=\/)(?:\/[\w~@:+,=!-][\w~@:+,=!.-]*)*\/?$/;

function redirectsOf(
  site: ImportedSite,
  posts: readonly ImportedPost[],
  { upstreamId, notes }: { readonly upstreamId: string; readonly notes: ImportNote[] },
): Record<string, string> {
  const ofPosts = posts.flatMap(({ name, post, addresses }) =>
    addresses.map((address) => [address, addressOf(upstreamId, name, post.type)] as const),
  );
  const all = [...Object.entries(site.redirects), ...ofPosts];
  const isKept = ([from]: readonly [string, string]): boolean => ADDRESS.test(from) && from.length <= 300;
  notes.push(
    ...all
      .filter((one) => !isKept(one))
      .map(([from]) =>
        dropped(from, 'the address has characters that no address of a page has here, so it leads nowhere'),
      ),
  );
  return Object.fromEntries(all.filter(isKept));
}

/** Where a page has a post: an id of an upstream as a part of an address (`createSlugger`). */
function addressOf(upstreamId: string, name: string, type: string): string {
  const slug = `${upstreamId}/${name}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (type === 'announcement') return '/';
  return `/${type === 'maintenance' ? 'maintenance' : 'incidents'}/${slug}/`;
}

function fragmentOf(
  { title, description, groups, components, upstream, posts: shown }: ImportedSite,
  redirects: Readonly<Record<string, string>>,
  { page, upstreamId, folder, now }: ImportFilesOptions,
): string {
  const posts = { id: upstreamId, kind: 'markdown', path: folder };
  const definition = {
    slug: page,
    ...(title === null ? {} : { title }),
    ...(description === null ? {} : { description }),
    ...(groups.length === 0
      ? {}
      : {
          groups: groups.map(({ id, name, defaultOpen }) => ({
            id,
            name,
            ...(defaultOpen === undefined ? {} : { default_open: defaultOpen }),
          })),
        }),
    components: components.map(({ id, name, description: words, groupId, monitor }) => ({
      id,
      ...(monitor === null ? { type: 'static' } : { monitor }),
      name,
      ...(words === null ? {} : { description: words }),
      ...(groupId === null ? {} : { group_id: groupId }),
    })),
    ...(Object.keys(redirects).length === 0 ? {} : { redirects }),
  };
  const retentionDays = retentionOf(shown, now);
  const parts = {
    ...(retentionDays === null ? {} : { retentionDays }),
    upstreams: [...(upstream === null ? [] : [upstream]), posts],
    pages: [definition],
  };
  return `# Written by pharos import. Copy what it has into pharos.yaml, lists beside those that are there.\n${stringify(parts, { lineWidth: 0 })}`;
}

/** How long a page shows what is over, unless its configuration says otherwise. */
const RETENTION_DAYS = 400;
/** For how long the oldest post stays on the page. */
const YEARS_AHEAD = 5;

/** How much has to be kept for the oldest post to show; a whole number of years, so that it is the same tomorrow. Null: no more than usual. */
function retentionOf(posts: readonly ImportedPost[], now: EpochMs): number | null {
  const oldest = Math.min(...posts.flatMap(({ post }) => beginOf(post) ?? []));
  const days = (now - oldest) / DAY_MS;
  if (!(days > RETENTION_DAYS / 2)) return null;
  return (Math.ceil(days / 366) + YEARS_AHEAD) * 366;
}

function beginOf(post: ImportedPost['post']): number | null {
  const text = post.type === 'incident' ? post.started : post.type === 'maintenance' ? post.starts : null;
  return text === null ? null : Date.parse(text);
}
