/** The data imported from another status page: components, groups, and everything written on it, as posts. */

import type { z } from 'zod';
import { isStatusError } from '../errors.ts';
import { toSlug } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import { check, faultText } from '../schema/issue-words.ts';
import type { PostSchema } from '../sync/connectors/markdown/schema.ts';
import type { WrittenFile } from '../sync/connectors/markdown/written.ts';

/** Settings of an import. */
export interface ImportContext {
  /** Slug of the page here. */
  readonly page: string;
  /** Time zone (IANA) for times without an offset. */
  readonly zone: string;
  readonly now: EpochMs;
  /** Whether Pharos should run the checks itself, so that the other program is no longer needed. */
  readonly makesChecks?: boolean;
}

/** What turning an item of the source into posts needs. */
export interface Importing extends ImportContext {
  /** Ids of components by their keys at the source. */
  readonly ids: ReadonlyMap<string, string>;
  readonly notes: ImportNote[];
}

export interface ImportedSite {
  /** Null: it has none. */
  readonly title: string | null;
  readonly description: string | null;
  /** Settings of the page by their key in the configuration. */
  readonly settings?: Readonly<Record<string, string | boolean>> | undefined;
  /** In the order of the page. */
  readonly groups: readonly ImportedGroup[];
  readonly components: readonly ImportedComponent[];
  /** The upstream of its components, as an entry of `upstreams`; null: there is none that Pharos can query. */
  readonly upstream: (Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string }) | null;
  readonly posts: readonly ImportedPost[];
  /** Redirects for everything that isn't a post, below the page. */
  readonly redirects: Readonly<Record<string, string>>;
  readonly notes: readonly ImportNote[];
}

interface ImportedGroup {
  readonly id: string;
  readonly name: string;
  /** Undefined: not given. */
  readonly defaultOpen?: boolean;
}

interface ImportedComponent {
  /** Unique on the page. */
  readonly id: string;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly groupId?: string | null;
  /** `<upstream id>/<external id>`; null or absent: not monitored. */
  readonly monitor?: string | null;
}

export interface ImportedPost extends Partial<Pick<WrittenFile, 'opening' | 'updates'>> {
  /** File name without extension, the same at every import. */
  readonly name: string;
  readonly post: z.input<typeof PostSchema>;
  /** Its former addresses, below the page. */
  readonly addresses?: readonly string[];
}

/** A difference to the original. `dropped`: something is missing. `changed`: something has another form. */
export interface ImportNote {
  readonly kind: 'dropped' | 'changed';
  /** What it is about: a file, or an item with its id. */
  readonly place: string;
  readonly message: string;
}

/** Notes that something is missing. Returns nothing in its place. */
export function drop(notes: ImportNote[], place: string, message: string): never[] {
  notes.push({ kind: 'dropped', place, message });
  return [];
}

/** Notes that something has another form. */
export function change(notes: ImportNote[], place: string, message: string): void {
  notes.push({ kind: 'changed', place, message });
}

/** Parses an item of the source; null if it can't be read, which is noted. */
export function readItem<T>(schema: z.ZodType<T>, item: unknown, place: string, notes: ImportNote[]): T | null {
  const parsed = check(schema, item);
  if (parsed.success) return parsed.data;
  drop(notes, place, faultText(parsed.faults[0]));
  return null;
}

/** The entry of a table for a foreign word; undefined if there is none. */
export function entryFor<T>(table: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;
}

/** What a post is about: components of the page, by their ids, and the page itself. */
export function aboutPage({ page }: ImportContext, ids: Iterable<string>) {
  return { components: [...ids].map((id) => `${page}/${id}`), pages: [page] };
}

/** Requests the JSON at a path. @throws a StatusError */
export type Ask = (path: string) => Promise<unknown>;

/** The same for optional answers: null on failure, which is noted. */
export async function askOptional(ask: Ask, path: string, notes: ImportNote[], place = path): Promise<unknown> {
  try {
    return await ask(path);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    drop(notes, place, error.message);
    return null;
  }
}

/** The same for an answer of this shape. @returns a text why there is none; `otherwise` if it has another shape */
export async function askShaped<T extends object>(ask: Ask, path: string, schema: z.ZodType<T>, otherwise: string) {
  try {
    return schema.safeParse(await ask(path)).data ?? otherwise;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.message;
  }
}

