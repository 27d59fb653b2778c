/** Commands to manage subscribers, also while the server runs. */

import { readFileSync } from 'node:fs';
import { systemRandom } from '../../access/digest.ts';
import { buildServe } from '../../app/build-serve.ts';
import type { StoreParts } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { fileReason } from '../../errors.ts';
import { parseEmailAddress } from '../../mail/mail.ts';
import type { PageKey } from '../../model/slugs.ts';
import { toIso } from '../../model/time.ts';
import {
  addSubscribers,
  createAddressSeal,
  gateVersion,
  listSubscribers,
  readSubscriberList,
  removeAddress,
  subscriberCsv,
} from '../../notify/subscribers.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import { counted } from '../../schema/counted.ts';
import { pageNames } from '../../store/pages.ts';
import {
  noteCommand,
  type Options,
  openQuietly,
  openToRead,
  print,
  requireConfig,
  requireKey,
  requirePage,
  unknownName,
} from '../common.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { table } from '../terminal/table.ts';

type AddOptions = Options<never, 'confirmed'> & { page: string; component?: readonly string[] };

/** `pharos subscribers list`. */
export async function subscribersList(options: Options<'page'>): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const { database, seal } = listDeps(pharos);
  const listed = await listSubscribers(database, seal, await findKey(pharos, options.page));
  const nameOf = await pageNames(database);
  const subscribers = listed.map(({ page, address, state, components, createdAt }) => ({
    ...{ page: nameOf(page), email: address, state, components },
    createdAt: toIso(createdAt),
  }));
  const rows = subscribers.map(({ page, email, state, components, createdAt }) => [
    ...[page, email ?? '(encrypted with another key)', state],
    ...[components.join(' ') || 'all', createdAt],
  ]);
  const text = rows.length === 0 ? 'No subscribers.' : table(['page', 'email', 'state', 'components', 'since'], rows);
  return print(options, { subscribers }, text);
}

/** `pharos subscribers export`: CSV on standard output. */
export async function subscribersExport(options: Options<'page'>): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const { database, seal } = listDeps(pharos);
  const listed = await listSubscribers(database, seal, await findKey(pharos, options.page));
  process.stdout.write(subscriberCsv(listed, await pageNames(database)));
  return EXIT_DONE;
}

/** `pharos subscribers add ADDRESS --page SLUG`. */
export async function subscribersAdd(typed: string, options: AddOptions): Promise<number> {
  const email = parseEmailAddress(typed);
  if (email === null) throw new UsageError(`${typed} is not an email address.`);
  await using pharos = await openQuietly(requireConfig(options.config));
  const page = await findPage(pharos, options.page);
  const { ids, unknown } = componentIds(page, options.component ?? []);
  const known = page.definition.components.map(({ id }) => id);
  if (unknown[0] !== undefined) throw unknownName(`component of ${options.page}`, unknown[0], known);
  const isConfirmed = options.confirmed === true;
  const gate = await currentGate(pharos, options.page);
  const one = { page: page.identity.key, email, components: ids, gate, isConfirmed };
  const added = await addSubscribers(listDeps(pharos), [one]);
  noteChange(pharos, 'subscriber-add', options.page, added);
  const done = isConfirmed
    ? 'Subscribed.'
    : 'Added. The server sends a confirmation link, and nothing else until it is used.';
  const text = added === 0 ? 'This address is already subscribed, or has been sent a confirmation link.' : done;
  return print(options, { page: options.page, added, confirmed: isConfirmed }, text);
}

/** `pharos subscribers remove ADDRESS`. */
export async function subscribersRemove(typed: string, options: Options<'page'>): Promise<number> {
  await using pharos = await openQuietly(requireConfig(options.config));
  const removed = await removeAddress(listDeps(pharos), typed, await findKey(pharos, options.page));
  noteChange(pharos, 'subscriber-remove', options.page ?? null, removed);
  const text =
    removed === 0 ? 'This address is not subscribed.' : `Unsubscribed from ${counted(removed, 'pages')} and deleted.`;
  return print(options, { removed }, text, removed > 0);
}

/** `pharos subscribers import FILE --page SLUG`. */
export async function subscribersImport(file: string, options: AddOptions): Promise<number> {
  const { rows, problems } = readSubscriberList(readList(file));
  await using pharos = await openQuietly(requireConfig(options.config));
  const page = await findPage(pharos, options.page);
  const gate = await currentGate(pharos, options.page);
  const isConfirmed = options.confirmed === true;
  const allProblems = [...problems];
  const others = page.settings.languages?.all.slice(1);
  const brought = rows.flatMap(({ email, components, locale: wanted }) => {
    const { ids, unknown } = componentIds(page, components);
    if (unknown.length > 0) allProblems.push(`${email.address}: there is no component ${unknown.join(', ')}`);
    // Someone who chose only components that don't exist here isn't added: they didn't ask for the whole page.
    if (components.length > 0 && ids.length === 0) return [];
    const locale = others?.find((tag) => tag === wanted);
    return [{ page: page.identity.key, email, components: ids, gate, locale, isConfirmed }];
  });
  const added = await addSubscribers(listDeps(pharos), brought);
  noteChange(pharos, 'subscriber-import', options.page, added);
  const known = brought.length - added;
  const text = [
    `${added} added${isConfirmed ? '' : ' and sent a confirmation link'}; ${known} already existed.`,
    ...allProblems.map((problem) => `skipped or changed: ${problem}`),
  ].join('\n');
  const result = { page: options.page, added, known, confirmed: isConfirmed, problems: allProblems };
  return print(options, result, text, added + known > 0 || allProblems.length === 0);
}

function listDeps(pharos: StoreParts) {
  const seal = createAddressSeal(pharos.key, systemRandom);
  return { database: pharos.store.database, seal, random: systemRandom, now: now() };
}

/** The page key of subscribers; null: all pages. */
async function findKey(pharos: StoreParts, slug: string | undefined): Promise<PageKey | null> {
  return slug === undefined ? null : requireKey(pharos, slug);
}

async function findPage(pharos: StoreParts, slug: string): Promise<ResolvedPage> {
  const page = await requirePage(pharos, slug);
  if (!page.settings.subscriptions)
    throw new UsageError(`Subscriptions are off for the page ${slug}. Set subscriptions: true in the configuration.`);
  return page;
}

async function currentGate(pharos: StoreParts, slug: string): Promise<string> {
  const { access, keeper } = buildServe(pharos, false, false);
  await keeper.refresh(now());
  return gateVersion(access.pageOf(slug));
}

/** Finds components by id or name. */
function componentIds({ definition }: ResolvedPage, wanted: readonly string[]) {
  const idOf = (name: string): string | undefined =>
    definition.components.find((one) => one.id === name || one.name?.toLowerCase() === name.toLowerCase())?.id;
  return {
    ids: [...new Set(wanted.flatMap((name) => idOf(name) ?? []))],
    unknown: wanted.filter((name) => idOf(name) === undefined),
  };
}

function readList(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(`Can’t read ${file}: ${fileReason(error)}.`);
  }
}

/** Records how many, never who. */
function noteChange(pharos: StoreParts, action: string, page: string | null, count: number): void {
  if (count > 0) noteCommand(pharos, action, page, `${count}`);
}
