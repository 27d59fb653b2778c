/** One request to the gates, with everything needed to answer it. */

import type { Writer } from '../store/database.ts';
import { type GatedPage, type GateRequest, type GateResponse, safeBase, safeReturnTo } from './access.ts';
import { clientNetwork } from './client-address.ts';
import { readCookie, setCookie } from './cookies.ts';
import { GATE_HEADERS, type LoginAnswer } from './login/login-documents.ts';
import type { GateParts } from './parts.ts';
import type { PresentedSession } from './sessions.ts';

export type Visit = ReturnType<typeof visitOf>;

export function visitOf(request: GateRequest, parts: GateParts) {
  return {
    request,
    parts,
    base: safeBase(request.base),
    /** Where to return to, relative to `base`. */
    to: safeReturnTo(request.form.get('to') ?? request.query.get('to')),
  };
}

/** Answers with a sign-in document. */
export function show({ parts, base, to }: Visit, answer: LoginAnswer): Promise<GateResponse> {
  return parts.documents.answer({ kinds: parts.gates.kinds(), base, to, ...answer });
}

/** Answers an attempt that came too soon. */
export function showLimited(visit: Visit, step: LoginAnswer['step'], retryAfterMs: number): Promise<GateResponse> {
  return show(visit, {
    status: 429,
    step,
    fault: 'limited',
    minutes: Math.ceil(retryAfterMs / 60_000),
    retryAfterSeconds: Math.ceil(retryAfterMs / 1_000),
  });
}

/** Redirects the visitor to an address below the page's own. */
export function goTo({ base }: Pick<Visit, 'base'>, to: string, cookies: readonly string[] = []): GateResponse {
  return {
    status: 303,
    headers: {
      ...GATE_HEADERS,
      location: base + to,
      'referrer-policy': 'same-origin',
      ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    },
    body: '',
  };
}

/** Whether the gate allows sign-ins from the visitor's address. */
export function isFromAllowed({ request }: Visit, { gate }: GatedPage): boolean {
  if (gate.kind === 'public' || gate.addresses === null) return true;
  return gate.addresses.isEnough || gate.addresses.includes(request.clientAddress);
}

export function presentedSession({ request }: Visit): PresentedSession {
  const { isSecure, cookie } = request;
  return { id: readCookie(cookie, 'session', isSecure), isSecure };
}

/** Begins a session for a page inside a transaction; returns the value of its cookie, to be sent after the commit. */
export async function beginSession(tx: Writer, visit: Visit, version: string, identity: string | null = null) {
  const { slug, now } = visit.request;
  const grant = { page: visit.parts.gates.keyOf(slug), version, identity };
  return visit.parts.sessions.begin(tx, presentedSession(visit), grant, now);
}

export function sessionCookie({ request }: Visit, id: string): string {
  return setCookie('session', request.isSecure, id, null);
}

/**
 * Evaluates sign-ins from one network one after the other. Every attempt is counted before it is evaluated, so several
 * correct ones at the same time would otherwise count as guesses for a moment. Null: too many are waiting.
 */
export async function inTurn(visit: Visit, by: 'password' | 'provider', sign: () => Promise<GateResponse | null>) {
  const { request, parts } = visit;
  const { clientAddress } = request;
  const turns = clientAddress === '' ? null : parts.turns.memo(`${by} ${clientNetwork(clientAddress)}`);
  const answer = await (turns === null ? sign() : turns.run(sign));
  return answer ?? show(visit, { status: 503, step: 'sign-in', fault: 'unavailable', retryAfterSeconds: 30 });
}
