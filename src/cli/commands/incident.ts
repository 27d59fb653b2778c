/**
 * `pharos incident …` over the API: through the running server, or with the same operations on the store if there is
 * none.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { now } from '../../app/clock.ts';
import { newSuffix, subscriberParts, writingPage } from '../../app/operators/writing.ts';
import type { Config } from '../../config/load.ts';
import { isStatusError, StatusError } from '../../errors.ts';
import type { IncidentAnswer } from '../../incidents/answers.ts';
import { OPERATIONS } from '../../incidents/operations.ts';
import { Refusal } from '../../incidents/requests.ts';
import { authorPage } from '../../incidents/writing-page.ts';
import { toIso } from '../../model/time.ts';
import { isTaken } from '../../publish/targets/take.ts';
import { faultText } from '../../schema/issue-words.ts';
import { findFaults } from '../../sync/connectors/markdown/project.ts';
import { readPost } from '../../sync/connectors/markdown/schema.ts';
import { commandActor, type Options, openQuietly, print, requirePage, slugsOf, unknownName } from '../common.ts';
import { askServer, findServer, type OperatedServer } from '../server-client.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';

/** Options of the commands that write posts. */
export type PostOptions = Options<'url' | 'folder' | 'body' | 'status' | 'impact' | 'started', 'draft'> & {
  readonly [name in 'page' | 'monitor' | 'component']?: string[];
};

/** Where an incident goes: to the API of one page, or into a folder of posts. */
type Place =
  | { readonly kind: 'api'; readonly server: OperatedServer; readonly config: Config | null; readonly page: string }
  | { readonly kind: 'folder' };

/** Uses the API if there is an operator token and one page is given, unless a folder or a monitor is given. */
export function choosePlace({ folder, page = [], monitor, url }: PostOptions, config: Config | null): Place {
  const [only] = page;
  const isApi = folder === undefined && monitor === undefined && page.length === 1 && only !== undefined;
  const server = isApi ? findServer(config, url) : null;
  if (isApi && url !== undefined && server === null)
    throw new UsageError('Set PHAROS_TOKEN to a token of that server, or operators.token in pharos.yaml.');
  return server === null || only === undefined ? { kind: 'folder' } : { kind: 'api', server, config, page: only };
}

/** `pharos incident new` over the API. */
export function declareIncident(place: Place & { kind: 'api' }, name: string, options: PostOptions): Promise<number> {
  const { started, status, body, impact, draft, component } = options;
  if (started !== undefined) throw new UsageError('--started works only with --folder.');
  const published = draft === true ? { published: false } : {};
  const components = parseComponents(place.page, component);
  return send(place, options, null, { name, status, body, impact_override: impact, ...published, ...components });
}

/** `pharos incident update ID` and, with the status resolved, `pharos incident resolve ID`. */
export async function sendUpdate(id: string, options: PostOptions, config: Config | null): Promise<number> {
  const { status, body, component } = options;
  if (status === undefined && body === undefined && component === undefined)
    throw new UsageError('Nothing to update. Set --status, --body or --component.');
  const place = choosePlace(options, config);
  if (place.kind === 'folder') throw new UsageError('Set --page, or --folder for posts kept as files.');
  return send(place, options, id, { status, body, ...parseComponents(place.page, component) });
}

/** Appends an update to a post in a file. */
export function appendUpdate(folder: string, id: string, { status, body = '' }: PostOptions): number {
  const file = join(folder, `${id.replace(/\.md$/, '')}.md`);
  if (/[/\\]/.test(id) || !existsSync(file)) throw new UsageError(`There is no post ${id}.md in ${folder}.`);
  const text = readFileSync(file, 'utf8').trimEnd();
  const heading = `## ${toIso(now())}${status === undefined ? '' : ` ${status}`}`;
  const changed = `${[text, heading, body.trim()].filter((part) => part !== '').join('\n\n')}\n`;
  const { type } = checkPost(id, changed);
  if (type !== 'incident' && type !== 'maintenance')
    throw new UsageError(`${file} has no updates: it is of type ${type}.`);
  writeFileSync(file, changed);
  process.stdout.write(`${file}\n`);
  return EXIT_DONE;
}

/** @throws UsageError if the upstream couldn't read the post: it would keep all posts of that type as they were */
export function checkPost(name: string, text: string) {
  const read = readPost({ name, text }, 'UTC');
  const faults = 'post' in read ? findFaults(read, 'UTC') : read;
  if ('post' in read && faults.length === 0) return read.post;
  throw new UsageError(faults.map(({ field, message }) => faultText({ path: field, message })).join('\n'));
}

const WAIT_MS = 30_000;

/** @param known  id of the incident to update; null: a new one */
async function send(
  { server, config, page }: Place & { kind: 'api' },
  options: PostOptions,
  known: string | null,
  incident: Readonly<Record<string, unknown>>,
): Promise<number> {
  const path = `v1/pages/${page}/incidents${known === null ? '' : `/${encodeURIComponent(known)}`}`;
  const method = known === null ? 'POST' : 'PATCH';
  const headers = { 'idempotency-key': randomUUID() };
  try {
    const answer = await askServer(server, { method, path, body: { incident }, headers, waitMs: WAIT_MS });
    if (answer.status >= 300) throw toRefusal(server.base, answer);
    const made = answer.body as IncidentAnswer;
    return tell(options, made, made.shortlink);
  } catch (error) {
    // With --url, the server's store is elsewhere.
    const isDown = isStatusError(error) && error.context['isRefused'] === true && options.url === undefined;
    if (!isDown || config === null) throw error;
    const made = await writeLocally(config, page, known, incident);
    const stored = 'Stored; it will be published with the next sync, start or build on this database.';
    return tell(options, made, `No server responds at ${server.base}. ${stored}`);
  }
}

const NOTHING_PUBLISHED =
  'This node gets its pages from the bucket, and publishes nothing that is stored here. Run the command on a node that publishes, or set its address with --url.';

/** Runs the same operation on the store if no server responds: one may still run, at an address that isn't configured. */
async function writeLocally(
  config: Config,
  page: string,
  known: string | null,
  incident: Readonly<Record<string, unknown>>,
): Promise<IncidentAnswer> {
  const id = known === null ? 'createIncident' : 'updateIncident';
  const operation = OPERATIONS.find((one) => one.id === id);
  if (operation === undefined) throw new TypeError(`there is no operation ${id}`);
  await using pharos = await openQuietly(config);
  const found = await requirePage(pharos, page);
  if (!('url' in pharos.place) && isTaken(pharos.folders, page)) throw new UsageError(NOTHING_PUBLISHED);
  try {
    return (await operation.run({
      author: { actor: commandActor(), client: null, now: now(), page: authorPage(found), request: null },
      params: known === null ? {} : { incident: known },
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

function tell(options: PostOptions, incident: IncidentAnswer, words: string): number {
  return print(options, incident, `${incident.id}  ${incident.status}  ${incident.name}\n${words}`);
}

function toRefusal(base: string, { status, body }: { readonly status: number; readonly body: unknown }): Error {
  const { error = ['no reason given'] } = (body ?? {}) as { error?: readonly string[] };
  const reason = error.join('; ');
  if (status === 422 || status === 404) return new UsageError(`The server at ${base} rejected the request: ${reason}`);
  return new StatusError({ code: 'UPSTREAM_REFUSED', message: `The server at ${base} answered ${status}: ${reason}` });
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
