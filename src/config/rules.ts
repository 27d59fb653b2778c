/** Checks that the values of pharos.yaml fit together. Each rule returns errors with their place and the remedy. */

import { resolve } from 'node:path';
import { WRITTEN_ID } from '../model/observation.ts';
import { didYouMean } from '../schema/nearest.ts';
import { Secret } from '../schema/secret.ts';
import { type ConfigFile, createFileSchema } from './file-schema.ts';
import { notificationFaults } from './notifications.ts';
import type { ConnectorOptions } from './schema.ts';

interface RuleFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The schema of the whole file, for the given connectors. */
export function createConfigSchema(connectors: readonly ConnectorOptions[]) {
  return createFileSchema(connectors).superRefine((config, context) => {
    for (const rule of RULES)
      for (const { path, message } of rule(config)) context.addIssue({ code: 'custom', path: [...path], message });
  });
}

const RULES: readonly ((config: ConfigFile) => readonly RuleFault[])[] = [
  duplicates,
  mailFaults,
  writingFaults,
  providerFaults,
  operatorFaults,
  placeFaults,
  ({ notifications, upstreams, access }) =>
    notificationFaults(notifications, listIds(upstreams), access.smtp !== undefined).map(({ path, message }) => ({
      path: ['notifications', ...path],
      message,
    })),
  unknownUpstreams,
];

/** Invalid upstreams are missing here. */
function listIds(upstreams: ConfigFile['upstreams']): ReadonlySet<string> {
  return new Set(upstreams.flatMap((upstream) => upstream?.id ?? []));
}

function duplicates({ upstreams, intake, pages, notifications }: ConfigFile): RuleFault[] {
  const id = ({ id }: { readonly id: string }): string => id;
  return [
    ...repeated(upstreams, id).map(([index, name]) => twice(['upstreams', index, 'id'], 'id', name)),
    ...repeated(intake, id).map(([index, name]) => twice(['intake', index, 'id'], 'id', name)),
    ...repeated(notifications, id).map(([index, name]) => twice(['notifications', index, 'id'], 'id', name)),
    ...repeated(pages, ({ slug }) => slug).map(([index, name]) => twice(['pages', index, 'slug'], 'slug', name)),
    ...repeated(pages, ({ custom_domain }) => custom_domain ?? null).map(([index, name]) =>
      twice(['pages', index, 'custom_domain'], 'host', name),
    ),
    ...pages.flatMap(({ components, groups }, page) => [
      ...repeated(components ?? [], (component) => component.id ?? null).map(([index, name]) =>
        twice(['pages', page, 'components', index, 'id'], 'id', name),
      ),
      ...repeated(groups ?? [], id).map(([index, name]) => twice(['pages', page, 'groups', index, 'id'], 'id', name)),
    ]),
  ];
}

function twice(path: RuleFault['path'], what: string, name: string): RuleFault {
  return { path, message: `the ${what} ${name} is used twice` };
}

/** Index and key of each item with the same key as an earlier one. */
function repeated<T>(items: readonly T[], keyOf: (item: T) => string | null): readonly (readonly [number, string])[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = item === undefined ? null : keyOf(item);
    if (key === null) return [];
    if (seen.has(key)) return [[index, key] as const];
    seen.add(key);
    return [];
  });
}

function mailFaults({ subscriptions, pages, access }: ConfigFile): RuleFault[] {
  const wanted = subscriptions
    ? ['subscriptions']
    : pages.flatMap((page, index) => (page.subscriptions === true ? [['pages', index, 'subscriptions']] : []))[0];
  const isConfigured = access.smtp !== undefined && access.from !== undefined;
  if (wanted === undefined || isConfigured) return [];
  return [{ path: wanted, message: 'emails need a mail server: set access.smtp and access.from' }];
}

function providerFaults({ pages, access }: ConfigFile): RuleFault[] {
  if (access.oidc !== undefined) return [];
  return pages.flatMap(({ oidc }, index) =>
    oidc === undefined
      ? []
      : [
          {
            path: ['pages', index, 'oidc'],
            message: 'visitors need an identity provider to sign in by: set access.oidc',
          },
        ],
  );
}

