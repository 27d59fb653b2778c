/** A small site that operators write on: two pages with components of their own, one of them behind a password. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningPharos, untilFresh } from './pharos.ts';
import { startWarm } from './warm.ts';

export const OPERATOR = 'operator-token-0123456789';

export const WRITING_ENV: Readonly<Record<string, string>> = {
  PHAROS_TOKEN: OPERATOR,
  PASSWORD: 'open the other page',
  INTAKE: 'intake-secret-0123456789',
  INTAKE_OLD: 'intake-secret-before-9876543210',
  // Nothing listens there.
  MAILS: 'smtp://127.0.0.1:9',
};

export const WRITING_CONFIG = `site: { url: "http://status.example.org", name: Example }
server: { trustedProxyHops: 1 }
schedule: "0 0 1 * *"
operators: { token: "\${PHAROS_TOKEN}" }
pages:
  - slug: acme
    title: Acme
    components:
      - { id: api, type: static, name: API }
      - { id: web, type: static, name: Website }
  - slug: inner
    title: Inner
    password: "\${PASSWORD}"
    components:
      - { id: vault, type: static, name: Vault }
`;

/** The same with subscriptions to the first page. */
export const SUBSCRIBING_CONFIG = WRITING_CONFIG.replace('title: Acme', 'title: Acme\n    subscriptions: true').replace(
  'pages:',
  'access: { smtp: "${MAILS}", from: status@example.org }\npages:',
);

/** Starts it and waits until both pages are published. */
export async function startWritingSite(
  folder: string,
  config = WRITING_CONFIG,
  env: Readonly<Record<string, string>> = WRITING_ENV,
): Promise<RunningPharos> {
  writeFileSync(join(folder, 'pharos.yaml'), config);
  const pharos = await startWarm(['start', '--port', '0'], { cwd: folder, env });
  await untilFresh(pharos);
  return pharos;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
  readonly body: any;
}

let things = 0;

/** The path of an operation below `pages/`, about things of the page `acme` that are made for it. */
export async function placeOf(url: string, path: string): Promise<string> {
  const make = async (kind: string, body: unknown): Promise<ApiAnswer['body']> => {
    const { status, body: made } = await callApi(url, 'POST', `pages/acme/${kind}`, { body });
    if (status !== 201) throw new Error(`${kind}: ${status} ${JSON.stringify(made)}`);
    return made;
  };
  things += 1;
  const ids: Record<string, string> = { page: 'acme' };
  if (path.includes('{component}')) ids['component'] = (await make('components', { component: { name: 'Search' } })).id;
  if (path.includes('{group}'))
    ids['group'] = (await make('component-groups', { component_group: { name: 'Core', components: [] } })).id;
  if (path.includes('{subscriber}'))
    ids['subscriber'] = (await make('subscribers', { subscriber: { email: `one-${things}@example.org` } })).id;
  if (path.includes('{incident}')) {
    const made = await make('incidents', { incident: { name: 'Slow', body: 'We look.', status: 'resolved' } });
    ids['incident'] = made.id;
    ids['update'] = made.incident_updates[0].id;
    if (path.includes('postmortem'))
      await callApi(url, 'PUT', `pages/acme/incidents/${made.id}/postmortem`, {
        body: { postmortem: { body_draft: 'Because.' } },
      });
  }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x');
}

let clients = 0;

/** Asks the API with JSON, by default as the operator; every call may come from a client of its own. */
export async function callApi(
  url: string,
  method: string,
  path: string,
  {
    body,
    token = OPERATOR,
    headers = {},
  }: { body?: unknown; token?: string | null; headers?: Readonly<Record<string, string>> } = {},
): Promise<ApiAnswer> {
  clients += 1;
  const answer = await fetch(`${url}/-/v1/${path}`, {
    method,
    headers: {
      'x-forwarded-for': `198.51.${Math.floor(clients / 250)}.${clients % 250}`,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: jsonOf(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
