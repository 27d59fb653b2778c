/** The files of an import: one for each post, and the page as a fragment of a configuration. */

import { hash } from 'node:crypto';
import { stringify } from 'yaml';
import { isOverStatus } from '../model/observation.ts';
import { isOwnPath, isPagePath, toSlug } from '../model/slugs.ts';
import { DAY_MS, type EpochMs } from '../model/time.ts';
import { projectPosts } from '../sync/connectors/markdown/project.ts';
import { writtenFile } from '../sync/connectors/markdown/written.ts';
import {
  change,
  drop,
  type ImportContext,
  type ImportedPost,
  type ImportedSite,
  type ImportNote,
  lineLength,
  toLine,
} from './site.ts';

/** Makes the files of an import. Posts that the markdown upstream couldn't read are reported and left out. */
export function importFiles(site: ImportedSite, options: FragmentOptions) {
  const notes: ImportNote[] = [];
  const names = new Set<string>();
  const posts = site.posts
    .map((post) => ({ ...NOTHING_WRITTEN, ...post, name: fileName(post.name) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((post) => {
      if (names.has(post.name)) return drop(notes, post.name, 'two items have this id; the first was imported');
      names.add(post.name);
      // Subscribers have already been notified elsewhere.
      const silent = post.post.type === 'announcement' ? {} : { deliver_notifications: false };
      const file = writtenFile(post.name, { ...post, post: { ...post.post, ...silent } });
      const problems = projectPosts([file], { upstreamId: options.upstreamId, zone: 'UTC', now: options.now }).problems;
      if (problems.length === 0) return [{ post, ...file }];
      for (const { place, message } of problems) drop(notes, place, message);
      return [];
    });
  const kept = posts.map(({ post }) => post);
  const redirects = listRedirects(site, kept, options.upstreamId, notes);
  const isOpen = ({ post, updates }: Required<ImportedPost>): boolean =>
    post.type === 'incident' && post.ended === undefined && !updates.some(({ status }) => isOverStatus(status));
  const open = posts.filter(({ post }) => isOpen(post)).map(({ name }) => name);
  const openWords = 'still open at the source; import again with --update once it is over, or resolve it in the file';
  if (open.length > 0) change(notes, open.join(', '), openWords);
  const config = buildConfig({ ...site, posts: kept }, redirects, options, notes);
  const head = '# Created by pharos import. Copy its entries into pharos.yaml, and add lists to those that exist.\n';
  return {
    posts: posts.map(({ name, text }) => ({ name, text })),
    config,
    /** The configuration as YAML. */
    fragment: head + stringify(config, { lineWidth: 0 }),
    notes: [...site.notes, ...notes],
  };
}

const NOTHING_WRITTEN = { opening: '', updates: [], addresses: [] };

/** Turns a foreign id into a safe file name. */
function fileName(name: string): string {
  return /^[a-z0-9][a-z0-9_-]{0,150}$/.test(name) ? name : `${toSlug(name)}-${hash('sha256', name, 'hex').slice(0, 8)}`;
}

function listRedirects(
  site: ImportedSite,
  posts: readonly Required<ImportedPost>[],
  upstreamId: string,
  notes: ImportNote[],
): Record<string, string> {
  const ofPosts = posts.flatMap(({ name, post, addresses }) =>
    addresses.map((address) => [address, postAddress(upstreamId, name, post.type)] as const),
  );
  const all = [...Object.entries(site.redirects), ...ofPosts];
  return Object.fromEntries(
    all.filter(([from]) => {
      const isKept = isPagePath(from) && !isOwnPath(from);
      if (!isKept) drop(notes, from, 'no page has this address in Pharos, so there is no redirect');
      return isKept;
    }),
  );
}

/** The address of a post on the page, as `createSlugger` makes it. */
function postAddress(upstreamId: string, name: string, type: string): string {
  const slug = `${upstreamId}/${name}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (type === 'announcement') return '/';
  return `/${type === 'maintenance' ? 'maintenance' : 'incidents'}/${slug}/`;
}

// The imported page as a fragment of a configuration.

interface FragmentOptions extends ImportContext {
  /** Id of the upstream that reads the posts. */
  readonly upstreamId: string;
  /** Its folder, as written in the configuration. */
  readonly folder: string;
}

/** The limits of the configuration's schema. */
const NAME_MAX = 256;
const DESCRIPTION_MAX = 1_024;

/** Makes the fragment as data. */
function buildConfig(
  { title, description, settings, groups, components, upstream, posts: shown }: ImportedSite,
  redirects: Readonly<Record<string, string>>,
  { page, upstreamId, folder, now }: FragmentOptions,
  notes: ImportNote[],
): object {
  /** Cuts a text to one line of the allowed length; null if nothing is left. */
  const cut = (text: string | null, max: number, place: string): string | undefined => {
    const line = toLine(text ?? '', max) ?? undefined;
    if (line !== undefined && line.length < lineLength(text ?? ''))
      change(notes, place, `was cut to ${max} characters`);
    return line;
  };
  const posts = { id: upstreamId, kind: 'markdown', path: folder };
  const toGroup = ({ id, name, defaultOpen }: ImportedSite['groups'][number]) => {
    return { id, name: cut(name, NAME_MAX, `group ${id}`) ?? id, default_open: defaultOpen };
  };
  // YAML leaves out what is undefined.
  const definition = {
    slug: page,
    title: cut(title, NAME_MAX, 'the title'),
    description: cut(description, DESCRIPTION_MAX, 'the description'),
    ...settings,
    groups: groups.length === 0 ? undefined : groups.map(toGroup),
    components: components.map(({ id, name, description: words = null, groupId, monitor = null }) => ({
      id,
      ...(monitor === null ? { type: 'static' } : { monitor }),
      name: cut(name, NAME_MAX, `component ${id}`) ?? id,
      description: cut(words, DESCRIPTION_MAX, `the description of component ${id}`),
      group_id: groupId ?? undefined,
    })),
    redirects: Object.keys(redirects).length === 0 ? undefined : redirects,
  };
  return {
    retentionDays: neededRetention(shown, now),
    upstreams: [...(upstream === null ? [] : [upstream]), posts],
    pages: [definition],
  };
}

/** The default retention. */
const RETENTION_DAYS = 400;
/** How many more years the oldest post should stay on the page. */
const YEARS_AHEAD = 5;

/** The retention needed to show the oldest post, in whole years so that it is the same tomorrow. Undefined: the default. */
function neededRetention(posts: readonly ImportedPost[], now: EpochMs): number | undefined {
  const begins = posts.flatMap(({ post }) =>
    post.type === 'incident' ? post.started : post.type === 'maintenance' ? post.starts : [],
  );
  const oldest = Math.min(...begins.map((text) => Date.parse(text)));
  const days = (now - oldest) / DAY_MS;
  if (!(days > RETENTION_DAYS / 2)) return undefined;
  return (Math.ceil(days / 366) + YEARS_AHEAD) * 366;
}
