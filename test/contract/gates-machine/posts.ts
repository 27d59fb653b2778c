/**
 * What is kept for pages, and for which page by the rules: a definition that has a slug begins an era when it gets it, and
 * another when it comes back. Written without a look at how the product counts eras.
 */

import { newToken, systemRandom } from '../../../src/access/digest.ts';
import { createBadgeTokens } from '../../../src/access/gate/badge-tokens.ts';
import { now } from '../../../src/app/clock.ts';
import { NOTHING_LEARNED, WRITTEN_ID } from '../../../src/model/observation.ts';
import type { PageKey } from '../../../src/model/slugs.ts';
import { linkToken } from '../../../src/notify/subscribers.ts';
import { TOKEN_PREFIX, tokenHash } from '../../../src/server/operators/operator.ts';
import { adoptPage, readPages } from '../../../src/store/pages.ts';
import { createApiTokens, readWritten } from '../../../src/store/written.ts';
import { projectWritten } from '../../../src/sync/connectors/markdown/written.ts';
import { storeSubscriber } from '../access-fixture.ts';
import { newWord, type Site } from './machine.ts';
import { baseOf, freePages, isOpenTo, type Reader, type Seen } from './world.ts';

/** A page for as long as it is the same page: of which database, at which slug, the how manieth there. */
export type Era = string;

/** A post, by its word. */
interface Post {
  readonly era: Era;
  readonly isPrivate: boolean;
}

/** What opens something of one page. */
export interface Credential {
  readonly slug: string;
  readonly era: Era;
  readonly token: string;
  /** True: of the configuration, which names a slug and no page. */
  readonly isNamed?: true;
}

export interface Subscription extends Omit<Credential, 'token'> {
  readonly email: string;
  readonly confirm: string;
  readonly manage: string;
}

export interface Posts {
  /** Grows with each database; what was kept in one before may be anybody's. */
  readonly database: number;
  readonly written: Map<string, Post>;
  /** Words of posts of a database that is gone; releases may still have them. */
  readonly lost: Set<string>;
  /** Who defines each slug now, and the page that it is. */
  readonly eras: Map<string, { readonly origin: string | null; readonly era: Era }>;
  /** Pages of which nobody can say whether they went on, since an answer broke off. */
  readonly loose: Set<Era>;
  /** Pages that in this step were given what another one had, and their slugs: mails of theirs may be on their way. */
  readonly replaced: Map<Era, string>;
  /** Under which key the product keeps each page. */
  readonly keys: Map<Era, PageKey>;
  readonly apiTokens: Credential[];
  /** The page of each API token, by its id: who writes on it sees who else does, nobody else. */
  readonly authors: Map<string, Era>;
  readonly badgeTokens: Credential[];
  readonly subscriptions: Subscription[];
  count: number;
}

/** @param before  what a database that is gone had */
export function noPosts(before?: Posts): Posts {
  return {
    database: (before?.database ?? 0) + 1,
    written: new Map(),
    lost: new Set([...(before?.lost ?? []), ...(before?.written.keys() ?? [])]),
    ...{
      eras: new Map(),
      loose: new Set(),
      replaced: new Map(),
      keys: new Map(),
      authors: new Map(),
      count: before?.count ?? 0,
    },
    ...{ apiTokens: [], badgeTokens: [], subscriptions: [] },
  };
}

/** Counts eras, after whatever was said last. */
export function countEras({ configured, known, posts }: Site): void {
  if (known === null) return;
  const { eras } = posts;
  const { over, own } = configured;
  const base = baseOf(known.pages, over);
  const claims = new Map<string, string[]>();
  const claim = (slug: string, origin: string): void => void claims.getOrInsert(slug, []).push(origin);
  for (const [kind, page] of freePages(known.pages, over)) {
    for (const _ of [page, ...(page.shape?.others ?? [])]) claim(page.slug, kind);
  }
  if (over !== undefined && base !== undefined) claim(over.slug, base[0]);
  if (own !== undefined) claim(own.slug, 'own');
  for (const slug of new Set([...claims.keys(), ...eras.keys()])) {
    const origins = claims.get(slug) ?? [];
    // Over a page that is missing, or claimed twice: nobody has it, and nobody lost it.
    if (origins.length > 1) continue;
    const before = eras.get(slug) ?? { origin: null, era: '' };
    const [origin = null] = origins;
    if (origin !== before.origin) eras.set(slug, { origin, era: origin === null ? before.era : newEra(posts, slug) });
  }
}

function newEra(posts: Posts, slug: string): Era {
  posts.count += 1;
  return `${posts.database} ${slug} ${posts.count}`;
}

/** An answer broke off that may have had the page or not: whatever is kept for it may come back with it, or not. */
export function loosen({ posts }: Site, slug: string): void {
  const before = posts.eras.get(slug);
  if (before === undefined) return;
  posts.loose.add(before.era);
  posts.eras.set(slug, { ...before, era: newEra(posts, slug) });
}

/** Whether what is of a page belongs to the slug now. */
export function isOf({ database, eras, loose }: Posts, era: Era, slug: string): boolean {
  const current = eras.get(slug)?.era;
  return era === current || loose.has(era) || Number(era.split(' ', 1)[0]) < database;
}

