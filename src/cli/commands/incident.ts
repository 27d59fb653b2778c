/**
 * `pharos incident …` over the API: through the running server, or with the same operations on the store if there is
 * none.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { now } from '../../app/clock.ts';
import { newSuffix, pageNamed, subscriberParts, writingPage } from '../../app/operators/writing.ts';
import type { Config } from '../../config/load.ts';
import { isStatusError, StatusError } from '../../errors.ts';
import type { IncidentAnswer } from '../../incidents/answers.ts';
import { OPERATIONS } from '../../incidents/operations.ts';
import { Refusal } from '../../incidents/requests.ts';
import { authorPage } from '../../incidents/writer.ts';
import { toIso } from '../../model/time.ts';
import { type CommonOptions, openQuietly, print, slugsOf, unknownName } from '../common.ts';
import { askServer, findServer, type OperatedServer } from '../server-client.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';

interface ApiOptions extends CommonOptions {
  readonly folder?: string;
  readonly page?: readonly string[];
  readonly monitor?: readonly string[];
  readonly url?: string;
}

interface DeclareOptions extends ApiOptions {
  readonly component?: readonly string[];
  readonly status?: string;
  readonly impact?: string;
  readonly started?: string;
  readonly body?: string;
  readonly draft?: boolean;
}

export interface UpdateOptions extends ApiOptions {
  readonly component?: readonly string[];
  readonly status?: string;
  readonly body?: string;
}

/** Where an incident goes: to the API of one page, or into a folder of posts. */
type Place =
  | { readonly kind: 'api'; readonly server: OperatedServer; readonly config: Config | null; readonly page: string }
  | { readonly kind: 'folder' };

/** Uses the API if there is an operator token and one page is given, unless a folder or a monitor is given. */
export function choosePlace({ folder, page = [], monitor, url }: ApiOptions, config: Config | null): Place {
  const [only] = page;
  const isApi = folder === undefined && monitor === undefined && page.length === 1 && only !== undefined;
  const server = isApi ? findServer(config, url) : null;
  if (isApi && url !== undefined && server === null)
    throw new UsageError('Set PHAROS_TOKEN to a token of that server, or operators.token in pharos.yaml.');
  return server === null || only === undefined ? { kind: 'folder' } : { kind: 'api', server, config, page: only };
}

/** `pharos incident new` over the API. */
export function declareIncident(
  place: Place & { kind: 'api' },
  name: string,
  options: DeclareOptions,
): Promise<number> {
  if (options.started !== undefined) throw new UsageError('--started works only with --folder.');
  return send(place, options, {
    id: 'createIncident',
    params: {},
    incident: {
      name,
      ...(options.status === undefined ? {} : { status: options.status }),
      ...(options.body === undefined ? {} : { body: options.body }),
      ...(options.impact === undefined ? {} : { impact_override: options.impact }),
      ...(options.draft === true ? { published: false } : {}),
      ...parseComponents(place.page, options.component),
    },
  });
}

/** `pharos incident update ID` and, with the status resolved, `pharos incident resolve ID`. */
export async function sendUpdate(id: string, options: UpdateOptions, config: Config | null): Promise<number> {
  if (options.status === undefined && options.body === undefined && options.component === undefined)
    throw new UsageError('Nothing to update. Set --status, --body or --component.');
  const place = choosePlace(options, config);
  if (place.kind === 'folder') throw new UsageError('Set --page, or --folder for posts kept as files.');
  const { status, body, component } = options;
  return send(place, options, {
    id: 'updateIncident',
    params: { incident: id },
    incident: {
      ...(status === undefined ? {} : { status }),
      ...(body === undefined ? {} : { body }),
      ...parseComponents(place.page, component),
    },
  });
}

/** Appends an update to a post in a file. */
export function appendUpdate(folder: string, id: string, { status, body = '' }: UpdateOptions): number {
  const file = join(folder, `${id.replace(/\.md$/, '')}.md`);
  if (/[/\\]/.test(id) || !existsSync(file)) throw new UsageError(`There is no post ${id}.md in ${folder}.`);
  const text = readFileSync(file, 'utf8').trimEnd();
  const heading = `## ${toIso(now())}${status === undefined ? '' : ` ${status}`}`;
  writeFileSync(file, `${[text, heading, body.trim()].filter((part) => part !== '').join('\n\n')}\n`);
  process.stdout.write(`${file}\n`);
  return EXIT_DONE;
}

