/**
 * What sources of the backup control plane mean: each is a monitor. Fields of records as read back are not documented: only those
 * named here are relied on.
 */

import { z } from 'zod';
import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import { asNotes, type Origin, parseItems, projectMonitorLists } from '../items.ts';
import { IdSchema, NameSchema, type StateWords, stateFromWord } from '../wire.ts';

/** The message of a rejection. Its shape isn't documented, so the usual ones are tried. */
const RefusalSchema = z
  .object({
    message: z.string().optional().catch(undefined),
    error: z.string().optional().catch(undefined),
    errors: z.record(z.string(), z.array(z.string())).optional().catch(undefined),
  })
  .transform(({ message, error, errors }) => {
    const details = Object.entries(errors ?? {}).map(([field, messages]) => `${field}: ${messages.join(' ')}`);
    return { refusal: details.length > 0 ? details.join('; ') : (message ?? error ?? '') };
  });

/** 201 with a token, or 422 with what is wrong. */
export const LoginAnswerSchema = z.union([z.object({ token: z.string().min(1).max(8_192) }), RefusalSchema]);

export const PrincipalSchema = z.object({ data: z.object({ tenants: z.array(z.unknown()) }) });
export const TenantSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  slug: z.string().nullish(),
  role: z.string().nullish(),
});
export type Tenant = z.output<typeof TenantSchema>;

export const SourceSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  type: z.unknown().optional(),
  status: z.unknown().optional(),
});

/** The rules for fields of a storage target, as far as they can be checked. */
const StorageTargetSchema = z
  .object({
    id: IdSchema,
    kind: z.enum(['managed', 'byo']).optional(),
    provider: z.enum(['s3', 'b2', 'wasabi', 'gcs', 'microsoft365']).optional(),
    bucket: z.string().max(255).optional(),
    prefix: z.string().max(255).nullish(),
    region: z.string().nullish(),
  })
  .refine(({ provider, region }) => (provider !== 'b2' && provider !== 'wasabi') || Boolean(region), {
    path: ['region'],
    error: 'b2 and wasabi need their region',
  });

/** 200 with the result, or 422 if it isn't of type cpanel or has no credentials. */
export const TestAnswerSchema = z.union([z.object({ ok: z.boolean() }), RefusalSchema]);

export const STATE_WORDS: StateWords = { active: 'operational', paused: 'paused', error: 'major_outage' };

/**
 * Turns the sources of all tenants into monitors, sorted by id. Never throws.
 *
 * @param failing  ids of the sources whose stored credentials failed
 */
export function projectSources(
  lists: readonly { readonly tenant: string; readonly items: readonly unknown[] }[],
  failing: ReadonlySet<string>,
  origin: Pick<Origin, 'upstreamId' | 'problems'>,
): MonitorObservation[] {
  const project = ({ id, name, status }: z.output<typeof SourceSchema>, place: string): Partial<MonitorObservation> => {
    const state = stateFromWord(STATE_WORDS, status, `${place}.status`, origin.problems);
    return { name, state: state === 'operational' && failing.has(id) ? 'major_outage' : state };
  };
  const about = { kind: 'source', schema: SourceSchema, project };
  return projectMonitorLists(
    origin,
    lists.map(({ tenant, items }) => ({ ...about, place: `${tenant}.sources`, items })),
  );
}

/** Storage targets have no state. Those with invalid fields are reported. */
export function checkStorageTargets(items: readonly unknown[], tenant: string): Problem[] {
  const problems: Problem[] = [];
  parseItems(StorageTargetSchema, items, `${tenant}.storage-targets`, problems);
  return asNotes(problems);
}