/** A reader at a slug: what they hold of another page is nothing there. */
export function entering(posts: Posts, reader: Reader | null, slug: string): Reader | null {
  return reader === null || isOf(posts, reader.era, slug) ? reader : { ...reader, slug: '' };
}

/** The page that has a slug. */
export function eraOf({ eras, database }: Posts, slug: string): Era {
  return eras.get(slug)?.era ?? `${database} ${slug} 0`;
}

/** Remembers what the product calls each page. */
export async function noteKeys({ nodes, posts, known }: Site): Promise<void> {
  if (known === null) return;
  for (const { slug, key } of await readPages(nodes.main.pharos.base.database)) {
    const era = posts.eras.get(slug)?.era;
    if (era !== undefined) posts.keys.set(era, key);
  }
}

/** Gives a page that has a slug all that is kept for one that has none any more; null: there is no such page. */
export async function adopt({ nodes, posts }: Site, slug: string, pick: (count: number) => number) {
  const current = posts.eras.get(slug);
  if (current === undefined || current.origin === null || posts.loose.has(current.era)) return null;
  const taken = new Set([...posts.eras.values()].flatMap(({ origin, era }) => (origin === null ? [] : [era])));
  const former = [...posts.keys].filter(([era]) => !taken.has(era) && !posts.loose.has(era));
  const [era, old] = former[pick(Math.max(1, former.length))] ?? [];
  if (era === undefined || old === undefined) return null;
  const done = await adoptPage(nodes.main.pharos.base.database, { old, slug, now: now() });
  if (done !== 'adopted') return null;
  posts.replaced.set(current.era, slug);
  posts.eras.set(slug, { ...current, era });
  return `${slug} adopts ${era}`;
}

/** Writes a post over the API; its word, or null where there is no page. @throws where a token opens another page */
export async function writePost(site: Site, slug: string, credential: Credential | null): Promise<string | null> {
  const { posts, nodes, seen, known } = site;
  if (known === null) return null;
  const word = newWord(site);
  const era = eraOf(posts, slug);
  const { status } = await nodes.main.ask({
    path: `/-/v1/pages/${slug}/incidents`,
    bearer: credential?.token ?? site.operator,
    json: { incident: { name: `${word} post`, status: 'investigating', body: `${word} told` } },
  });
  const mayWrite =
    credential === null || (credential.isNamed === true ? credential.slug === slug : isOf(posts, credential.era, slug));
  if (status !== 201) {
    if (seen.has(slug) && mayWrite && credential?.era === era) throw new Error(`${slug} took no post: ${status}`);
    return null;
  }
  if (!mayWrite) throw new Error(`LEAK: a token of ${credential?.era} wrote on ${era}`);
  posts.written.set(word, { era, isPrivate: seen.get(slug)?.gate !== 'public' });
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

/** Gives out a token or a subscription of the page that has a slug; null: there is none. */
export async function giveOut(
  site: Site,
  slug: string,
  kind: 'api' | 'badge' | 'subscription',
): Promise<string | null> {
  const { base, serving } = site.nodes.main.pharos;
  const page = serving.keeper.page(slug);
  if (page === null || site.known === null) return null;
  const { posts } = site;
  const { key } = page.identity;
  const of = { slug, era: eraOf(posts, slug) };
  if (kind === 'badge') {
    const { token } = await createBadgeTokens(base.database).create(key, now());
    posts.badgeTokens.push({ ...of, token });
  } else if (kind === 'api') {
    const token = TOKEN_PREFIX + newToken(systemRandom);
    const id = newWord(site);
    await createApiTokens(base.database).create(
      {
        id,
        name: 'machine',
        scopes: ['incidents', 'read'],
        page: key,
        createdAt: now(),
        expiresAt: null,
        revokedAt: null,
      },
      tokenHash(token),
    );
    posts.apiTokens.push({ ...of, token });
    posts.authors.set(id, of.era);
  } else {
    const gate = site.seen.get(slug)?.gate ?? '';
    if (gate !== 'public' && !gate.startsWith('email:')) return null;
    const email = `${newWord(site)}@${gate === 'public' ? 'c.example' : (gate.slice(6).split(',')[0] ?? '')}`;
    const id = await storeSubscriber({ ...base, now: now() }, key, email);
    const [confirm, manage] = [linkToken(base.key, 'confirm', id), linkToken(base.key, 'manage', id)];
    posts.subscriptions.push({ ...of, email, confirm, manage });
  }
  return `${kind} of ${of.era}`;
}

/** Whether somebody may read the word of a post; null: it is none. */
export function mayReadPost(
  posts: Posts,
  word: string,
  { seen, reader }: { readonly seen: Seen; readonly reader: Reader | null },
): boolean | null {
  if (posts.lost.has(word)) return true;
  const post = posts.written.get(word);
  if (post === undefined) return null;
  const slugs = [...posts.eras.keys()].filter((slug) => isOf(posts, post.era, slug));
  return slugs.some((slug) => {
    const gate = seen.get(slug)?.gate;
    if (gate === 'public' && !post.isPrivate) return true;
    if (gate === 'public' && reader?.isAuthor !== true) return false;
    return isOpenTo(entering(posts, reader, slug), slug, gate);
  });
}
