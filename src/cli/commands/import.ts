/** `pharos import`: turns another status page into posts, a page and redirects. */

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'yaml';
import type { z } from 'zod';
import { now } from '../../app/clock.ts';
import { fileReason, isStatusError, messageOf } from '../../errors.ts';
import { cstateSite } from '../../imports/cstate/site.ts';
import { importFiles } from '../../imports/files.ts';
import { type GatusPart, gatusConfig } from '../../imports/gatus/config.ts';
import { gatusFromApi, gatusFromDatabase, gatusSite } from '../../imports/gatus/site.ts';
import {
  type Ask,
  type ImportContext,
  type ImportedSite,
  quoted,
  type Select,
  type SourceFile,
} from '../../imports/site.ts';
import { readStatuspage, statuspageSite } from '../../imports/statuspage/site.ts';
import { issuesFromFile, readIssues, upptimeConfig, upptimeSite } from '../../imports/upptime/site.ts';
import { kumaFromApi, kumaFromDatabase, NoKumaPageError } from '../../imports/uptime-kuma/read.ts';
import { kumaSite } from '../../imports/uptime-kuma/site.ts';
import { toSlug } from '../../model/slugs.ts';
import { MINUTE_MS, SECOND_MS } from '../../model/time.ts';
import { proxySettings } from '../../network/proxy.ts';
import { counted } from '../../schema/counted.ts';
import { check } from '../../schema/issue-words.ts';
import { IdSchema, SlugSchema, TimezoneSchema } from '../../schema/scalars.ts';
import { openSqliteReader } from '../../store/sqlite/sqlite.ts';
import { createHttp } from '../../sync/http/http.ts';
import { parseJson } from '../../sync/http/json.ts';
import { type Options, print } from '../common.ts';
import { UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { paragraph } from '../terminal/table.ts';

type ImportOptions = Options<'issues' | 'statusPage', 'checks' | 'update'> &
  Readonly<Record<'out' | 'upstream' | 'page' | 'timezone', string>>;

/** Imports from a page's address, or from documents of its API. */
export async function importStatuspage(places: readonly string[], options: ImportOptions): Promise<number> {
  const context = parseContext(options);
  const read = await Promise.all(
    places.map(async (place) =>
      isAddress(place)
        ? withAddress(place, options, readStatuspage)
        : { documents: [{ name: basename(place), value: readJson(place) }], notes: [] },
    ),
  );
  const documents = read.flatMap((one) => one.documents);
  const site = statuspageSite(documents, context);
  const notes = [...read.flatMap((one) => one.notes), ...site.notes];
  return writeImport({ ...site, notes }, context, options);
}

/** Imports from the folder of a site. */
export async function importCstate(folder: string, options: ImportOptions): Promise<number> {
  const context = parseContext(options);
  const files = listFiles(folder, (path) => /^(?:content\/.*\.(?:md|markdown|html)|(?:config|hugo)\.\w+)$/.test(path));
  if (!files.some(({ path }) => path.startsWith('content/')))
    throw new UsageError(
      `${folder} has no content folder. Pass the folder of the cState site, which contains config.yml.`,
    );
  return writeImport(cstateSite(files, context), context, options);
}

const GITHUB_API = 'https://api.github.com';

/** Imports from the folder of a repository, and its issues. */
export async function importUpptime(folder: string, options: ImportOptions): Promise<number> {
  const context = parseContext(options);
  const files = listFiles(folder, (path) => /^(?:\.upptimerc\.ya?ml|history\/summary\.json)$/.test(path));
  if (files.length === 0)
    throw new UsageError(
      `${folder} has neither .upptimerc.yml nor history/summary.json. Pass the folder of the Upptime repository.`,
    );
  const config = upptimeConfig(files);
  const { owner, repo } = config ?? {};
  if (options.issues === undefined && (owner == null || repo == null))
    throw new UsageError(
      `.upptimerc.yml in ${folder} has no owner and repo, so Pharos can’t request its issues. Pass a file of issues with --issues.`,
    );
  const issues =
    options.issues === undefined
      ? await withAddress(config?.['status-website']?.apiBaseUrl ?? GITHUB_API, options, (ask) =>
          readIssues(ask, { owner: owner ?? '', repo: repo ?? '' }),
        )
      : issuesFromFile(readJson(options.issues));
  return writeImport(upptimeSite(files, issues, context), context, options);
}

/** Imports from the address of a status page, or from a database. */
export async function importUptimeKuma(place: string, options: ImportOptions): Promise<number> {
  const context = parseContext(options);
  try {
    const page = isAddress(place) ? await askKuma(place, options) : await readKumaFile(place, options);
    return writeImport(kumaSite(page, context), context, options);
  } catch (error) {
    if (error instanceof NoKumaPageError) throw new UsageError(`${place}: ${error.message}.`);
    throw error;
  }
}

function askKuma(place: string, options: ImportOptions): ReturnType<typeof kumaFromApi> {
  if (options.checks === true)
    throw new UsageError(
      `${place} doesn’t say how Uptime Kuma checks. With --checks, pass kuma.db from its data folder instead.`,
    );
  const [, base = place, inPath] = /^(.*?)\/status\/([^/?#]+)\/?$/.exec(place) ?? [];
  const slug = options.statusPage ?? inPath;
  if (slug === undefined)
    throw new UsageError(
      `${place} is not the address of a status page. Pass one such as ${base.replace(/\/$/, '')}/status/default.`,
    );
  const url = base.replace(/\/+$/, '');
  return withAddress(url, options, (ask) => kumaFromApi(ask, { url, slug }));
}

function readKumaFile(place: string, { statusPage }: ImportOptions): ReturnType<typeof kumaFromDatabase> {
  if (!isDatabase(place))
    throw new UsageError(
      `${place} is not an SQLite database. Pass kuma.db from the data folder. Backup files (JSON) of version 1 have no status pages. With MariaDB, pass the address of the page.`,
    );
  return withDatabase(place, 'Uptime Kuma', (select) => kumaFromDatabase(select, statusPage));
}

/** Imports from any combination of configurations, a database and an address. */
export async function importGatus(places: readonly string[], options: ImportOptions): Promise<number> {
  const context = parseContext(options);
  const parts: GatusPart[] = [];
  for (const place of places) parts.push(await gatusPart(place, options));
  return writeImport(gatusSite(parts, context), context, options);
}

async function gatusPart(place: string, options: ImportOptions): Promise<GatusPart> {
  if (isAddress(place)) return withAddress(place, options, (ask) => gatusFromApi(ask, place.replace(/\/+$/, '')));
  if (isDatabase(place)) return withDatabase(place, 'Gatus', (select) => gatusFromDatabase(select, basename(place)));
  return gatusConfig(basename(place), readYaml(place));
}

/** Imports aren't urgent, and the other server is busy with its own visitors. */
const PAUSE_MS = 100;
const TRIES_MAX = 4;
const PATIENCE_MAX_MS = 2 * MINUTE_MS;
/** The maximum size of one file; a whole folder may be larger. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

function isAddress(place: string): boolean {
  return /^https?:\/\//i.test(place);
}

/**
 * Gives `use` a function to request paths below an address; shows each request on the terminal, and closes the
 * connections afterwards.
 */
async function withAddress<T>(place: string, { json }: Options, use: (ask: Ask) => Promise<T>): Promise<T> {
  const url = URL.parse(place);
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(`${place} is not a valid address. Pass it without user name, query or fragment.`);
  const base = url.href.replace(/\/+$/, '');
  const http = createHttp({ proxy: proxySettings(process.env) });
  using progress = createProgress(json ?? false);
  let requests = 0;
  const ask: Ask = async (path) => {
    for (let tries = 1; ; tries += 1) {
      if (requests > 0) await wait(PAUSE_MS);
      requests += 1;
      progress.doing(`request ${requests} to ${url.host}`);
      try {
        const { payload } = await http.request({ method: 'GET', url: base + path, headers: {} }, { now });
        return payload;
      } catch (error) {
        const delay = delayAfter(error, tries);
        if (delay === null) throw error;
        progress.did(`${messageOf(error)} Trying again in ${Math.ceil(delay / SECOND_MS)} s.`);
        await wait(delay);
      }
    }
  };
  try {
    return await use(ask);
  } finally {
    await http.close();
  }
}

/** How long to wait before a retry; null: don't retry. */
function delayAfter(error: unknown, tries: number): number | null {
  if (!isStatusError(error) || !error.retryable || tries >= TRIES_MAX) return null;
  const ms = error.retryAt === null ? tries * SECOND_MS : error.retryAt - now();
  return ms > PATIENCE_MAX_MS ? null : Math.max(0, ms);
}

/** Reads a file. @throws UsageError */
function readBytes(place: string): Buffer {
  try {
    const { size } = statSync(place);
    if (size > FILE_BYTES_MAX) throw new UsageError(`${place} is larger than ${FILE_BYTES_MAX / 1024 / 1024} MB.`);
    return readFileSync(place);
  } catch (error) {
    throw unreadable(place, error);
  }
}

/** The error for what can't be read, unless it is one for the user already. */
function unreadable(place: string, error: unknown, remedy = FILE_REMEDY): UsageError {
  return error instanceof UsageError ? error : new UsageError(`Can’t read ${place}: ${fileReason(error)}. ${remedy}`);
}

const FILE_REMEDY = 'Pass an existing file, or an address that starts with https://.';

/** Reads a JSON file. @throws UsageError */
function readJson(place: string): unknown {
  const parsed = parseJson(readBytes(place));
  if (parsed.isValid) return parsed.value;
  throw new UsageError(`${place} ${parsed.reason}.`);
}

/** Reads the text files in a folder and its subfolders whose path is wanted, sorted by path. @throws UsageError */
function listFiles(folder: string, isWanted: (path: string) => boolean): SourceFile[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .filter((path) => isWanted(path))
      .toSorted()
      .map((path) => ({ path, text: readBytes(join(folder, path)).toString('utf8') }));
  } catch (error) {
    throw unreadable(folder, error, 'Pass the folder of the repository, as `git clone` made it.');
  }
}

/** Reads a YAML file. @throws UsageError */
function readYaml(place: string): unknown {
  const text = readBytes(place).toString('utf8');
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`${place} is not YAML: ${messageOf(error).split('\n')[0]}`);
  }
}

