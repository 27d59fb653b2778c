/** What commands share: their options, their configuration and their output. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { buildStore, openOrClose, type StoreParts } from '../app/build-store.ts';
import { now } from '../app/clock.ts';
import { createLog } from '../app/log.ts';
import { copyStore, schemaAt, storePlace } from '../app/open-store.ts';
import { shortened } from '../app/run/outcome.ts';
import { type Config, findConfig, parseConfig } from '../config/load.ts';
import type { PageKey } from '../model/slugs.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { SiteState } from '../publish/definitions/site-state.ts';
import { didYouMean } from '../schema/nearest.ts';
import { latestVersion } from '../store/migrations.ts';
import { keyOfSlug, pageNames } from '../store/pages.ts';
import { CONNECTORS } from '../sync/connectors/index.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from './terminal/exit.ts';

/** The options of a command: texts and switches that may be missing, besides those that most commands have. */
export type Options<Text extends string = never, Switch extends string = never> = {
  readonly [name in Text | 'config']?: string;
} & { readonly [name in Switch | 'json' | 'quiet']?: boolean };

/** Loads the configuration of a command; null if none was given and there is no pharos.yaml here. */
export function loadConfig(named: string | undefined): Config | null {
  const source = findConfig(named, process.cwd());
  return source === null ? null : parseConfig(source, CONNECTORS, process.env);
}

/** Loads the configuration of a command that needs one. */
export function requireConfig(named: string | undefined): Config {
  const config = loadConfig(named);
  if (config !== null) return config;
  throw new UsageError(
    'No pharos.yaml in this folder. Use --config FILE, create one with `pharos init`, or try the sandbox with `pharos start`.',
  );
}

/** Opens the store for a command that doesn't publish. A damaged database stays where it is. `await using` closes it. */
export async function openQuietly(config: Config): Promise<StoreParts> {
  const log = createLog({ isQuiet: true, secrets: config.secrets });
  return buildStore(config, { log, replacesDamaged: false });
}

/** Opens the store for a command that only reads. If the database has an older version, a copy of it is read. */
export async function openToRead(config: Config): Promise<StoreParts> {
  const place = storePlace(config);
  const schema = await schemaAt(place);
  if (schema === 0 || schema >= latestVersion()) return openQuietly(config);
  process.stderr.write(
    `The database has schema version ${schema}, and this Pharos uses version ${latestVersion()}. Reading an upgraded copy; the database itself is not changed.\n`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'pharos-read-'));
  const closing = new AsyncDisposableStack();
  closing.defer(() => rmSync(folder, { recursive: true, force: true }));
  return openOrClose(closing, async () => {
    const file = join(folder, 'pharos.db');
    await copyStore(place, file);
    const log = createLog({ isQuiet: true, secrets: config.secrets });
    return buildStore(config, { log, closing, onOlder: 'migrate', place: { file } });
  });
}

/** The error for an unknown name, with a suggestion and the known names. */
export function unknownName(what: string, name: string, known: readonly string[]): UsageError {
  const others = known.length === 0 ? 'There is none.' : `Use one of: ${shortened(known)}.`;
  return new UsageError(`There is no ${what} "${name}".${didYouMean(name, known)} ${others}`);
}

/** Finds an upstream of the configuration by its id. @throws UsageError if there is none */
export function requireUpstream({ upstreams }: Config, id: string): Config['upstreams'][number] {
  const found = upstreams.find((upstream) => upstream.id === id);
  if (found !== undefined) return found;
  const ids = upstreams.map((upstream) => upstream.id);
  throw unknownName('upstream', id, ids);
}

/** Finds a page by its slug. @throws UsageError if there is none */
export async function requirePage(pharos: StoreParts, slug: string): Promise<ResolvedPage> {
  const state = await pharos.readSite(now());
  const page = state.resolved.pages.find(({ definition }) => definition.slug === slug);
  if (page === undefined) throw unknownName('page', slug, slugsOf(state));
  return page;
}

/** The key of what is kept for a page. @throws UsageError if there is no page with this slug */
export async function requireKey(pharos: StoreParts, slug: string): Promise<PageKey> {
  const key = await keyOfSlug(pharos.store.database, slug);
  // Not stored until now; it may be configured all the same.
  if ((await pageNames(pharos.store.database))(key) === key) await requirePage(pharos, slug);
  return key;
}

/** Slugs of all pages. */
export function slugsOf({ resolved }: SiteState): readonly string[] {
  return resolved.pages.map(({ definition }) => definition.slug);
}

/** Who runs this command, for the audit log. */
export function commandActor(): string {
  return `command:${userInfo().username}`;
}

/** Records in the audit log what a command did. */
export function noteCommand({ audit }: StoreParts, action: string, subject: string | null, outcome: string): void {
  audit.note({ actor: commandActor(), action, subject, outcome });
}

/** Prints a result as text or as one JSON object, never both. Returns the exit status. */
export function print({ json }: Options, value: unknown, text: string, isOk = true): number {
  process.stdout.write(json === true ? `${JSON.stringify(value)}\n` : `${text}\n`);
  return isOk ? EXIT_DONE : EXIT_FAILED;
}
