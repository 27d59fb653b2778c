/** The operators' page, `/-/ops`, and its buttons. Everything except signing in needs a session. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { isSameOrigin } from '../../access/access.ts';
import { isStatusError, isStoreError, messageOf } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Renderer } from '../../publish/draw/renderer.ts';
import type { ViewByKind } from '../../views/html.ts';
import { opsView } from '../../views/operators/ops.ts';
import type { OpsFacts } from '../../views/operators/ops-facts.ts';
import { type OpsSignInFault, opsLeadView, opsSignInView } from '../../views/operators/ops-sign-in.ts';
import {
  type Answer,
  type OwnRequest,
  originFacts,
  plain as plainAnswer,
  readForm,
  retryAfter,
  whole,
} from '../answer.ts';
import { compressed } from '../send.ts';
import {
  isOwnForm,
  type Operator,
  type OperatorSession,
  type OperatorSessionService,
  type PresentedCookie,
  type Verdict,
} from './operator.ts';
import type { WriteForms } from './write-routes.ts';

interface OpsRoutesOptions {
  /** False: no operators are configured, so the page doesn’t exist. */
  readonly hasOperators: () => boolean;
  /** Checks a token that was entered to sign in. */
  readonly authenticate: (
    given: string,
    client: { readonly address: string; readonly now: EpochMs },
  ) => Promise<Verdict<{ readonly credential: string; readonly operator: Operator }>>;
  readonly provider: OpsProvider;
  readonly sessions: OperatorSessionService;
  readonly events: OpsEvents;
  readonly facts: (now: EpochMs) => Promise<OpsFacts>;
  readonly render: Renderer['render'];
  readonly actions: OpsActions;
  readonly forms: WriteForms;
  readonly now: () => EpochMs;
}

/** Signing in with an identity provider. */
export interface OpsProvider {
  readonly isOn: () => boolean;
  /** Null: the provider doesn’t answer. */
  readonly begin: (request: OwnRequest) => Promise<{ readonly url: string; readonly cookie: string } | null>;
  /** Ends the identity here. Returns the address to sign out at the provider; null: there is none. */
  readonly signOut: (credential: string) => Promise<string | null>;
}

interface Actor {
  readonly operator: Operator;
  readonly address: string;
}

/** Actions of operators. Each is written to the audit log, with the operator and a hash of the client's address. */
export interface OpsActions {
  /** Queues a sync of one upstream, or of all, and publishing. False: there is no such upstream. */
  readonly pull: (upstreamId: string | null, by: Actor) => boolean;
  /** Queues a sync and publishing of one page. False: there is no such page. */
  readonly rebuild: (slug: string, by: Actor) => boolean;
  /** Serves another release of a page. @throws StatusError if it doesn’t exist or can’t be served */
  readonly rollback: (slug: string, release: number, by: Actor) => Promise<void>;
  readonly signedIn: (by: Actor) => Promise<void>;
  readonly signedOut: (by: Actor) => Promise<void>;
}

const NEVER_KEPT: OutgoingHttpHeaders = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

const NO_PAGE = 'The page no longer exists, or you may not write on it any more.';
/** Notices after a button was pressed, by the value of `did` in the address. */
const NOTICES: Readonly<Record<string, string>> = {
  pulling: 'Sync queued. New data will be published.',
  rebuilding: 'Rebuild of the page queued.',
  'rolled-back': 'The selected release is being served.',
  'no-rollback':
    'This release can’t be served. It was deleted, is damaged, or was built with different access settings.',
  unknown: 'It no longer exists.',
};

/** Creates the handler of `/-/ops`; `rest` is the path after `ops`. Null: no such address. */
export function createOpsRoutes(options: OpsRoutesOptions) {
  return async (request: OwnRequest, rest: readonly string[]): Promise<Answer | null> => {
    if (!request.isSiteHost || !options.hasOperators()) return null;
    try {
      return await answer(options, request, rest.join('/'));
    } catch (error) {
      if (!isStoreError(error)) throw error;
      return plain(503, storeFault(error));
    }
  };
}

