/** `pharos pages`: lists pages, and moves the data of a removed page to another. */

import { now, sleep } from '../../app/clock.ts';
import { sitePageLog } from '../../app/transparency/log-keys.ts';
import { StatusError } from '../../errors.ts';
import { type PageKey, readPageKey } from '../../model/slugs.ts';
import { toIso } from '../../model/time.ts';
import { letGo } from '../../publish/releases/clean.ts';
import { DISK } from '../../publish/releases/disk.ts';
import { publishedSlugs, SITE_SLUG } from '../../publish/releases/folders.ts';
import { rollbackTo } from '../../publish/releases/rollback.ts';
import { counted } from '../../schema/counted.ts';
import type { Database } from '../../store/database.ts';
import { adoptPage, readPages, type StoredPage } from '../../store/pages.ts';
import {
  noteCommand,
  type Options,
  openQuietly,
  openToRead,
  print,
  requireConfig,
  slugsOf,
  unknownName,
} from '../common.ts';
import { UsageError } from '../terminal/exit.ts';
import { table } from '../terminal/table.ts';

/** `pharos pages list`: all current and former pages, with their stored data. */
export async function pagesList(options: Options): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const { database } = pharos.store;
  const counts = await keptCounts(database);
  const pages = (await readPages(database, 'all')).map(({ key, slug, origin, access, beganAt, endedAt }) => ({
    key,
    page: endedAt === null ? slug : null,
    origin: origin === '' ? null : origin,
    access: access === '' ? null : access,
    beganAt: beganAt === 0 ? null : toIso(beganAt),
    endedAt: endedAt === null ? null : toIso(endedAt),
    ...(counts.get(key) ?? NOTHING),
  }));
  const rows = pages.map((one) => [
    one.key,
    one.page === null ? `hidden since ${one.endedAt}` : `/${one.page}/`,
    one.origin ?? 'not known',
    kept(one),
  ]);
  const text = rows.length === 0 ? 'No pages yet.' : table(['key', 'shown at', 'defined by', 'kept'], rows);
  return print(options, { pages }, text);
}

/** `pharos pages adopt OLD NEW`. */
export async function pagesAdopt(old: string, slug: string, options: Options): Promise<number> {
  await using pharos = await openQuietly(requireConfig(options.config));
  const { database } = pharos.store;
  const pages = await readPages(database, 'all');
  const former = findFormer(pages, old);
  const outcome = await adoptPage(database, { old: former, slug, now: now() });
  const current = pages.filter(({ endedAt }) => endedAt === null).map((page) => page.slug);
  if (outcome === 'unknown') throw unknownName('page', slug, current);
  if (outcome === 'in use')
    throw new UsageError(`${former} is shown now. Remove its page from the configuration or its upstream first.`);
  noteCommand(pharos, 'page-adopt', slug, former);
  const words = kept((await keptCounts(database)).get(former) ?? NOTHING);
  const text = `The page ${slug} is ${former} now, with ${words}. What it had until now is hidden; \`pharos pages list\` names it.`;
  return print(options, { page: slug, key: former }, text);
}

/** Finds a former page by its key, or by the slug that it had last. */
function findFormer(pages: readonly StoredPage[], name: string): PageKey {
  const hidden = pages.filter(({ endedAt }) => endedAt !== null);
  const found =
    pages.find(({ key }) => key === name) ??
    hidden.findLast(({ key, slug }) => [slug, readPageKey(key).slug].includes(name));
  if (found !== undefined) return found.key;
  const keys = hidden.map(({ key }) => key);
  throw unknownName('hidden page', name, keys);
}

/** Kinds of data that can be stored for a page. */
const KEPT = ['posts', 'tokens', 'subscribers', 'components'] as const;
type Kept = Readonly<Record<(typeof KEPT)[number], number>>;

const NOTHING: Kept = { posts: 0, tokens: 0, subscribers: 0, components: 0 };

async function keptCounts(database: Database): Promise<ReadonlyMap<string, Kept>> {
  const rows = await database.all(
    `SELECT page, kind, COUNT(*) AS count FROM (
       SELECT page, 'posts' AS kind FROM written WHERE deleted_at IS NULL
       UNION ALL SELECT page, 'tokens' FROM api_token WHERE revoked_at IS NULL
       UNION ALL SELECT page, 'tokens' FROM access_badge_token
       UNION ALL SELECT page, 'subscribers' FROM subscriber
       UNION ALL SELECT page, 'components' FROM component
     ) AS kept GROUP BY page, kind`,
  );
  const pages = Map.groupBy(rows, ({ page }) => String(page));
  const countsOf = (those: typeof rows): Kept => ({
    ...NOTHING,
    ...Object.fromEntries(those.map(({ kind, count }) => [String(kind), Number(count)])),
  });
  return new Map([...pages].map(([page, those]) => [page, countsOf(those)]));
}

function kept(counts: Kept): string {
  return KEPT.map((kind) => counted(counts[kind], kind)).join(', ');
}

/** Serves an earlier release of a page until its next publish, or ends a hold. */
export async function rollback(
  slug: string,
  release: number | undefined,
  options: Options<never, 'hold' | 'release'>,
): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openQuietly(config);
  const slugs = new Set([...slugsOf(await pharos.readSite(now())), ...publishedSlugs(pharos.folders)]);
  const known = [...slugs].filter((name) => name !== SITE_SLUG);
  if (!slugs.has(slug)) throw unknownName('page', slug, known);
  const isHeld = options.hold ?? false;
  if (options.release ?? false) {
    const wasHeld = letGo({ disk: DISK, folders: pharos.folders }, slug);
    if (!wasHeld)
      throw new StatusError({ code: 'NOT_FOUND', message: `The page ${slug} is not on hold.`, context: { slug } });
    noteCommand(pharos, 'release hold', slug, 'published again as usual');
    const text = `${slug} will be published with its next change. To publish it now, run pharos rebuild --page ${slug}.`;
    return print(options, { slug, held: false }, text);
  }
  const {
    number,
    restores = number,
    asOf,
  } = await rollbackTo(
    { database: pharos.store.database, folders: pharos.folders, log: sitePageLog(pharos), now, sleep },
    { slug, release: release ?? null, isHeld },
  );
  noteCommand(pharos, 'rollback', slug, `release ${restores}${isHeld ? ', held' : ''}`);
  const at = new Date(asOf).toISOString();
  return print(
    options,
    { slug, release: restores, asOf: at, held: isHeld },
    `Release ${restores} of ${slug}, as of ${at}, is served until ${isHeld ? `you end the hold: pharos rollback ${slug} --release` : 'the page changes, or for up to 15 minutes'}.`,
  );
}
