/** Nodes over real databases, releases and gates, asked at their front door as the network would. */

import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import { now } from '../../../src/app/clock.ts';
import { compose, type Pharos } from '../../../src/app/compose.ts';
import type { Log } from '../../../src/app/log.ts';
import { createOperators } from '../../../src/app/operators/operators.ts';
import { newSuffix, subscriberParts, writingPage } from '../../../src/app/operators/writing.ts';
import type { Config } from '../../../src/config/load.ts';
import type { SiteState } from '../../../src/publish/definitions/site-state.ts';
import type { Answer as OwnAnswer, OwnRequest } from '../../../src/server/answer.ts';
import { createFrontDoor } from '../../../src/server/front-door.ts';
import { createApiRoutes } from '../../../src/server/operators/api-routes.ts';
import { createApiAccess } from '../../../src/server/operators/operator.ts';
import { createOidcRoutes } from '../../../src/server/own-routes.ts';
import { createBadgeService } from '../../../src/server/visitors/badge-service.ts';
import { createReleaseReader } from '../../../src/server/visitors/release-reader.ts';
import { createApiTokens } from '../../../src/store/written.ts';
import { OFFICE_ADDRESS } from './world.ts';

export interface Answer {
  readonly status: number;
  /** Names and values in turns. */
  readonly headers: readonly string[];
  readonly body: string;
}

export interface Question {
  readonly path: string;
  readonly host?: string;
  readonly cookie?: string;
  /** Whom the proxy heard from; default: another one each time. */
  readonly from?: string;
  readonly form?: Readonly<Record<string, string>>;
  /** A JSON body to post. */
  readonly json?: object;
  /** A token of the API. */
  readonly bearer?: string;
}

export interface Node {
  readonly name: string;
  readonly pharos: Pharos;
  readonly ask: (question: Question) => Promise<Answer>;
  /** One look at the store, as a node makes four times a second. */
  readonly look: () => Promise<SiteState>;
  /** One run without a pass; what failed. */
  readonly publish: (isSettling: boolean) => Promise<readonly string[]>;
  /** Waits until the folder is as the last run and the last closing left it. */
  readonly targetsSettled: () => Promise<void>;
  /** What it told its log as an error. */
  readonly errors: string[];
  readonly close: () => Promise<void>;
}

/** A page that closes is closed there within a second; this machine may be busy. */
const UPDATE_MAX_MS = 60_000;

let clients = 0;

/** As `pharos start` (publishing) or `pharos serve`, without listening and without looking at the store by itself. */
export async function startNode(name: string, config: Config, role: 'publishes' | 'serves' | 'takes'): Promise<Node> {
  const isPublishing = role === 'publishes';
  const errors: string[] = [];
  let updatesDue = 0;
  let updates = 0;
  const log = {
    info: (_facts: unknown, message?: string) => {
      if (message === 'pages made private or removed' && config.output.folder !== undefined) updatesDue = updates + 1;
    },
    warn: () => undefined,
    error: (...told: unknown[]) => void errors.push(told.map(String).join(' ')),
  } as unknown as Log;
  const pharos = await compose(config, { log, isPublishing, isTaking: role === 'takes', printsMail: true });
  const { targetUpdated } = pharos.serving.metrics;
  Object.assign(pharos.serving.metrics, {
    targetUpdated: (update: Parameters<typeof targetUpdated>[0]) => {
      updates += 1;
      targetUpdated(update);
    },
  });
  const server = createFrontDoor({
    addresses: pharos.serving.keeper.addresses,
    reader: createReleaseReader(pharos.base.folders),
    sources: pharos.serving.keeper.sources,
    access: pharos.serving.access,
    own: createOwn(pharos),
    subscriptions: pharos.telling.subscriptions,
    badges: createBadgeService(),
    ensure: pharos.serving.taking?.ensure,
    locale: () => 'en',
    trustedProxyHops: 1,
    isHttpsSite: false,
    now,
    onError: (error, where) => errors.push(`${where}: ${String(error)}`),
  });
  const targetsSettled = async (): Promise<void> => {
    // A host that is not told is found out by what it still has.
    const deadline = performance.now() + UPDATE_MAX_MS;
    while (updates < updatesDue && performance.now() < deadline) await new Promise((later) => setTimeout(later, 5));
    updatesDue = updates;
  };
  const look = (): Promise<SiteState> => pharos.serving.keeper.refresh(now());
  if (isPublishing && config.output.folder !== undefined) {
    await look();
    pharos.publishing.targets.open();
    updatesDue = updates + 1;
    // Subscribers are told by one node.
    pharos.telling.open();
  }
  return {
    name,
    pharos,
    ask: (question) => ask(server, question),
    look,
    publish: async (isSettling) => {
      const { publisher } = pharos.publishing;
      if (publisher === null) throw new Error(`${name} only serves`);
      const { pages } = await publisher.publish(await look());
      if (isSettling) await publisher.settled();
      if (config.output.folder !== undefined) {
        updatesDue = updates + 1;
        pharos.publishing.targets.follow('run');
      }
      return pages.flatMap(({ slug, kind, message }) => (kind === 'failed' ? [`${slug}: ${message}`] : []));
    },
    targetsSettled,
    errors,
    close: async () => {
      await targetsSettled();
      await pharos[Symbol.asyncDispose]();
    },
  };
}

