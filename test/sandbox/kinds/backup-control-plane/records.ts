/** Workspaces of the backup service and what is in them at the start. */

import { DAY_MS, type EpochMs, HOUR_MS, toEpochMs, toIso } from '../../../../src/model/time.ts';
import { noiseUuid } from '../../noise-uuid.ts';
import type { World } from '../../world.ts';

export interface BackupCredentials {
  readonly email: string;
  readonly password: string;
  /** `acme` is owned, `initech` may only be looked at, `globex` belongs to somebody else. */
  readonly tenants: { readonly acme: string; readonly initech: string; readonly globex: string };
}

export interface Source {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly channel: string;
  readonly status: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  /** Sealed: only whether there are any. */
  readonly hasCredentials: boolean;
  /** In error while this service is down; null: its status is what was written. */
  readonly serviceKey: string | null;
}

export interface StorageTarget {
  readonly id: string;
  readonly kind: string;
  readonly provider: string;
  readonly bucket: string;
  readonly prefix: string | null;
  readonly region: string | null;
  readonly isDefault: boolean;
}

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  /** Of the one user there is; null: he does not belong to it. */
  readonly role: 'owner' | 'admin' | 'operator' | 'viewer' | null;
  readonly isActive: boolean;
  sources: readonly Source[];
  storageTargets: readonly StorageTarget[];
}

interface SourcePlan extends Pick<Source, 'name' | 'type' | 'channel'> {
  readonly status?: string;
  readonly serviceKey?: string;
  readonly hasCredentials?: boolean;
}

const ACME_SOURCES: readonly SourcePlan[] = [
  { name: 'Shop account', type: 'cpanel', channel: 'hosting', hasCredentials: true },
  { name: 'Order database', type: 'postgresql', channel: 'saas', serviceKey: 'database', hasCredentials: true },
  { name: 'Product images', type: 'files', channel: 'hosting', hasCredentials: true },
  { name: 'Company blog', type: 'wordpress', channel: 'hosting', status: 'paused' },
  { name: 'Till machines', type: 'push', channel: 'saas' },
  { name: 'Spare account', type: 'cpanel', channel: 'reseller', status: 'error' },
];

/** Four workspaces: one to own, one to look at, one that is suspended and one of other people. */
export function createWorkspaces(world: World, { tenants }: BackupCredentials): readonly Workspace[] {
  const { seed } = world;
  const workspace = (slug: string, id: string, plans: readonly SourcePlan[]): Omit<Workspace, 'role' | 'isActive'> => ({
    id,
    slug,
    name: slug.replace(/^./, (letter) => letter.toUpperCase()),
    sources: plans.map((plan, index) => plannedSource(world, noiseUuid(seed, 'source', slug, index), plan)),
    storageTargets: [
      {
        id: noiseUuid(seed, 'storage target', slug),
        kind: 'managed',
        provider: 's3',
        bucket: `backups-${slug}`,
        prefix: null,
        region: 'eu-central-1',
        isDefault: true,
      },
    ],
  });
  const blog: readonly SourcePlan[] = [{ name: 'Blog', type: 'wordpress', channel: 'hosting' }];
  return [
    { ...workspace('acme', tenants.acme, ACME_SOURCES), role: 'owner', isActive: true },
    { ...workspace('initech', tenants.initech, blog), role: 'viewer', isActive: true },
    { ...workspace('hooli', noiseUuid(seed, 'tenant', 'hooli'), blog), role: 'owner', isActive: false },
    { ...workspace('globex', tenants.globex, blog), role: null, isActive: true },
  ];
}

function plannedSource(world: World, id: string, plan: SourcePlan): Source {
  const { name, type, channel, status = 'active', serviceKey = null, hasCredentials = false } = plan;
  const createdAt = toEpochMs(world.startedAt - 120 * DAY_MS);
  const updatedAt = toEpochMs(world.startedAt - 5 * HOUR_MS);
  return { id, name, type, channel, status, serviceKey, hasCredentials, createdAt, updatedAt };
}

/** How a source is: as written, except while the service that it backs up is down. */
export function sourceStatus(world: World, source: Source, now: EpochMs): string {
  const service = source.serviceKey === null ? undefined : world.find(source.serviceKey);
  const isDown = service !== undefined && world.stateOf(service, now).status === 'down';
  return isDown && source.status === 'active' ? 'error' : source.status;
}

/** As it is read back: credentials are never in it. */
export function sourceRecord(world: World, source: Source, now: EpochMs): Record<string, unknown> {
  const { id, name, type, channel, createdAt, updatedAt } = source;
  const status = sourceStatus(world, source, now);
  return { id, name, type, channel, status, created_at: toIso(createdAt), updated_at: toIso(updatedAt) };
}

export function storageTargetRecord(target: StorageTarget): Record<string, unknown> {
  const { id, kind, provider, bucket, prefix, region, isDefault } = target;
  return { id, kind, provider, bucket, prefix, region, is_default: isDefault };
}
