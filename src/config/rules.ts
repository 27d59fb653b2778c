/** Checks that the values of pharos.yaml fit together. Each rule returns errors with their place and the remedy. */

import { resolve } from 'node:path';
import { WRITTEN_ID } from '../model/observation.ts';
import { didYouMean } from '../schema/nearest.ts';
import { Secret } from '../schema/secret.ts';
import { type ConfigFile, createFileSchema } from './file-schema.ts';
import { notificationFaults } from './notifications.ts';
import type { ConnectorOptions } from './schema.ts';

/** Reports an error at a place. */
type Tell = (path: readonly (string | number)[], message: string) => void;

/** The schema of the whole file, for the given connectors. */
export function createConfigSchema(connectors: readonly ConnectorOptions[]) {
  return createFileSchema(connectors).superRefine((config, context) => {
    for (const rule of RULES)
      rule(config, (path, message) => context.addIssue({ code: 'custom', path: [...path], message }));
  });
}

const RULES: readonly ((config: ConfigFile, tell: Tell) => void)[] = [
  checkDuplicates,
  checkMail,
  checkWriting,
  checkProviders,
  checkOperators,
  checkPlaces,
  ({ notifications, upstreams, access }, tell) => {
    const faults = notificationFaults(notifications, listIds(upstreams), access.smtp !== undefined);
    for (const { path, message } of faults) tell(['notifications', ...path], message);
  },
  checkReferences,
];

/** Invalid upstreams are missing here. */
function listIds(upstreams: ConfigFile['upstreams']): ReadonlySet<string> {
  return new Set(upstreams.flatMap((upstream) => upstream?.id ?? []));
}

function checkDuplicates({ upstreams, intake, pages, notifications, operators }: ConfigFile, tell: Tell): void {
  const check = <Field extends string>(
    path: readonly (string | number)[],
    items: readonly { readonly [key in Field]?: string | null | undefined }[],
    field: Field,
    what: string = field,
  ): void => {
    for (const [index, name] of repeated(items, (item) => item[field]))
      tell([...path, index, field], `the ${what} ${name} is used twice`);
  };
  check(['upstreams'], upstreams, 'id');
  check(['intake'], intake, 'id');
  check(['notifications'], notifications, 'id');
  check(['pages'], pages, 'slug');
  check(['pages'], pages, 'custom_domain', 'host');
  for (const [index, { components = [], groups = [] }] of pages.entries()) {
    check(['pages', index, 'components'], components, 'id');
    check(['pages', index, 'groups'], groups, 'id');
  }
  check(['operators', 'tokens'], operators.tokens, 'name');
}

/** Index and key of each item with the same key as an earlier one. */
function repeated<T>(items: readonly T[], keyOf: (item: T) => string | null | undefined) {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = item === undefined ? null : keyOf(item);
    if (key == null) return [];
    if (seen.has(key)) return [[index, key] as const];
    seen.add(key);
    return [];
  });
}

function checkMail({ subscriptions, pages, access }: ConfigFile, tell: Tell): void {
  if (access.smtp !== undefined && access.from !== undefined) return;
  const index = pages.findIndex((page) => page?.subscriptions === true);
  const message = 'emails need a mail server: set access.smtp and access.from';
  if (subscriptions) tell(['subscriptions'], message);
  else if (index !== -1) tell(['pages', index, 'subscriptions'], message);
}

function checkProviders({ pages, access }: ConfigFile, tell: Tell): void {
  for (const [index, { oidc }] of pages.entries())
    if (oidc !== undefined && access.oidc === undefined)
      tell(['pages', index, 'oidc'], 'visitors need an identity provider to sign in by: set access.oidc');
}

/** Roles that nobody can have, and operators who have none. */
function checkOperators({ operators: { oidc, roles, tokens, token } }: ConfigFile, tell: Tell): void {
  const hasRoles = Object.values(roles).some((role) => role !== undefined);
  if (hasRoles && oidc === undefined)
    tell(['operators', 'roles'], 'nobody can have them without operators.oidc; set it');
  if (oidc !== undefined && !hasRoles) tell(['operators', 'oidc'], 'nobody could do anything; set operators.roles');
  const secrets = [token, ...tokens.map((one) => one.token)];
  for (const [index] of repeated(secrets, (secret) => (secret instanceof Secret ? secret.reveal() : null)))
    tell(['operators', 'tokens', index - 1, 'token'], 'another token of operators is the same; make one for each');
  for (const [index, { role, pages }] of tokens.entries()) {
    const path = ['operators', 'tokens', index, 'pages'];
    if (role === 'writer' && pages === undefined) tell(path, 'missing; a writer writes on some pages');
    if (role !== 'writer' && pages !== undefined) tell(path, 'only a writer has pages');
  }
}

function checkWriting({ upstreams, intake, operators }: ConfigFile, tell: Tell): void {
  const reserved = upstreams.findIndex((upstream) => upstream?.id === WRITTEN_ID);
  const words = `the id ${WRITTEN_ID} is reserved for what operators write; choose another one`;
  if (reserved !== -1) tell(['upstreams', reserved, 'id'], words);
  if (intake.length > 0 && !hasOperators({ operators }))
    tell(
      ['intake'],
      'an intake needs operators.token (or operators.tokens, or operators.oidc), because nothing can be written over HTTP without operators',
    );
}

const KERNEL_FOLDER = /^\/(?:proc|sys)(?:\/|$)/;

/** Where pages and releases are written. */
function checkPlaces({ output, data, releases }: ConfigFile, tell: Tell): void {
  const places = [[['data'], data] as const, [['output', 'folder'], output.folder] as const];
  for (const [path, folder] of places)
    if (folder !== undefined && KERNEL_FOLDER.test(resolve('/configuration', folder)))
      tell(path, 'nothing can be stored below /proc and /sys. Choose another folder');
  if (output.folder !== undefined && isSameOrWithin(output.folder, data))
    tell(['output', 'folder'], 'this is inside the data folder, which holds private pages. Choose another folder');
  // The prefix doesn't matter: access rules usually apply to the whole bucket.
  const [kept, shown] = [releases?.s3, output.s3];
  if (kept !== undefined && kept.endpoint === shown?.endpoint && kept.bucket === shown.bucket)
    tell(
      ['releases', 's3', 'bucket'],
      'this is the bucket of output.s3, which everybody reads. Releases hold private pages: use another bucket',
    );
}

function checkReferences({ upstreams, pages }: ConfigFile, tell: Tell): void {
  const ids = listIds(upstreams);
  const check = (reference: string | undefined, path: readonly (string | number)[]): void => {
    const id = reference?.split('/')[0];
    if (id !== undefined && !ids.has(id)) tell(path, `there is no upstream ${id}.${didYouMean(id, ids)}`);
  };
  for (const [page, { from, components = [] }] of pages.entries()) {
    check(from, ['pages', page, 'from']);
    for (const [index, { monitor }] of components.entries())
      check(monitor, ['pages', page, 'components', index, 'monitor']);
  }
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
