/**
 * What operators write here instead of into files: the same posts, kept in the store as JSON and read by the same pass. It
 * is bound by itself and stands in no configuration.
 */

import { z } from 'zod';
import { type Learned, NOTHING_LEARNED, type PageOwner, WRITTEN_ID } from '../../../model/observation.ts';
import type { PageKey } from '../../../model/slugs.ts';
import { type EpochMs, toEpochMs, toIso } from '../../../model/time.ts';
import {
  ask,
  type Connector,
  NO_LIMITS,
  type Probe,
  type Pull,
  type PullContext,
  type Question,
} from '../../connector.ts';
import { parseInstant } from '../wire.ts';
import { type Projected, projectRead } from './project.ts';
import { type PostFault, PostSchema, type PostUpdate, type ReadPost, STATUSES } from './schema.ts';

/** Instants of written posts say their offset. */
const ZONE = 'UTC';

const InstantSchema = z.string().transform((text, context): EpochMs => {
  const at = parseInstant(text, ZONE);
  if (at === null) context.addIssue({ code: 'custom', message: 'expected a date and time' });
  return at ?? toEpochMs(0);
});

const UpdateSchema = z.strictObject({
  at: InstantSchema,
  status: z.enum([...STATUSES.incident, ...STATUSES.maintenance]).nullable(),
  body: z.string(),
  bodies: z.record(z.string(), z.string()).optional(),
  /** False: whoever wrote it wants nobody to be notified of it. */
  notify: z.boolean().optional(),
});

/** A post as it is stored. */
const WrittenPostSchema = z.strictObject({
  post: PostSchema,
  opening: z.string(),
  updates: z.array(UpdateSchema),
  /** For operators; shown to nobody else. */
  note: z.string().optional(),
  /** Draft of a postmortem. */
  postmortem: z.strictObject({ body: z.string(), at: InstantSchema }).optional(),
});

export type WrittenUpdate = PostUpdate;
export interface WrittenPost extends Pick<ReadPost, 'post' | 'opening'> {
  /** Oldest first. */
  readonly updates: readonly WrittenUpdate[];
  /** For operators; shown to nobody else. */
  readonly note?: string | undefined;
  /** Draft of a postmortem; nobody sees it. */
  readonly postmortem?: { readonly body: string; readonly at: EpochMs } | undefined;
}

/** As the store keeps it. */
export function writtenText({ post, opening, updates, note, postmortem }: WrittenPost): string {
  return JSON.stringify({
    post,
    opening,
    note,
    ...(postmortem === undefined ? {} : { postmortem: { ...postmortem, at: toIso(postmortem.at) } }),
    updates: updates.map((update) => ({ ...update, at: toIso(update.at) })),
  });
}

/** What the store kept; null: it cannot be read. */
export function parseWritten(text: string): WrittenPost | null {
  const parsed = WrittenPostSchema.safeParse(jsonOf(text));
  return parsed.success ? parsed.data : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
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
/** A row of the store. */
type StoredPost = z.output<typeof StoredSchema>[number];

interface WrittenOptions {
  /** Whether drafts are told too, as in a preview. */
  readonly drafts: boolean;
}

/** What posts mean by `now`, as the pass over them learns it. */
export function projectWritten(
  stored: readonly StoredPost[],
  { now, drafts }: WrittenOptions & { readonly now: EpochMs },
): Projected {
  const projected = projectRead(
    stored.map(({ id, document }) => {
      const known = parseWritten(document);
      return { name: id, read: known === null ? UNREADABLE : { ...known, name: id } };
    }),
    { upstreamId: WRITTEN_ID, zone: ZONE, now, hasDrafts: drafts, isOwn: true },
  );
  const owners = new Map(stored.map(({ id, page, isPrivate }) => [`${WRITTEN_ID}/${id}`, { page, isPrivate }]));
  const owned = <Item extends { readonly id: string; readonly owner?: PageOwner }>(item: Item): Item => {
    const owner = owners.get(item.id);
    return owner === undefined ? item : { ...item, owner };
  };
  return {
    ...projected,
    incidents: projected.incidents.map(owned),
    maintenances: projected.maintenances.map(owned),
    announcements: projected.announcements.map(owned),
  };
}

const UNREADABLE: readonly PostFault[] = [{ field: '', message: 'is stored in an unreadable format', type: null }];

const QUESTION: Question<StoredPost[]> = {
  name: 'read written posts',
  priority: 'list',
  method: 'GET',
  url: 'store:written',
  headers: {},
  schema: StoredSchema,
};

function* pull({ drafts }: WrittenOptions, { now }: PullContext): Pull<Learned> {
  const { payload } = yield* ask(QUESTION);
  return { ...NOTHING_LEARNED, ...projectWritten(payload, { now, drafts }) };
}

function* probe(): Pull<Probe> {
  const { payload } = yield* ask(QUESTION);
  return { summary: `${payload.length} written here`, warnings: [], monitorsTotal: null };
}

/** As much of a connector as is bound. */
export const written: Pick<Connector<WrittenOptions>, 'kind' | 'limits' | 'pull' | 'probe'> = {
  kind: WRITTEN_ID,
  limits: NO_LIMITS,
  pull,
  probe,
};
