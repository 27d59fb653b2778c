/**
 * What operators write on pages, and which page it belongs to by the rules: a definition that has a slug begins an era when it
 * gets it, and another when it comes back. Written without a look at how the product counts eras.
 */

import { now } from '../../../src/app/clock.ts';
import { authorPage } from '../../../src/incidents/writer.ts';
import { NOTHING_LEARNED, WRITTEN_ID } from '../../../src/model/observation.ts';
import { toIso } from '../../../src/model/time.ts';
import { readWritten, saveWritten } from '../../../src/store/written/posts.ts';
import { projectWritten, writtenText } from '../../../src/sync/connectors/markdown/written.ts';
import { newWord, type Site } from './machine.ts';
import { isOpenTo, type Seen, type Session } from './world.ts';

/** A post, by its word. */
interface Post {
  readonly slug: string;
  readonly era: number;
  readonly isPrivate: boolean;
}

export interface Posts {
  readonly written: Map<string, Post>;
  /** Who defines each slug now, and the how manieth page it is there. */
  /** Words of posts of a database that is gone; releases may still have them. */
  readonly lost: Set<string>;
  readonly eras: Map<string, { readonly origin: string | null; readonly era: number }>;
}

export function noPosts(): Posts {
  return { written: new Map(), lost: new Set(), eras: new Map() };
}

/** Counts eras, after whatever was said last. */
export function countEras({ configured, known, posts: { eras } }: Site): void {
  if (known === null) return;
  const { over, own } = configured;
  const base = Object.entries(known.pages).find(([, page]) => page.slug === over?.from);
  const claims = new Map<string, string[]>();
  const claim = (slug: string, origin: string): void => void claims.getOrInsert(slug, []).push(origin);
  for (const [kind, page] of Object.entries(known.pages)) if (kind !== base?.[0]) claim(page.slug, kind);
  if (over !== undefined && base !== undefined) claim(over.slug, base[0]);
  if (own !== undefined) claim(own.slug, 'own');
  for (const slug of new Set([...claims.keys(), ...eras.keys()])) {
    const origins = claims.get(slug) ?? [];
    // Over a page that is missing, or claimed twice: nobody has it, and nobody lost it.
    if (origins.length > 1) continue;
    const before = eras.get(slug) ?? { origin: null, era: 0 };
    const [origin = null] = origins;
    if (origin === before.origin) continue;
    eras.set(slug, { origin, era: before.era + (origin === null ? 0 : 1) });
  }
}

/** Writes a post on a page that is there; its word, or null where there is none. */
export async function writePost(site: Site, slug: string): Promise<string | null> {
  const { base, serving } = site.nodes.main.pharos;
  const page = serving.keeper.page(slug);
  if (page === null || site.known === null) return null;
  const word = newWord(site);
  const { key, isPrivate } = authorPage(page);
  const post = {
    type: 'incident' as const,
    title: `${word} post`,
    draft: false,
    impact: 'major' as const,
    state: 'none' as const,
    started: toIso(now()),
    affects_uptime: true,
    monitors: [],
    components: [],
    pages: [page.definition.id],
  };
  const document = writtenText({
    post,
    opening: '',
    updates: [{ at: now(), status: 'investigating', body: `${word} told` }],
  });
  const row = {
    id: word,
    page: key,
    isPrivate,
    version: 1,
    document,
    createdAt: now(),
    updatedAt: now(),
    actor: 'operator',
  };
  await base.database.transaction((tx) => saveWritten(tx, row));
  site.posts.written.set(word, { slug, era: site.posts.eras.get(slug)?.era ?? 0, isPrivate });
  await pullPosts(site);
  return word;
}

/** One pass over what was written. */
async function pullPosts({ nodes }: Site): Promise<void> {
  const { store, database } = nodes.main.pharos.base;
  const projected = projectWritten(await readWritten(database), { now: now(), drafts: false });
  const { incidents, maintenances, announcements, complete, problems } = projected;
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  await store.commitPass({
    upstreamId: WRITTEN_ID,
    observedAt: now(),
    learned: { ...NOTHING_LEARNED, incidents, maintenances, announcements, complete },
    continuity: 'broken',
    spanChanges: [],
  });
}

/** Whether somebody may read the word of a post; null: it is none. */
export function mayReadPost(
  { written, lost, eras }: Posts,
  word: string,
  { seen, session }: { readonly seen: Seen; readonly session: Session | null },
): boolean | null {
  if (lost.has(word)) return true;
  const post = written.get(word);
  if (post === undefined) return null;
  const gate = seen.get(post.slug)?.gate;
  if (eras.get(post.slug)?.era !== post.era) return false;
  if (gate === 'public') return !post.isPrivate;
  return isOpenTo(session, post.slug, gate);
}