interface Request {
  readonly id: 'createIncident' | 'updateIncident';
  readonly params: Readonly<Record<string, string>>;
  readonly incident: Readonly<Record<string, unknown>>;
}

const WAIT_MS = 30_000;

async function send(
  { server, config, page }: Place & { kind: 'api' },
  options: ApiOptions,
  request: Request,
): Promise<number> {
  const known = request.params['incident'];
  const path = `v1/pages/${page}/incidents${known === undefined ? '' : `/${encodeURIComponent(known)}`}`;
  const method = request.id === 'createIncident' ? 'POST' : 'PATCH';
  const headers = { 'idempotency-key': randomUUID() };
  try {
    const body = { incident: request.incident };
    const answer = await askServer(server, { method, path, body, headers, waitMs: WAIT_MS });
    if (answer.status >= 300) throw toRefusal(server.base, answer);
    return tell(options, answer.body as IncidentAnswer, 'published');
  } catch (error) {
    // With --url, the server's store is elsewhere.
    const isDown = isStatusError(error) && error.context['isRefused'] === true && options.url === undefined;
    if (!isDown || config === null) throw error;
    return tell(options, await writeLocally({ config, page }, request), 'stored');
  }
}

/** Runs the same operation on the store if no server is running. */
async function writeLocally(
  { config, page }: { readonly config: Config; readonly page: string },
  { id, params, incident }: Request,
): Promise<IncidentAnswer> {
  const operation = OPERATIONS.find((known) => known.id === id);
  if (operation === undefined) throw new TypeError(`there is no operation ${id}`);
  await using pharos = await openQuietly(config);
  const found = await pageNamed(pharos, page);
  if (found === null) throw unknownName('page', page, slugsOf(await pharos.readSite(now())));
  try {
    const actor = `command:${userInfo().username}`;
    return (await operation.run({
      author: { actor, client: null, now: now(), page: authorPage(found), request: null },
      params,
      query: new URLSearchParams(),
      pages: [found],
      subscribers: subscriberParts(pharos),
      body: { incident },
      version: null,
      database: pharos.store.database,
      newSuffix,
      templates: () => [],
      load: async () => {
        const writing = await writingPage(pharos, page);
        if (writing === null) throw unknownName('page', page, slugsOf(await pharos.readSite(now())));
        return writing;
      },
      publish: async () => undefined,
    })) as IncidentAnswer;
  } catch (error) {
    throw error instanceof Refusal ? new UsageError(error.message) : error;
  }
}

function tell(options: ApiOptions, incident: IncidentAnswer, how: 'published' | 'stored'): number {
  const words =
    how === 'published'
      ? incident.shortlink
      : 'No server is running. Stored; it will be published at the next start or build.';
  print(options, incident, `${incident.id}  ${incident.status}  ${incident.name}\n${words}`);
  return EXIT_DONE;
}

function toRefusal(base: string, { status, body }: { readonly status: number; readonly body: unknown }): Error {
  const { error = ['no reason given'] } = (body ?? {}) as { error?: readonly string[] };
  const reason = error.join('; ');
  if (status === 422 || status === 404) return new UsageError(`The server at ${base} rejected the request: ${reason}`);
  return new StatusError({
    code: 'UPSTREAM_REFUSED',
    message: `The server at ${base} answered ${status}: ${reason}`,
  });
}

/** `api`, `acme/api` or `api=major_outage`. */
function parseComponents(page: string, named: readonly string[] = []): Readonly<Record<string, unknown>> {
  const pairs = named.map((text) => {
    const [id = '', state] = text.split('=');
    return { id: id.startsWith(`${page}/`) ? id.slice(page.length + 1) : id, state };
  });
  const ids = pairs.filter(({ state }) => state === undefined).map(({ id }) => id);
  const states = Object.fromEntries(pairs.flatMap(({ id, state }) => (state === undefined ? [] : [[id, state]])));
  return {
    ...(ids.length === 0 ? {} : { component_ids: [...ids, ...Object.keys(states)] }),
    ...(Object.keys(states).length === 0 ? {} : { components: states }),
  };
}