/** Roles that nobody can have, and operators who have none. */
function operatorFaults({ operators: { oidc, roles, tokens, token } }: ConfigFile): RuleFault[] {
  const hasRoles = Object.values(roles).some((role) => role !== undefined);
  const path = ['operators', 'tokens'];
  return [
    ...(hasRoles && oidc === undefined
      ? [{ path: ['operators', 'roles'], message: 'nobody can have them without operators.oidc; set it' }]
      : []),
    ...(oidc !== undefined && !hasRoles
      ? [{ path: ['operators', 'oidc'], message: 'nobody could do anything; set operators.roles' }]
      : []),
    ...repeated(tokens, ({ name }) => name).map(([index, name]) => twice([...path, index, 'name'], 'name', name)),
    ...repeated([token, ...tokens.map((one) => one.token)], (secret) =>
      secret instanceof Secret ? secret.reveal() : null,
    ).map(([index]) => ({
      path: [...path, index - 1, 'token'],
      message: 'another token of operators is the same; make one for each',
    })),
    ...tokens.flatMap(({ role, pages }, index) => {
      if ((role === 'writer') === (pages !== undefined)) return [];
      const message = role === 'writer' ? 'missing; a writer writes on some pages' : 'only a writer has pages';
      return [{ path: [...path, index, 'pages'], message }];
    }),
  ];
}

function writingFaults({ upstreams, intake, operators }: ConfigFile): RuleFault[] {
  const reserved = upstreams.findIndex((upstream) => upstream?.id === WRITTEN_ID);
  return [
    ...(reserved === -1
      ? []
      : [
          {
            path: ['upstreams', reserved, 'id'],
            message: `the id ${WRITTEN_ID} is reserved for what operators write; choose another one`,
          },
        ]),
    ...(intake.length === 0 || hasOperators({ operators })
      ? []
      : [
          {
            path: ['intake'],
            message:
              'an intake needs operators.token (or operators.tokens, or operators.oidc), because nothing can be written over HTTP without operators',
          },
        ]),
  ];
}

const KERNEL_FOLDER = /^\/(?:proc|sys)(?:\/|$)/;

/** Where pages and releases are written. */
function placeFaults({ output, data, releases }: ConfigFile): RuleFault[] {
  const places = [[['data'], data] as const, [['output', 'folder'], output.folder] as const];
  const faults: RuleFault[] = places
    .filter(([, folder]) => folder !== undefined && KERNEL_FOLDER.test(resolve('/configuration', folder)))
    .map(([path]) => ({
      path: [...path],
      message: 'nothing can be stored below /proc and /sys. Choose another folder',
    }));
  if (output.folder !== undefined && isSameOrWithin(output.folder, data))
    faults.push({
      path: ['output', 'folder'],
      message: 'this is inside the data folder, which holds private pages. Choose another folder',
    });
  if (releases !== undefined && output.s3 !== undefined && isSameBucket(releases.s3, output.s3))
    faults.push({
      path: ['releases', 's3', 'bucket'],
      message:
        'this is the bucket of output.s3, which everybody reads. Releases hold private pages: use another bucket',
    });
  return faults;
}

function unknownUpstreams({ upstreams, pages }: ConfigFile): RuleFault[] {
  const ids = listIds(upstreams);
  const unknown = (reference: string | undefined, path: RuleFault['path']): RuleFault[] => {
    const id = reference?.split('/')[0];
    if (id === undefined || ids.has(id)) return [];
    return [{ path, message: `there is no upstream ${id}.${didYouMean(id, ids)}` }];
  };
  return pages.flatMap(({ from, components }, page) => [
    ...unknown(from, ['pages', page, 'from']),
    ...(components ?? []).flatMap(({ monitor }, index) =>
      unknown(monitor, ['pages', page, 'components', index, 'monitor']),
    ),
  ]);
}

/** The prefix doesn't matter: access rules usually apply to the whole bucket. */
function isSameBucket(one: S3Place, other: S3Place): boolean {
  return one.endpoint === other.endpoint && one.bucket === other.bucket;
}

interface S3Place {
  readonly endpoint: string;
  readonly bucket: string;
}

/** Whether two folders, as written in the file, are the same or one contains the other. */
function isSameOrWithin(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => `${resolve('/configuration', path)}/`) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}

/** Whether anyone can write over HTTP and see `/-/ops`. */
export function hasOperators({ operators: { token, tokens, oidc } }: Pick<ConfigFile, 'operators'>): boolean {
  return token !== undefined || tokens.length > 0 || oidc !== undefined;
}