/** A file below the given folder: `content/issues/2024-api.md`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Queries another program's database. */
export type Select = (
  sql: string,
  parameters?: readonly (string | number | null)[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

// Reports keys of a source that an import doesn't read, so that nothing is lost silently.

/**
 * Paths of keys (`params.brand`, `sites[].icon`) by the reason why they are not imported. Those below the empty reason
 * aren't reported, because they have no effect on a page. `unread-keys.json` has them for each source.
 */
type Reasons = Readonly<Record<string, readonly string[]>>;

const UNKNOWN_KEY = 'the import doesn’t know this key';

/**
 * Creates a note for each reason, with the paths of keys that `schema` doesn't contain. A path of `reasons` covers
 * everything below it.
 */
export function unreadKeys(place: string, document: unknown, schema: z.ZodType, reasons: Reasons): ImportNote[] {
  const paths = new Set<string>();
  collectUnread(document, schema, '', paths);
  const known = new Map(Object.entries(reasons).flatMap(([reason, keys]) => keys.map((key) => [key, reason])));
  const reported = [...paths].flatMap((path) => {
    const reason = known.get(path) ?? UNKNOWN_KEY;
    return reason === '' ? [] : [{ path: toLine(path, 100) ?? '?', reason }];
  });
  return [...Map.groupBy(reported, ({ reason }) => reason)].map(([message, keys]) => {
    return { kind: 'dropped', place: `${place}: ${keys.map(({ path }) => path).join(', ')}`, message };
  });
}

function collectUnread(value: unknown, schema: z.ZodType, path: string, unread: Set<string>): void {
  const inner = unwrap(schema).def as { type: string; element?: z.ZodType; shape?: Record<string, z.ZodType> };
  if (Array.isArray(value) && inner.element !== undefined) {
    for (const item of value) collectUnread(item, inner.element, path === '' ? '' : `${path}[]`, unread);
    return;
  }
  if (inner.shape === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    const known = Object.hasOwn(inner.shape, key) ? inner.shape[key] : undefined;
    if (known === undefined) unread.add(at);
    else collectUnread(item, known, at, unread);
  }
}

/** The innermost schema, without defaults, transforms and optionality. */
function unwrap(schema: z.ZodType): z.ZodType {
  const { innerType, in: input } = schema.def as unknown as { innerType?: z.ZodType; in?: z.ZodType };
  const next = innerType ?? input;
  return next === undefined ? schema : unwrap(next);
}

// Turns foreign names into our ids and titles.

const TITLE_CHARS_MAX = 256;

/**
 * Creates unique ids from names. If a name gives no id, or one already taken, the source's key is appended, so that ids
 * don't depend on the order of the list.
 */
export function createIds(kind: string): (name: string, key: string) => string {
  const taken = new Set<string>();
  return (name, key) => {
    const plain = toSlug(name);
    const tail = toSlug(key).slice(0, 12);
    const base = [plain === '' ? kind : plain, tail].filter(Boolean).join('-');
    let id = plain === '' || taken.has(plain) ? base : plain;
    for (let number = 2; taken.has(id); number += 1) id = `${base}-${number}`;
    taken.add(id);
    return id;
  };
}

/** A group or a component by its key at the source. */
interface Keyed {
  readonly key: string;
  readonly name: string;
}

/** Groups and components with ids from their names, and the ids of components by their keys. */
export function layOut(
  groups: readonly (Keyed & Omit<ImportedGroup, 'id'>)[],
  components: readonly (Keyed &
    Omit<ImportedComponent, 'id' | 'groupId'> & { readonly group?: string | null | undefined })[],
) {
  const groupId = createIds('group');
  const componentId = createIds('component');
  const placed = groups.map((group) => ({ ...group, id: groupId(group.name, group.key) }));
  const given = components.map((component) => ({ ...component, id: componentId(component.name, component.key) }));
  return {
    groups: placed.map(({ key: _, ...group }): ImportedGroup => group),
    components: given.map(({ key: _, group, ...component }): ImportedComponent => {
      return { ...component, groupId: placed.find(({ key }) => key === group)?.id ?? null };
    }),
    ids: new Map(given.map(({ key, id }) => [key, id])),
  };
}

/** A clean title; null if nothing is left. */
export function toTitle(text: string): string | null {
  return toLine(text, TITLE_CHARS_MAX);
}

/** A text cut to one line of at most `max` characters; null if nothing is left. */
export function toLine(text: string, max: number): string | null {
  const line = oneLine(text).slice(0, max).trim();
  return line === '' ? null : line;
}

/** The length of a text as one line. */
export function lineLength(text: string): number {
  return oneLine(text).length;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}

/** A foreign value for a message: short, without control characters. */
export function quoted(value: unknown): string {
  const line = (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')).replaceAll(
    /[\p{Cc}\p{Cf}]+/gu,
    ' ',
  );
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
}
