/** Commands for the database, published pages, and what is kept for removed ones. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { now, sleep } from '../../app/clock.ts';
import { createLog } from '../../app/log.ts';
import { openStore, readStore, type StorePlace, schemaAt, storePlace } from '../../app/open-store.ts';
import { sitePageLog } from '../../app/transparency.ts';
import { isStatusError, StatusError } from '../../errors.ts';
import { type PageKey, readPageKey } from '../../model/slugs.ts';
import { DAY_MS, toEpochMs, toIso } from '../../model/time.ts';
import { DISK } from '../../publish/releases/disk.ts';
import { publishedSlugs, SITE_SLUG } from '../../publish/releases/folders.ts';
import { rollbackTo } from '../../publish/releases/rollback.ts';
import { letGo } from '../../publish/releases/switch.ts';
import { counted } from '../../schema/counted.ts';
import { createAudit } from '../../store/audit.ts';
import { copyTables } from '../../store/copy.ts';
import type { Database } from '../../store/database.ts';
import { latestVersion, outdated } from '../../store/migrations.ts';
import { adoptPage, readPages, type StoredPage } from '../../store/pages.ts';
import { copySqlite } from '../../store/sqlite/sqlite.ts';
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
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';

/** Upgrades the database after making a copy, like `pharos start`. */
export async function storeMigrate(options: Options): Promise<number> {
  const config = requireConfig(options.config);
  const place = storePlace(config);
  const before = await versionBefore(place);
  let copy: string | null = null;
  using progress = createProgress(options.json ?? false);
  progress.doing('upgrading the database');
  const database = await openStore(place, {
    log: createLog({ isQuiet: true, secrets: config.secrets }),
    now: now(),
    isLasting: false,
    onOlder: 'migrate',
    folder: config.data,
    onCopy: (path) => {
      copy = path;
    },
  });
  await database.close();
  progress.end();
  const after = latestVersion();
  const done =
    before === 0
      ? `Created a new database with version ${after}.`
      : `Upgraded the database from version ${before} to ${after}.`;
  const kept = copy === null ? '' : `\nCopy from before the upgrade: ${copy}`;
  const text = before === after ? `The database already has version ${after}.` : done + kept;
  return print(options, { before, after, copy }, text);
}

/** Replaces a damaged database like `pharos start`, because unattended builds run this first. */
async function versionBefore(place: StorePlace): Promise<number> {
  try {
    return await schemaAt(place);
  } catch (error) {
    if (isStatusError(error) && error.code === 'STORE_CORRUPT') return 0;
    throw error;
  }
}

/** Copies all data into the database of another configuration, `to`, and compares the counts. */
export async function storeCopy(options: Options & { readonly to: string }): Promise<number> {
  const from = requireConfig(options.config);
  const to = requireConfig(options.to);
  const [source, target] = [storePlace(from), storePlace(to)];
  if (describePlace(source) === describePlace(target))
    throw new UsageError(`Both configurations name the same database, ${placeName(source)}. Nothing was copied.`);
  const schema = await schemaAt(source);
  if (schema === 0) throw new UsageError(`There is no database at ${placeName(source)} yet.`);
  if (schema < latestVersion()) throw outdated(schema);
  const database = await openStore(target, {
    log: createLog({ isQuiet: true, secrets: new Set([...from.secrets, ...to.secrets]) }),
    now: now(),
    isLasting: false,
    onOlder: 'refuse',
    folder: to.data,
  });
  using progress = createProgress(options.json ?? false);
  try {
    const copied = await readStore(source, (tables, version) =>
      copyTables(tables, database, version, (done, count) => progress.doing(`copied ${done} of ${count} tables`)),
    );
    progress.end();
    const total = copied.reduce((sum, { rows }) => sum + rows, 0);
    const lines = table(
      ['table', 'rows'],
      copied.filter(({ rows }) => rows > 0).map((row) => [row.table, String(row.rows)]),
    );
    const sentence = `${total} rows copied from ${placeName(source)} to ${placeName(target)}; the counts match. Next: start Pharos with ${options.to}.`;
    return print(options, { rows: total, tables: copied }, `${lines}\n\n${sentence}`);
  } finally {
    await database.close();
  }
}

function describePlace(place: StorePlace): string {
  return 'file' in place ? resolve(place.file) : place.url;
}

/** The place in words, without passwords. */
function placeName(place: StorePlace): string {
  if ('file' in place) return place.file;
  const { host, pathname } = new URL(place.url);
  return `Postgres at ${host}${pathname}`;
}

/** Writes a consistent copy of the database, also while the server runs. */
export async function backup(file: string, options: Options): Promise<number> {
  const config = requireConfig(options.config);
  if (config.store !== undefined) {
    throw new UsageError(
      'The database is on a Postgres server: copy it with pg_dump --format=custom --file=FILE "$DATABASE_URL" (docs/postgres.md).',
    );
  }
  const target = resolve(file);
  if (existsSync(target))
    throw new UsageError(`${target} already exists. Choose another file; backups never overwrite one.`);
  const source = join(config.data, 'pharos.db');
  if (!existsSync(source))
    throw new UsageError(
      `There is no database at ${source} yet. It is created by the first \`pharos start\`, sync or build.`,
    );
  using progress = createProgress(false);
  await copySqlite(source, target, (done, total) =>
    progress.doing(`copied ${Math.floor((100 * done) / Math.max(1, total))}%`),
  );
  progress.end();
  process.stdout.write(`${target}\n`);
  return EXIT_DONE;
}

/** Prints who triggered what, when, from where and with which result; sign-ins as totals. */
export async function audit(options: Options & { limit: number; days: number }): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openToRead(config);
  const kept = createAudit(pharos.store.database);
  const entries = await kept.entries(options.limit);
  const signIns = await kept.signIns(toEpochMs(now() - (options.days - 1) * DAY_MS));
  const rows = entries.map(({ at, actor, action, subject, client, outcome }) => [
    toIso(at),
    actor,
    subject === null ? action : `${action} ${subject}`,
    client ?? 'this machine',
    outcome ?? 'in progress',
  ]);
  const counts = signIns.map(({ day, page, result, count }) => [day, page || '(no such page)', result, String(count)]);
  const text = [
    rows.length === 0 ? 'No entries yet.' : table(['when', 'who', 'what', 'from', 'result'], rows),
    ...(counts.length === 0 ? [] : ['', table(['day', 'page', 'sign-ins', 'count'], counts)]),
  ].join('\n');
  return print(options, { entries: entries.map((entry) => ({ ...entry, at: toIso(entry.at) })), signIns }, text);
}

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
export async function rollback(slug: string, release: number | undefined, options: Options<never, 'hold' | 'release'>) {
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
