/** The page of an import as a part of a configuration. */

import { stringify } from 'yaml';
import { DAY_MS, type EpochMs } from '../model/time.ts';
import { lineLength, toLine } from './names.ts';
import { changed, type ImportContext, type ImportedPost, type ImportedSite, type ImportNote } from './site.ts';

export interface FragmentOptions extends ImportContext {
  /** Id of the upstream that the posts are read by. */
  readonly upstreamId: string;
  /** Its folder, as it stands in the configuration. */
  readonly folder: string;
}

interface Fragment {
  /** YAML with `upstreams` and `pages`. */
  readonly fragment: string;
  /** The same as data. */
  readonly config: object;
  readonly notes: readonly ImportNote[];
}

/** As the schema of the configuration has them. */
const NAME_MAX = 256;
const DESCRIPTION_MAX = 1_024;

/** The part, with what of it is not as it was. */
export function buildFragment(
  { title, description, settings, groups, components, upstream, posts: shown }: ImportedSite,
  redirects: Readonly<Record<string, string>>,
  { page, upstreamId, folder, now }: FragmentOptions,
): Fragment {
  const notes: ImportNote[] = [];
  /** One line, as long as it may be; null: nothing is left. */
  const cut = (text: string | null, max: number, place: string): string | null => {
    const line = toLine(text ?? '', max);
    if (line !== null && line.length < lineLength(text ?? ''))
      notes.push(changed(place, `was cut to ${max} characters`));
    return line;
  };
  const posts = { id: upstreamId, kind: 'markdown', path: folder };
  const definition = {
    slug: page,
    ...given('title', cut(title, NAME_MAX, 'the title')),
    ...given('description', cut(description, DESCRIPTION_MAX, 'the description')),
    ...settings,
    ...(groups.length === 0
      ? {}
      : {
          groups: groups.map(({ id, name, defaultOpen }) => ({
            id,
            name: cut(name, NAME_MAX, `group ${id}`) ?? id,
            ...(defaultOpen === undefined ? {} : { default_open: defaultOpen }),
          })),
        }),
    components: components.map(({ id, name, description: words, groupId, monitor }) => ({
      id,
      ...(monitor === null ? { type: 'static' } : { monitor }),
      name: cut(name, NAME_MAX, `component ${id}`) ?? id,
      ...given('description', cut(words, DESCRIPTION_MAX, `the description of component ${id}`)),
      ...(groupId === null ? {} : { group_id: groupId }),
    })),
    ...(Object.keys(redirects).length === 0 ? {} : { redirects }),
  };
  const retentionDays = neededRetention(shown, now);
  const config = {
    ...(retentionDays === null ? {} : { retentionDays }),
    upstreams: [...(upstream === null ? [] : [upstream]), posts],
    pages: [definition],
  };
  const head = '# Created by pharos import. Copy its entries into pharos.yaml, and add lists to those that exist.\n';
  return { config, notes, fragment: head + stringify(config, { lineWidth: 0 }) };
}

/** How long a page shows what is over, unless its configuration says otherwise. */
const RETENTION_DAYS = 400;
/** For how long the oldest post stays on the page. */
const YEARS_AHEAD = 5;

/** How much has to be kept for the oldest post to show; a whole number of years, so that it is the same tomorrow. Null: no more than usual. */
function neededRetention(posts: readonly ImportedPost[], now: EpochMs): number | null {
  const oldest = Math.min(...posts.flatMap(({ post }) => postBegin(post) ?? []));
  const days = (now - oldest) / DAY_MS;
  if (!(days > RETENTION_DAYS / 2)) return null;
  return (Math.ceil(days / 366) + YEARS_AHEAD) * 366;
}

function postBegin(post: ImportedPost['post']): number | null {
  const text = post.type === 'incident' ? post.started : post.type === 'maintenance' ? post.starts : null;
  return text === null ? null : Date.parse(text);
}

function given(key: string, value: string | null): Readonly<Record<string, string>> {
  return value === null ? {} : { [key]: value };
}