const SQLITE_BEGIN = 'SQLite format 3\0';

/** Whether a file is an SQLite database. @throws UsageError if it can't be read */
function isDatabase(place: string): boolean {
  try {
    const file = openSync(place, 'r');
    try {
      const head = Buffer.alloc(SQLITE_BEGIN.length);
      readSync(file, head);
      return head.toString('latin1') === SQLITE_BEGIN;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadable(place, error);
  }
}

/** Reads the database of another program without changing it. @throws UsageError if it isn't that program's database */
async function withDatabase<T>(place: string, program: string, use: (select: Select) => Promise<T>): Promise<T> {
  const refuse = (error: unknown): never => {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error);
    throw new UsageError(
      `Can’t read ${place} as a database of ${program}: ${reason}. If it is in use, stop ${program} before you copy it.`,
    );
  };
  const database = await Promise.try(openSqliteReader, place).catch(refuse);
  try {
    return await use((sql, parameters = []) => database.all(sql, parameters).catch(refuse));
  } finally {
    await database.close();
  }
}

// Writes the result of an import: new posts, the page as a fragment of configuration, and a line for each difference.

/** Checks the options. @throws UsageError */
function parseContext({ page, timezone, upstream, checks }: ImportOptions): ImportContext {
  checked('--page', SlugSchema, page);
  checked('--upstream', IdSchema, upstream);
  return { page, zone: checked('--timezone', TimezoneSchema, timezone), now: now(), makesChecks: checks === true };
}

