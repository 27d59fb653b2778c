/** The addresses where visitors sign in and out, and subscribe to a page. */

import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { canView, type GateRequest, type GateResponse } from '../../access/access.ts';
import type { Access } from '../../access/create-access.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Subscriptions } from '../../notify/subscriptions.ts';
import type { SignInResult } from '../../store/audit.ts';
import type { Address } from '../address.ts';
import { type Answer, type OwnRequest, originFacts, readBody, readForm } from '../answer.ts';

export interface GateDeps {
  readonly access: Access;
  /** Whether site.url is https. Cookies and HSTS depend on this, never on a header that clients can forge. */
  readonly isHttpsSite: boolean;
  readonly now: () => EpochMs;
  /** Called for every sign-in attempt, even if the page doesn't exist. */
  readonly onSignIn?: (slug: string, result: SignInResult) => void;
  /** Absent: subscriptions are off. */
  readonly subscriptions?: Subscriptions;
}

interface GateQuestion {
  readonly address: Address & { readonly kind: 'page' };
  readonly query: URLSearchParams;
  readonly method: GateRequest['method'];
  readonly clientAddress: string;
}

/** Signs visitors in and out; null: no page of this site has a gate. */
export async function gateAnswer(deps: GateDeps, request: IncomingMessage, question: GateQuestion) {
  const { address, method } = question;
  const result = await deps.access.handle(await gateRequestOf(deps, request, question));
  if (result === null) return null;
  const signedIn = method === 'POST' ? signInResultOf(address.path, result) : null;
  if (signedIn !== null) deps.onSignIn?.(address.slug, signedIn);
  return gateReply(result);
}

/** Null: respond as for a page that doesn't exist. */
export async function subscribeAnswer(deps: GateDeps, request: IncomingMessage, question: GateQuestion) {
  if (deps.subscriptions === undefined) return null;
  const { subscriptions } = deps;
  const handle = async (asked: GateRequest): Promise<GateResponse | null> => {
    const page = deps.access.pageOf(asked.slug);
    // For pages that don't exist too, so that the response time reveals nothing.
    const principal = await deps.access.principalOf(asked);
    return subscriptions.handle(asked, canView(principal, page));
  };
  const asked = await gateRequestOf(deps, request, question);
  const { orHome } = question.address;
  // Links in emails outlive the languages of a home page, and the folder of a language looks like a page.
  const result =
    (await handle(asked)) ?? (orHome === undefined ? null : await handle({ ...asked, ...placeOf(orHome) }));
  return result === null ? null : gateReply(result);
}

function placeOf({ slug, base, path }: GateQuestion['address']): Pick<GateRequest, 'slug' | 'base' | 'path'> {
  return { slug, base, path: path.replace(/index\.html$/, '') };
}

/** Reads a request's body and reduces it to what gates and forms need. */
async function gateRequestOf(
  deps: GateDeps,
  request: IncomingMessage,
  { address, query, method, clientAddress }: GateQuestion,
): Promise<GateRequest> {
  const { isHttpsSite: isSecure } = deps;
  return {
    ...{ method, query, clientAddress, isSecure, ...placeOf(address) },
    form: method === 'POST' ? readForm(request.headers, await readBody(request)) : new URLSearchParams(),
    cookie: request.headers.cookie ?? null,
    ...originFacts(request.headers, isSecure),
    now: deps.now(),
  };
}

/** The request of a browser returning from an identity provider, as a gate request. */
export function returnRequest(request: OwnRequest, now: EpochMs): GateRequest {
  const { query, isSecure, clientAddress, headers } = request;
  return {
    ...{ method: 'GET', path: 'login/', slug: '', base: '/', query, isSecure, clientAddress, now },
    ...{ form: new URLSearchParams(), cookie: headers.cookie ?? null, origin: null, fetchSite: null, ownOrigin: '' },
  };
}

/** The result of a sign-in attempt, from its response; null: not an attempt, or not decided yet. */
export function signInResultOf(path: string, { status, headers }: GateResponse): SignInResult | null {
  if (!path.startsWith('login')) return null;
  if (status === 429) return 'limited';
  if (status === 403) return 'refused';
  const isIn = status === 303 && [headers['set-cookie'] ?? []].flat().some((cookie) => SESSION_COOKIE.test(cookie));
  return isIn ? 'signed_in' : null;
}

const SESSION_COOKIE = /^(__Host-)?pharos=./;

export function gateReply({ status, headers, body }: GateResponse): Answer {
  return { status, headers: { 'content-length': Buffer.byteLength(body), ...headers } as OutgoingHttpHeaders, body };
}