async function answer(options: OpsRoutesOptions, request: OwnRequest, path: string): Promise<Answer | null> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path === '') return isRead ? show(options, request) : notAllowed('GET, HEAD');
  if (path === 'oidc') return isRead ? askProvider(options, request) : notAllowed('GET, HEAD');
  if (path === 'events') return isRead ? events(options, request) : notAllowed('GET, HEAD');
  if (isRead && path === 'write') return writeForm(options, request);
  if (isRead && path === 'preview') return preview(options, request);
  const act = Object.hasOwn(POSTS, path) ? POSTS[path] : undefined;
  if (act === undefined) return null;
  return request.method === 'POST' ? act(options, request) : notAllowed('POST');
}

async function show(options: OpsRoutesOptions, request: OwnRequest): Promise<Answer> {
  const session = await options.sessions.find(presentedCookie(options, request));
  if (session === null) return signInPage(options, request, 401, null);
  const { operator, formToken } = session;
  if (!operator.seesAll) return goTo('ops/write');
  const facts = await options.facts(options.now());
  const notice = NOTICES[request.query.get('did') ?? ''] ?? null;
  return page(options, 200, 'ops', opsView(facts, { formToken, notice, canAct: operator.isAdmin }));
}

async function events(options: OpsRoutesOptions, request: OwnRequest): Promise<Answer> {
  const isAllowed = async (): Promise<boolean> =>
    (await options.sessions.find(presentedCookie(options, request)))?.operator.seesAll === true;
  if (!(await isAllowed())) return plain(401, 'Sign in first.');
  if (request.method === 'HEAD') return { ...plain(200, ''), body: '' };
  return {
    status: 200,
    headers: { ...NEVER_KEPT, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
    body: '',
    stream: (response) => {
      if (!options.events.open(response, isAllowed)) response.end();
    },
  };
}

type Act = (options: OpsRoutesOptions, request: OwnRequest) => Promise<Answer>;

const POSTS: Readonly<Record<string, Act>> = {
  'sign-in': signIn,
  'sign-out': withForm(async (options, request, _form, { operator, credential }) => {
    const next = await options.provider.signOut(credential);
    const cleared = await options.sessions.end(presentedCookie(options, request));
    await options.actions.signedOut({ operator, address: request.clientAddress });
    const headers = { 'set-cookie': cleared };
    return next === null ? goTo('../ops', headers) : goOn(options, next, SIGNED_OUT, headers);
  }),
  write: withForm(async (options, request, form, { formToken, operator }) => {
    const result = await options.forms.submit(form, { formToken, operator, address: request.clientAddress });
    const written = writtenText(form);
    if (result === null && written === '') return goTo('../ops?did=unknown');
    if (result === null) return giveBack(options, 404, NO_PAGE, written);
    if (result.kind === 'done') return goTo(result.location);
    return page(options, result.status, 'ops-write', result.view);
  }),
  pull: adminForm(async ({ actions }, form, by) => {
    const isQueued = actions.pull(form.get('upstream'), by);
    return goTo(`../ops?did=${isQueued ? 'pulling' : 'unknown'}`);
  }),
  rebuild: adminForm(async ({ actions }, form, by) => {
    const isQueued = actions.rebuild(form.get('page') ?? '', by);
    return goTo(`../ops?did=${isQueued ? 'rebuilding' : 'unknown'}`);
  }),
  rollback: adminForm(async ({ actions }, form, by) => {
    const release = form.get('release') ?? '';
    if (!/^\d{1,9}$/.test(release)) return goTo('../ops?did=unknown');
    try {
      await actions.rollback(form.get('page') ?? '', Number(release), by);
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return goTo('../ops?did=no-rollback');
    }
    return goTo('../ops?did=rolled-back');
  }),
};

async function writeForm(options: OpsRoutesOptions, request: OwnRequest): Promise<Answer | null> {
  const session = await options.sessions.find(presentedCookie(options, request));
  if (session === null) return signInPage(options, request, 401, null);
  const view = await options.forms.show(request.query, session);
  return view === null ? null : page(options, 200, 'ops-write', view);
}

async function preview(options: OpsRoutesOptions, request: OwnRequest): Promise<Answer | null> {
  const session = await options.sessions.find(presentedCookie(options, request));
  const view = session === null ? null : options.forms.preview(request.query.get('id') ?? '');
  return view === null ? null : page(options, 200, 'status-page', view);
}

async function signIn(options: OpsRoutesOptions, request: OwnRequest): Promise<Answer> {
  if (!isFromHere(request)) return signInPage(options, request, 403, 'refused');
  const form = readForm(request.headers, await request.body());
  const now = options.now();
  const verdict = await options.authenticate(form.get('token') ?? '', { address: request.clientAddress, now });
  if (verdict.kind === 'wrong') return signInPage(options, request, 403, 'wrong');
  if (verdict.kind === 'limited') {
    const minutes = Math.ceil(verdict.retryAfterMs / 60_000);
    const limited = await signInPage(options, request, 429, 'limited', { minutes });
    return { ...limited, headers: { ...limited.headers, ...retryAfter(verdict.retryAfterMs) } };
  }
  const cookie = await options.sessions.begin(presentedCookie(options, request), verdict.credential);
  await options.actions.signedIn({ operator: verdict.operator, address: request.clientAddress });
  return goTo('../ops', { 'set-cookie': cookie });
}

async function askProvider(options: OpsRoutesOptions, request: OwnRequest): Promise<Answer | null> {
  if (!options.provider.isOn()) return null;
  const begun = await options.provider.begin(request);
  if (begun === null) return signInPage(options, request, 503, 'provider-away');
  return goTo(begun.url, { 'set-cookie': begun.cookie });
}

const SIGNED_OUT = 'You’re signed out here. Sign out of your organisation’s account too';

/** A page with a refresh header. Browsers block a redirect after a form, and send no cookie after one from another site. */
async function goOn(options: OpsRoutesOptions, next: string, text: string, headers: OutgoingHttpHeaders) {
  const answer = await page(options, 200, 'ops-sign-in', opsLeadView(next, text));
  return { ...answer, headers: { ...answer.headers, ...headers, refresh: `0; url=${next}` } };
}

/** Begins the session of an operator who returns from the identity provider. */
export async function beginReturned(
  options: OpsRoutesOptions,
  request: OwnRequest,
  returned: { readonly credential: string; readonly operator: Operator } | 'away' | 'refused' | 'no-role',
): Promise<Answer> {
  if (returned === 'away') return signInPage(options, request, 503, 'provider-away');
  if (typeof returned === 'string')
    return signInPage(options, request, 403, returned === 'no-role' ? 'no-role' : 'provider-refused');
  const cookie = await options.sessions.begin(presentedCookie(options, request), returned.credential);
  await options.actions.signedIn({ operator: returned.operator, address: request.clientAddress });
  return goOn(options, '../ops', 'Signed in. Continue', { 'set-cookie': cookie });
}

/** Room for long texts in several languages, at nine bytes for a letter, and for hundreds of components. */
const FORM_BYTES_MAX = 1024 * 1024;

/** Handles a form if its session is valid, it has the session's form token, and it was sent from this site. */
function withForm(act: (...args: [...Parameters<Act>, URLSearchParams, OperatorSession]) => Promise<Answer>): Act {
  return async (options, request) => {
    const isOurs = isFromHere(request);
    let form: URLSearchParams | null = null;
    const read = async (max?: number) =>
      (form ??= readForm(request.headers, await request.body(isOurs ? max : undefined)));
    try {
      const session: OperatorSession | null = await options.sessions.find(presentedCookie(options, request));
      const sent = await read(session === null ? undefined : FORM_BYTES_MAX);
      if (session !== null && isOurs && isOwnForm(sent, session)) return await act(options, request, sent, session);
      const written = isOurs ? writtenText(sent) : '';
      return await signInPage(options, request, session === null ? 401 : 403, session && 'refused', { written });
    } catch (error) {
      const written = isStoreError(error) && isOurs ? writtenText(await read()) : '';
      if (written === '') throw error;
      return giveBack(options, 503, storeFault(error), written);
    }
  };
}

const storeFault = (error: unknown): string => `Can’t use the store: ${messageOf(error)}`;

/** Shows what was written in a form that can't be taken. */
const giveBack = (options: OpsRoutesOptions, status: number, fault: string, written: string): Promise<Answer> =>
  page(options, status, 'ops-sign-in', { ...opsLeadView('../ops', 'Operators', written), fault });

/** The titles and texts in a form. */
const writtenText = (form: URLSearchParams): string =>
  [...form].flatMap(([name, text]) => (/^(?:name|title|body)\b/.test(name) && text ? [text] : [])).join('\n\n');

/** The same, for admins only. */
function adminForm(act: (options: OpsRoutesOptions, form: URLSearchParams, by: Actor) => Promise<Answer>): Act {
  return withForm(async (options, request, form, { operator }) =>
    operator.isAdmin
      ? act(options, form, { operator, address: request.clientAddress })
      : plain(403, 'Your role may not do this.'),
  );
}

function isFromHere({ headers, isSecure }: OwnRequest): boolean {
  return isSameOrigin(originFacts(headers, isSecure));
}

function presentedCookie({ now }: OpsRoutesOptions, request: OwnRequest): PresentedCookie {
  return { cookie: request.headers.cookie ?? null, isSecure: request.isSecure, now: now() };
}

async function signInPage(
  options: OpsRoutesOptions,
  request: OwnRequest,
  status: number,
  fault: OpsSignInFault | null,
  more: { readonly minutes?: number; readonly written?: string } = {},
): Promise<Answer> {
  const up = request.path === 'ops' ? '' : '../';
  const view = opsSignInView({ ...more, fault, up, hasProvider: options.provider.isOn() });
  const answer = await page(options, status, 'ops-sign-in', view);
  return compressed(answer, request.headers['accept-encoding']?.toString());
}

/** @param kind `status-page`: as visitors would see it, inside a form */
async function page<Kind extends 'ops' | 'ops-sign-in' | 'ops-write' | 'status-page'>(
  { render }: OpsRoutesOptions,
  status: number,
  kind: Kind,
  view: ViewByKind[Kind],
): Promise<Answer> {
  const { html, csp } = await render(kind, view);
  return whole(status, html, {
    ...NEVER_KEPT,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${csp}; frame-ancestors ${kind === 'status-page' ? "'self'" : "'none'"}`,
  });
}

function goTo(location: string, headers: OutgoingHttpHeaders = {}): Answer {
  return whole(303, '', { ...NEVER_KEPT, location, ...headers });
}

function plain(status: number, text: string, headers: OutgoingHttpHeaders = {}): Answer {
  return plainAnswer(status, text, { ...NEVER_KEPT, ...headers });
}

function notAllowed(allow: string): Answer {
  return plain(405, `Method not allowed. Use ${allow}.`, { allow });
}

/** An operator has a few windows open, not hundreds. */
const STREAMS_MAX = 32;
/** Shorter than proxies wait for a silent answer. */
const HEARTBEAT_MS = 15_000;
const GATHER_MS = 250;

/** Notifies open operators' pages that something changed. The pages then reload the details. */
type OpsEvents = ReturnType<typeof createOpsEvents>;

/** Creates the event stream. Nothing runs while nobody listens. */
export function createOpsEvents() {
  const streams = new Map<ServerResponse, () => Promise<boolean>>();
  let heartbeat: NodeJS.Timeout | null = null;
  let gathering: NodeJS.Timeout | null = null;

  function drop(response: ServerResponse): void {
    streams.delete(response);
    if (streams.size > 0 || heartbeat === null) return;
    clearInterval(heartbeat);
    heartbeat = null;
  }

  function onHeartbeat(): void {
    for (const [response, isAllowed] of streams) {
      isAllowed().then(
        (allowed) => (allowed ? response.write(': still here\n\n') : response.end()),
        () => response.end(),
      );
    }
  }

  return {
    /**
     * Keeps a response open and sends it events; false: too many are open.
     *
     * @param isAllowed called at every heartbeat; false closes the response
     */
    open: (response: ServerResponse, isAllowed: () => Promise<boolean>): boolean => {
      if (streams.size >= STREAMS_MAX) return false;
      streams.set(response, isAllowed);
      response.on('close', () => drop(response));
      response.write('retry: 5000\n\n');
      heartbeat ??= setInterval(onHeartbeat, HEARTBEAT_MS).unref();
      return true;
    },
    /** Sends an event; events in quick succession become one. */
    announce: () => {
      if (streams.size === 0 || gathering !== null) return;
      gathering = setTimeout(() => {
        gathering = null;
        for (const response of streams.keys()) response.write('event: change\ndata: {}\n\n');
      }, GATHER_MS).unref();
    },
    close: () => {
      if (gathering !== null) clearTimeout(gathering);
      for (const response of streams.keys()) response.end();
    },
  };
}