function checked<T>(option: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = check(schema, value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${option} ${quoted(value)}: ${parsed.faults[0].message}.`);
}

/**
 * Writes the files of an import into a folder. Existing files with other contents stay, because they may have been
 * edited since, unless `--update` is given.
 */
function writeImport(site: ImportedSite, context: ImportContext, options: ImportOptions): number {
  const folder = resolve(options.out);
  const files = importFiles(site, {
    ...context,
    upstreamId: options.upstream,
    folder: `./${relative(process.cwd(), folder)}`,
  });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeOne(join(folder, name), text, options.update === true);
  const posts = files.posts.map(({ name, text }) => write(name, text));
  const page = write(`${toSlug(context.page)}.pages.yaml`, files.fragment);
  const isWhole = files.notes.every(({ kind }) => kind === 'changed');
  const lines = [
    ...[...posts, page].flatMap(describeWritten),
    ...files.notes.map(({ kind, place, message }) =>
      paragraph(`${kind === 'dropped' ? '✗' : '~'} ${plainLine(`${place}: ${message}`)}`, '  '),
    ),
    '',
    `${counted(posts.length, 'posts')}: ${countOutcomes(posts)}.`,
    `Next: copy the contents of ${basename(page.file)} into pharos.yaml, then run \`pharos check\`.`,
  ];
  return print(options, { ok: true, posts, page, notes: files.notes }, lines.join('\n'), isWhole || posts.length > 0);
}

type Written = ReturnType<typeof writeOne>;

function writeOne(file: string, text: string, isUpdating: boolean) {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
  if (before === text) return { file, outcome: 'unchanged' } as const;
  // The file exists with other contents, which stay.
  if (before !== null && !isUpdating) return { file, outcome: 'kept' } as const;
  writeFileSync(file, text, before === null ? { flag: 'wx' } : {});
  return { file, outcome: before === null ? 'new' : 'updated' } as const;
}

function describeWritten({ file, outcome }: Written): string[] {
  if (outcome === 'unchanged') return [];
  const path = relative(process.cwd(), file);
  return [
    outcome === 'kept' ? `= ${path} exists with different text and was kept; --update overwrites it` : `+ ${path}`,
  ];
}

/** Foreign text could contain terminal escape sequences. */
function plainLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

function countOutcomes(posts: readonly Written[]): string {
  const count = (outcome: Written['outcome']): number => posts.filter((one) => one.outcome === outcome).length;
  return [
    `${count('new')} new`,
    `${count('unchanged')} unchanged`,
    ...(count('updated') === 0 ? [] : [`${count('updated')} updated`]),
    ...(count('kept') === 0 ? [] : [`${count('kept')} left unchanged`]),
  ].join(', ');
}
