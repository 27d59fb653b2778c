/**
 * Programs that write to Statuspage, as what each of them sends: addresses, headers and bodies as in its own source, in the
 * version that is named. None is a package that a test could install, most are in other languages, and one states no
 * licence, so the requests stand here in our words.
 */

import { request } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request as it is; unlike `fetch`, also GET with a body, and a body without a type. */
export function sendRaw(
  url: string,
  {
    method,
    headers,
    body,
  }: { readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body: string | null },
): Promise<RawAnswer> {
  return new Promise((done, failed) => {
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request(url, { method, headers: { ...headers, ...length } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => done({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }));
    });
    sent.on('error', failed);
    sent.end(body ?? undefined);
  });
}

export interface StatuspageClient {
  readonly name: string;
  /** Repository and commit. */
  readonly source: string;
  readonly licence: string;
  /** The header with the token. */
  readonly authorization: (token: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the last part of each path. */
  readonly suffix: '' | '.json';
  readonly update: 'PATCH' | 'PUT';
  /** What it sends of an incident beside what is asked for. */
  readonly incident: (said: IncidentWords) => Readonly<Record<string, unknown>>;
  /** The query of its lists, by page; null: it doesn't page. */
  readonly listed: ((page: number) => string) | null;
  /** What it sends of a component; null: it makes none. */
  readonly component: ((name: string, status: string) => Readonly<Record<string, unknown>>) | null;
  /** Whether it reads what DELETE answers as JSON. */
  readonly readsDeleted: boolean;
}

interface IncidentWords {
  readonly name?: string;
  readonly status: string;
  readonly body: string;
  readonly component: string;
  readonly state: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export const STATUSPAGE_CLIENTS: readonly StatuspageClient[] = [
  {
    name: 'prometheus-alerts-to-statuspage',
    source: 'nathandeamer/prometheus-alerts-to-statuspage 8abbc47',
    licence: 'none stated',
    authorization: (token) => token,
    headers: JSON_TYPE,
    suffix: '',
    update: 'PATCH',
    incident: ({ component, state, ...said }) => ({
      ...said,
      impact_override: 'none',
      components: { [component]: state },
      component_ids: [component],
    }),
    listed: null,
    component: null,
    readsDeleted: false,
  },
  {
    name: 'statuspage-go-sdk, of a Terraform provider',
    source: 'yannh/statuspage-go-sdk 2638993',
    licence: 'MPL-2.0',
    authorization: (token) => `OAuth ${token}`,
    // It sets no type.
    headers: {},
    suffix: '',
    update: 'PATCH',
    // Every field is there, as Go writes what is not set.
    incident: ({ name = '', status, body, component }) => ({
      ...{ name, status, impact_override: '', scheduled_for: '', scheduled_until: '', body },
      ...{ component_ids: [component], components: null },
    }),
    listed: null,
    component: (name, status) => ({ name, description: 'By Terraform', status, showcase: false }),
    readsDeleted: false,
  },
  {
    name: 'statuspage-api-client-go, of another Terraform provider',
    source: 'sbecker59/statuspage-api-client-go bc4d957, terraform-provider-statuspage 6e1e855',
    licence: 'MPL-2.0',
    authorization: (token) => `oauth ${token}`,
    headers: { ...JSON_TYPE, accept: 'application/json' },
    suffix: '',
    update: 'PATCH',
    incident: ({ component, state, ...said }) => ({
      ...said,
      ...{ impact_override: 'none', scheduled_remind_prior: false, scheduled_auto_in_progress: false },
      ...{ scheduled_auto_completed: false, component_ids: [component], components: { [component]: state } },
    }),
    listed: (page) => `?page=${page}&per_page=100`,
    component: (name, status) => ({ name, description: '', status, only_show_if_degraded: false, showcase: true }),
    readsDeleted: true,
  },
  {
    name: 'statuspageio for Ruby 0.2.2',
    source: 'dasnixon/statuspageio 612de58',
    licence: 'MIT',
    authorization: (token) => `OAuth ${token}`,
    headers: JSON_TYPE,
    suffix: '.json',
    update: 'PUT',
    incident: ({ component, ...said }) => ({ ...said, component_ids: [component], state: undefined }),
    listed: (page) => `?limit=100&page=${page}`,
    component: null,
    readsDeleted: true,
  },
  {
    name: 'statuspageio for Go',
    source: 'looqbox/statuspageio 38b19eb',
    licence: 'MIT',
    authorization: (token) => `OAuth ${token}`,
    headers: JSON_TYPE,
    suffix: '',
    update: 'PATCH',
    incident: ({ name = '', status, body, component, state }) => ({
      ...{ name, status, impact_override: '', deliver_notifications: false, body },
      ...{ components: { [component]: state }, component_ids: null },
    }),
    listed: null,
    component: null,
    readsDeleted: true,
  },
  {
    name: 'hubot-statuspage 1.2.3',
    source: 'stephenyeargin/hubot-statuspage e2f1cd7',
    licence: 'MIT',
    authorization: (token) => `OAuth ${token}`,
    headers: {},
    suffix: '.json',
    update: 'PATCH',
    // It calls the text of an update `message`, as the API once did.
    incident: ({ name, status, body }) => ({ status, wants_twitter_update: 'f', message: body, name }),
    listed: null,
    component: null,
    readsDeleted: false,
  },
  {
    name: 'qontract-reconcile of app-sre',
    source: 'app-sre/qontract-reconcile f8dc7d4, reconcile/statuspage/atlassian.py',
    licence: 'Apache-2.0',
    authorization: (token) => `OAuth ${token}`,
    headers: JSON_TYPE,
    suffix: '',
    update: 'PATCH',
    incident: ({ component, state, ...said }) => ({ ...said, components: { [component]: state } }),
    listed: (page) => `?page=${page}&per_page=100`,
    component: (name, status) => ({ name, description: null, status }),
    readsDeleted: false,
  },
  {
    name: 'Ocean’s Statuspage integration of Port',
    source: 'port-labs/ocean 1029f3d, integrations/statuspage/client.py',
    licence: 'Apache-2.0',
    authorization: (token) => token,
    headers: JSON_TYPE,
    suffix: '',
    update: 'PATCH',
    // It only reads.
    incident: ({ component, state, ...said }) => ({ ...said, components: { [component]: state } }),
    listed: (page) => `?limit=50&page=${page}`,
    component: null,
    readsDeleted: false,
  },
];