/** The API and the form, which store posts; they are published by the steps of the machine. */
function createOwn(pharos: Pharos): (request: OwnRequest) => Promise<OwnAnswer | null> {
  const { base, serving } = pharos;
  const place = { store: base.store, readSite: serving.keeper.refresh };
  const operators = createOperators(pharos);
  const oidc = createOidcRoutes({
    ...{ oidc: serving.oidc, access: serving.access, now, returned: operators.returned },
    onSignIn: () => undefined,
    sitePath: () => '/',
  });
  const api = createApiRoutes({
    database: base.database,
    newSuffix,
    templatesOf: () => [],
    isOn: () => true,
    access: createApiAccess(createApiTokens(base.database), operators.guard),
    canRun: pharos.publishing.publisher !== null,
    now,
    clientOf: () => null,
    pages: async () => (await place.readSite(now())).resolved.pages,
    subscribers: subscriberParts(base),
    load: (slug) => writingPage(place, slug),
    publish: async () => undefined,
    version: '1',
    siteUrl: base.live.siteUrl,
  });
  return async (request) => {
    const [name, ...rest] = request.path.split('/');
    if (name === 'oidc') return oidc(request);
    if (name === 'ops') return operators.routes(request, rest);
    return name === 'v1' ? api(request, rest) : null;
  };
}

/** Hands a request to the server's handler; the network itself is tested elsewhere. */
function ask(
  server: Server,
  { path, host = '127.0.0.1', cookie, from, form, json, bearer }: Question,
): Promise<Answer> {
  clients += 1;
  const text = json === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(json);
  const body = text === undefined ? null : Buffer.from(text);
  const headers: Record<string, string> = {
    host,
    // What stands further left was written by whoever likes to.
    'x-forwarded-for': `${OFFICE_ADDRESS}, ${from ?? `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`}`,
    ...(cookie === undefined ? {} : { cookie }),
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const request = Object.assign(Readable.from(body === null ? [] : [body]), {
    method: body === null ? 'GET' : 'POST',
    url: path,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    socket: new Connection(),
  });
  const { promise, resolve } = Promise.withResolvers<Answer>();
  server.emit('request', request, new Reply(resolve));
  return promise;
}

class Connection extends EventEmitter {
  readonly remoteAddress = '127.0.0.1';
  destroy(): void {}
}

/** By the bytes of files, which are kept and sent again and again. */
const texts = new WeakMap<Uint8Array, string>();
const textOf = (body: string | Uint8Array): string =>
  typeof body === 'string' ? body : texts.getOrInsertComputed(body, () => Buffer.from(body).toString());

/** What the front door uses of a response. */
class Reply extends EventEmitter {
  statusCode = 0;
  headersSent = false;
  /** All that is written is taken at once. */
  readonly socket = { writableLength: 0 };
  readonly #answered: (answer: Answer) => void;
  #headers: readonly string[] = [];

  constructor(answered: (answer: Answer) => void) {
    super();
    this.#answered = answered;
  }
  writeHead(status: number, headers: readonly string[]): void {
    this.statusCode = status;
    this.headersSent = true;
    this.#headers = headers;
  }
  setTimeout(): void {}
  destroy(): void {}
  end(body: string | Uint8Array = ''): void {
    this.#answered({ status: this.statusCode, headers: this.#headers, body: textOf(body) });
    this.emit('finish');
    this.emit('close');
  }
}
