/**
 * What operators write here instead of into files: the same posts, kept in the store as JSON and read by the same pass. It
 * is bound by itself and stands in no configuration.
 */

import { LRUCache } from 'lru-cache';
import { stringify } from 'yaml';
import { z } from 'zod';
import {
  type Incident,
  isOverStatus,
  type Learned,
  NOTHING_LEARNED,
  type PageOwner,
  WRITTEN_ID,
} from '../../../model/observation.ts';
import { type PageKey, toSlug } from '../../../model/slugs.ts';
import { type EpochMs, earlier, toEpochMs, toIso } from '../../../model/time.ts';
import { ask, type Connector, type Pull, type PullContext } from '../../connector.ts';
import { type Projected, projectRead } from './project.ts';
import {
  type PostFault,
  PostSchema,
  type PostUpdate,
  StoredInstantSchema,
  UPDATE_HEADING,
  UpdateSchema,
} from './schema.ts';

/** A stored post. */
const WrittenPostSchema = z.strictObject({
  post: PostSchema,
  opening: z.string(),
  updates: z.array(UpdateSchema),
  /** For operators only. */
  note: z.string().optional(),
  /** Draft of a postmortem, which isn't shown. */
  postmortem: z.strictObject({ body: z.string(), at: StoredInstantSchema }).optional(),
});

export interface WrittenPost extends Readonly<Omit<z.output<typeof WrittenPostSchema>, 'updates'>> {
  /** Oldest first. */
  readonly updates: readonly PostUpdate[];
}

/** A post as text for the store. */
export function writtenText({ post, opening, updates, note, postmortem }: WrittenPost): string {
  return JSON.stringify({
    post,
    opening,
    note,
    ...(postmortem === undefined ? {} : { postmortem: { ...postmortem, at: toIso(postmortem.at) } }),
    updates: updates.map((update) => ({ ...update, at: toIso(update.at) })),
  });
}

/** Each request reads all posts of a page, and few have changed. The limit is in characters. */
const parsed = new LRUCache<string, WrittenPost>({ maxSize: 1_000_000, sizeCalculation: (_, text) => text.length });

/** Parses a stored post; null if it can't be read. */
export function parseWritten(text: string): WrittenPost | null {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  try {
    const post = WrittenPostSchema.safeParse(JSON.parse(text)).data ?? null;
    if (post !== null) parsed.set(text, post);
    return post;
  } catch {
    return null;
  }
}

const StoredSchema = z.array(
  z.object({
    id: z.string(),
    document: z.string(),
    page: z.string() as unknown as z.ZodType<PageKey>,
    isPrivate: z.boolean(),
  }),
);
interface WrittenOptions {
  /** Whether drafts are included, as in a preview. */
  readonly drafts: boolean;
}

/** Turns rows of the store into observations at `now`. */
export function projectWritten(
  stored: Readonly<z.output<typeof StoredSchema>>,
  { now, drafts }: WrittenOptions & { readonly now: EpochMs },
): Projected {
  const projected = projectRead(
    stored.map(({ id, document }) => {
      const known = parseWritten(document);
      return { name: id, read: known === null ? UNREADABLE : { ...known, name: id } };
    }),
    { upstreamId: WRITTEN_ID, zone: 'UTC', now, hasDrafts: drafts, isOwn: true },
  );
  const owners = new Map(stored.map(({ id, page, isPrivate }) => [`${WRITTEN_ID}/${id}`, { page, isPrivate }]));
  const owned = <Item extends { readonly id: string; readonly owner?: PageOwner }>(item: Item): Item => {
    const owner = owners.get(item.id);
    return owner === undefined ? item : { ...item, owner };
  };
  return {
    ...projected,
    incidents: projected.incidents.map((one) => owned(notAhead(one, now))),
    maintenances: projected.maintenances.map(owned),
    announcements: projected.announcements.map((one) => owned({ ...one, from: earlier(one.from, now) })),
  };
}

/**
 * Nothing can be written for later except maintenance. What lies ahead was said before the clock was set back, or by the sender of
 * an alert whose clock is fast; a page that waited for it would be green meanwhile. It has just happened, in the same order.
 */
function notAhead(incident: Incident, now: EpochMs): Incident {
  const { startedAt, endedAt, status, updates } = incident;
  if (startedAt <= now && updates.every(({ at }) => at <= now)) return incident;
  const last = updates.length - 1;
  const said = updates.map((update, index) => ({ ...update, at: earlier(update.at, toEpochMs(now - last + index)) }));
  return {
    ...incident,
    startedAt: earlier(startedAt, said[0]?.at ?? now),
    endedAt: isOverStatus(status) && endedAt !== null ? earlier(endedAt, now) : endedAt,
    updates: said,
  };
}

const UNREADABLE: readonly PostFault[] = [{ field: '', message: 'is stored in an unreadable format', type: null }];

function* pull({ drafts }: WrittenOptions, { now }: PullContext): Pull<Learned> {
  const { payload } = yield* ask({ name: 'read written posts', url: 'store:written', schema: StoredSchema });
  return { ...NOTHING_LEARNED, ...projectWritten(payload, { now, drafts }) };
}

/** The parts of a connector that the built-in upstream needs. */
export const written: Pick<Connector<WrittenOptions>, 'kind' | 'limits' | 'pull'> = {
  kind: WRITTEN_ID,
  pull,
};

// Posts as files: new ones for operators who would rather be asked than type front matter, and copies of posts from
// elsewhere.

/** A file to put into the folder of posts. */
export type NewFile = Readonly<ReturnType<typeof newPostFile>>;

/**
 * A file for a new post, named after its first day and its title: `2026-11-21-api-errors.md`; the caller sees to it that there is none
 * of that name. Fields that are undefined are left out.
 */
export function newPostFile(post: z.input<typeof PostSchema>, body = '') {
  const at = post.type === 'incident' ? post.started : post.type === 'maintenance' ? post.starts : post.from;
  const given = Object.fromEntries(Object.entries(post).filter(([, value]) => value !== undefined));
  return { name: `${at.slice(0, 10)}-${toSlug(post.title, 60) || post.type}.md`, text: writeText(given, body.trim()) };
}

function writeText(matter: object, text: string): string {
  return `---\n${stringify(matter, { lineWidth: 0 })}---\n${text === '' ? '' : `\n${text}\n`}`;
}

/** The contents of a file. */
export interface WrittenFile {
  /** Its front matter; missing fields have their defaults. */
  readonly post: z.input<typeof PostSchema>;
  /** Markdown before the first update. */
  readonly opening: string;
  readonly updates: readonly PostUpdate[];
}

/** Makes the file of a post, named after the post's id. */
export function writtenFile(id: string, { post, opening, updates }: WrittenFile): NewFile {
  const parts = [
    escaped(opening),
    ...updates.flatMap(({ at, status, body, bodies = {} }) => [
      `## ${toIso(at)}${status === null ? '' : ` ${status}`}\n\n${escaped(body)}`,
      ...Object.entries(bodies).map(([tag, text]) => `## ${toIso(at)} {lang=${tag}}\n\n${escaped(text)}`),
    ]),
  ].map((part) => part.trim());
  return { name: `${id}.md`, text: writeText(post, parts.filter((part) => part !== '').join('\n\n')) };
}

/** Escapes lines that look like the heading of an update. */
function escaped(body: string): string {
  return body
    .split(/\r?\n/)
    .map((line) => (UPDATE_HEADING.test(line) ? `\\${line}` : line))
    .join('\n');
}
