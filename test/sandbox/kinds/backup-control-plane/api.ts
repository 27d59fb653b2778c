/** The backup control plane: log in for a token, name a workspace with every request, log out. */

import { noiseHex } from '../../../../src/sandbox/services.ts';
import { bearerToken, headerOf, json, objectOf, type Reply, type Request, type Upstream } from '../../exchange.ts';
import { noiseUuid } from '../../noise-uuid.ts';
import { check, email, refused, required, text } from '../../validation.ts';
import type { World } from '../../world.ts';
import { type BackupCredentials, createWorkspaces, type Workspace } from './records.ts';
import { answerSources, answerStorageTargets, METHOD_NOT_ALLOWED, NOT_FOUND } from './resources.ts';

interface BackupOptions {
  readonly world: World;
  readonly credentials: BackupCredentials;
}

const UNAUTHENTICATED = json(401, { message: 'Unauthenticated.' });
const FORBIDDEN = json(403, { message: 'This action is unauthorized.' });
const RESOURCES = new Map([
  ['sources', answerSources],
  ['storage-targets', answerStorageTargets],
]);

export function createApi({ world, credentials }: BackupOptions): Upstream {
  const workspaces = createWorkspaces(world, credentials);
  const tokens = new Set<string>();
  let logins = 0;

  function login({ method, body }: Request): Reply {
    if (method !== 'POST') return METHOD_NOT_ALLOWED;
    const fields = objectOf(body) ?? {};
    const invalid = refused(check(fields, { email: required(email), password: required(text()) }));
    if (invalid !== null) return invalid;
    if (fields['email'] !== credentials.email || fields['password'] !== credentials.password) {
      const message = 'These credentials do not match our records.';
      return json(422, { message, errors: { email: [message] } });
    }
    logins += 1;
    const token = `${logins}|${noiseHex(40, world.seed, 'token', logins)}`;
    tokens.add(token);
    return json(201, { token, token_type: 'Bearer' });
  }

  function logout({ method }: Request, token: string): Reply {
    if (method !== 'POST') return METHOD_NOT_ALLOWED;
    tokens.delete(token);
    return json(200, { message: 'Logged out.' });
  }

  return (request) => {
    const [, api, resource = '', id = '', action = '', ...rest] = request.path.split('/');
    const route = [resource, id].join('/');
    if (api !== 'api' || rest.length > 0) return NOT_FOUND;
    if (route === 'auth/login') return login(request);
    const token = bearerToken(request.headers);
    if (token === null || !tokens.has(token)) return UNAUTHENTICATED;
    if (route === 'auth/logout') return logout(request, token);
    if (route === 'auth/me') return request.method === 'GET' ? me(world, credentials, workspaces) : METHOD_NOT_ALLOWED;
    const answer = RESOURCES.get(resource);
    if (answer === undefined) return NOT_FOUND;
    const workspace = named(request, workspaces);
    if (workspace === undefined) return FORBIDDEN;
    if (request.method !== 'GET' && workspace.role === 'viewer') return FORBIDDEN;
    return answer(request, { world, workspace }, id, action);
  };
}

/** The workspace of `X-Tenant-Id`, when it is active and the user belongs to it. */
function named({ headers }: Request, workspaces: readonly Workspace[]): Workspace | undefined {
  const id = headerOf(headers, 'x-tenant-id');
  return workspaces.find((one) => one.id === id && one.isActive && one.role !== null);
}

function me(world: World, credentials: BackupCredentials, workspaces: readonly Workspace[]): Reply {
  const tenants = workspaces
    .filter(({ isActive, role }) => isActive && role !== null)
    .map(({ id, name, slug, role }) => ({ id, name, slug, role }));
  const principal = { id: noiseUuid(world.seed, 'user'), name: 'Pharos', email: credentials.email, is_admin: false };
  return json(200, { data: { ...principal, tenants } });
}
