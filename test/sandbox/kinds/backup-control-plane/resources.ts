/** Sources and storage targets of one workspace: list, look at, write, test. */

import { type EpochMs, SECOND_MS, toEpochMs } from '../../../../src/model/time.ts';
import { empty, json, objectOf, type Reply, type Request } from '../../exchange.ts';
import { noiseUuid } from '../../noise-uuid.ts';
import {
  absent,
  boolean,
  check,
  nullable,
  object,
  oneOf,
  optional,
  refused,
  required,
  text,
} from '../../validation.ts';
import type { World } from '../../world.ts';
import {
  type Source,
  type StorageTarget,
  sourceRecord,
  sourceStatus,
  storageTargetRecord,
  type Workspace,
} from './records.ts';

/** What the plan allows in one workspace. */
const SOURCES_MAX = 10;

const NAME_MAX = 255;
const TYPES = ['cpanel', 'directadmin', 'db', 'files', 'push', 'postgresql', 'wordpress', 'manual'];
const CHANNELS = ['hosting', 'reseller', 'saas'];
const STATUSES = ['active', 'paused', 'error'];
const PROVIDERS = ['s3', 'b2', 'wasabi', 'gcs', 'microsoft365'];
/** Their endpoint's host name has the region in it. */
const PROVIDERS_WITH_REGION = ['b2', 'wasabi'];

const SOURCE_CREATE = {
  name: required(text(NAME_MAX)),
  type: required(oneOf(...TYPES)),
  channel: required(oneOf(...CHANNELS)),
  status: absent,
  credentials: optional(object),
};
const SOURCE_UPDATE = {
  name: optional(text(NAME_MAX)),
  type: absent,
  channel: optional(oneOf(...CHANNELS)),
  status: optional(oneOf(...STATUSES)),
  credentials: optional(object),
};
const TARGET_CREATE = {
  kind: required(oneOf('managed', 'byo')),
  provider: required(oneOf(...PROVIDERS)),
  bucket: required(text(NAME_MAX)),
  prefix: optional(text(NAME_MAX)),
  region: optional(nullable(text())),
  is_default: optional(boolean),
  credentials: optional(object),
};
const TARGET_UPDATE = { provider: optional(oneOf(...PROVIDERS)) };

interface ResourceContext {
  readonly world: World;
  readonly workspace: Workspace;
}

/** The same for an id that nobody has and for one that another workspace has. */
export const NOT_FOUND = json(404, { message: 'Not found.' });
export const METHOD_NOT_ALLOWED = json(405, { message: 'Method not allowed.' });

/** `/sources`, `/sources/{source}`, `/sources/{source}/test-connection`. */
export function answerSources(request: Request, context: ResourceContext, id: string, action: string): Reply {
  const { world, workspace } = context;
  const { method, now } = request;
  if (id === '') {
    if (method === 'POST') return createSource(request, context);
    if (method !== 'GET') return METHOD_NOT_ALLOWED;
    return json(
      200,
      workspace.sources.map((source) => sourceRecord(world, source, now)),
    );
  }
  const source = workspace.sources.find((one) => one.id === id);
  if (source === undefined || !['', 'test-connection'].includes(action)) return NOT_FOUND;
  if (action !== '') return method === 'POST' ? testConnection(world, source, now) : METHOD_NOT_ALLOWED;
  if (method === 'GET') return json(200, sourceRecord(world, source, now));
  if (method === 'PUT') return updateSource(request, context, source);
  if (method !== 'DELETE') return METHOD_NOT_ALLOWED;
  workspace.sources = workspace.sources.filter((one) => one !== source);
  return empty(204);
}

function createSource({ body, now }: Request, { world, workspace }: ResourceContext): Reply {
  const fields = objectOf(body) ?? {};
  const invalid = refused(check(fields, SOURCE_CREATE));
  if (invalid !== null) return invalid;
  if (workspace.sources.length >= SOURCES_MAX) {
    const fault = `The plan allows ${SOURCES_MAX} sources.`;
    return json(422, { message: fault, errors: { source: [fault] } });
  }
  const source: Source = {
    id: noiseUuid(world.seed, 'new source', workspace.slug, now, workspace.sources.length),
    name: String(fields['name']),
    type: String(fields['type']),
    channel: String(fields['channel']),
    status: 'active',
    createdAt: now,
    updatedAt: now,
    hasCredentials: fields['credentials'] !== undefined,
    serviceKey: null,
  };
  workspace.sources = [...workspace.sources, source];
  return json(201, sourceRecord(world, source, now));
}

function updateSource({ body, now }: Request, { world, workspace }: ResourceContext, source: Source): Reply {
  const fields = objectOf(body) ?? {};
  const invalid = refused(check(fields, SOURCE_UPDATE));
  if (invalid !== null) return invalid;
  const updated: Source = {
    ...source,
    name: String(fields['name'] ?? source.name),
    channel: String(fields['channel'] ?? source.channel),
    status: String(fields['status'] ?? source.status),
    hasCredentials: source.hasCredentials || fields['credentials'] !== undefined,
    updatedAt: toEpochMs(Math.floor(now / SECOND_MS) * SECOND_MS),
  };
  workspace.sources = workspace.sources.map((one) => (one === source ? updated : one));
  return json(200, sourceRecord(world, updated, now));
}

function testConnection(world: World, source: Source, now: EpochMs): Reply {
  if (source.type !== 'cpanel') return json(422, { message: 'Only cpanel sources can be tested.' });
  if (!source.hasCredentials) return json(422, { message: 'The source has no credentials.' });
  return json(200, { ok: sourceStatus(world, source, now) !== 'error' });
}

/** `/storage-targets`, `/storage-targets/{storageTarget}`. */
export function answerStorageTargets(request: Request, context: ResourceContext, id: string, action: string): Reply {
  const { workspace } = context;
  const { method } = request;
  if (id === '') {
    if (method === 'POST') return createTarget(request, context);
    return method === 'GET' ? json(200, workspace.storageTargets.map(storageTargetRecord)) : METHOD_NOT_ALLOWED;
  }
  const target = workspace.storageTargets.find((one) => one.id === id);
  if (target === undefined || action !== '') return NOT_FOUND;
  if (method === 'GET') return json(200, storageTargetRecord(target));
  if (method !== 'PUT') return METHOD_NOT_ALLOWED;
  const fields = objectOf(request.body) ?? {};
  const invalid = refused(check(fields, TARGET_UPDATE));
  if (invalid !== null) return invalid;
  const updated = { ...target, provider: String(fields['provider'] ?? target.provider) };
  workspace.storageTargets = workspace.storageTargets.map((one) => (one === target ? updated : one));
  return json(200, storageTargetRecord(updated));
}

function createTarget({ body, now }: Request, { world, workspace }: ResourceContext): Reply {
  const fields = objectOf(body) ?? {};
  const needsRegion = PROVIDERS_WITH_REGION.includes(String(fields['provider']));
  const rules = needsRegion ? { ...TARGET_CREATE, region: required(text()) } : TARGET_CREATE;
  const invalid = refused(check(fields, rules));
  if (invalid !== null) return invalid;
  const target: StorageTarget = {
    id: noiseUuid(world.seed, 'new target', workspace.slug, now, workspace.storageTargets.length),
    kind: String(fields['kind']),
    provider: String(fields['provider']),
    bucket: String(fields['bucket']),
    prefix: textOrNull(fields['prefix']),
    region: textOrNull(fields['region']),
    isDefault: fields['is_default'] === true,
  };
  workspace.storageTargets = [...workspace.storageTargets, target];
  return json(201, storageTargetRecord(target));
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
