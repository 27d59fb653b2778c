/** The gates' addresses below a page: what each does on GET and on POST. */

import { canView, type GateResponse } from './access.ts';
import { setCookie } from './cookies.ts';
import { DECOY_HASH, verifyPassword } from './gate/password-hash.ts';
import { gateKind, readGate } from './gate/stored-gate.ts';
import { isSameOrigin, isSameOriginOrOpaque } from './same-origin.ts';
import { askForMail, signInByCode, signInByLink } from './sign-in-email.ts';
import { askProvider, chooseCallback } from './sign-in-oidc.ts';
import {
  beginSession,
  goTo,
  inTurn,
  isFromAllowed,
  presentedSession,
  sessionCookie,
  show,
  showLimited,
  type Visit,
} from './visit.ts';

interface Route {
  readonly get: ((visit: Visit) => Promise<GateResponse>) | null;
  readonly post: ((visit: Visit) => Promise<GateResponse>) | null;
}

/** By path below the page, without a trailing slash. */
export const GATE_ROUTES: Readonly<Record<string, Route>> = {
  login: { get: showForms, post: guarded(signIn) },
  'login/sent': { get: (visit) => show(visit, { status: 200, step: 'sent' }), post: null },
  'login/code': { get: null, post: guarded((visit) => signInByCode(visit, visit.request.form.get('code') ?? '')) },
  'login/link': { get: confirmLink, post: useLink },
  'login/oidc': { get: askProvider, post: null },
  logout: { get: (visit) => show(visit, { status: 200, step: 'sign-out' }), post: guarded(signOut) },
};

/** Answers a request to one of these addresses; any other is answered like a missing page. */
export async function answerRoute(visit: Visit): Promise<GateResponse> {
  const { method, path } = visit.request;
  const name = path.replace(/\/$/, '');
  const route = Object.hasOwn(GATE_ROUTES, name) ? GATE_ROUTES[name] : undefined;
  const act = method === 'POST' ? route?.post : route?.get;
  return act?.(visit) ?? show(visit, { status: 404, step: 'sign-in' });
}

/** Visitors who are already signed in go straight to the page. */
async function showForms(visit: Visit): Promise<GateResponse> {
  const principal = await visit.parts.principalOf(visit.request);
  const page = visit.parts.gates.find(visit.request.slug)?.gated ?? null;
  return canView(principal, page) ? goTo(visit, visit.to) : show(visit, { status: 200, step: 'sign-in' });
}

async function signIn(visit: Visit): Promise<GateResponse> {
  const password = visit.request.form.get('password');
  if (password !== null && password !== '') return signInByPassword(visit, password);
  const email = visit.request.form.get('email');
  if (email !== null && email.trim() !== '') return askForMail(visit, email);
  return show(visit, { status: 400, step: 'sign-in', fault: email === null ? 'wrong' : 'invalid' });
}

/** Looks nothing up, so a mail scanner that opens the link changes and learns nothing. */
function confirmLink(visit: Visit): Promise<GateResponse> {
  return show(visit, { status: 200, step: 'confirm', token: visit.request.query.get('token') ?? '' });
}

async function useLink(visit: Visit): Promise<GateResponse> {
  // The token makes the form unforgeable.
  if (!isSameOriginOrOpaque(visit.request)) return refuse(visit);
  return signInByLink(visit, visit.request.form.get('token') ?? '');
}

async function signOut(visit: Visit): Promise<GateResponse> {
  const { endSession, sessions, oidc } = visit.parts;
  const { isSecure, now } = visit.request;
  const presented = presentedSession(visit);
  const grants = [...(await sessions.findGrants(presented, now)).values()];
  await endSession(presented);
  const cookies = [setCookie({ role: 'session', isSecure, value: '', maxAgeSeconds: 0 })];
  const client = oidc.client('visitors');
  const identity = grants.find((grant) => grant.identity !== null)?.identity ?? null;
  const next =
    client === null || identity === null
      ? null
      : await oidc.identities.signOutUrl(client, identity, chooseCallback(visit));
  if (identity !== null) await oidc.identities.end(identity);
  // Not a redirect: under our policy, browsers don't follow a redirect to another site after a form.
  return next === null ? goTo(visit, '', cookies) : show(visit, { status: 200, step: 'signed-out', next, cookies });
}

function guarded(act: (visit: Visit) => Promise<GateResponse>): (visit: Visit) => Promise<GateResponse> {
  return (visit) => (isSameOrigin(visit.request) ? act(visit) : refuse(visit));
}

function refuse(visit: Visit): Promise<GateResponse> {
  return show(visit, { status: 403, step: 'sign-in', fault: 'refused' });
}

/** Signs in with the password of a page. */
function signInByPassword(visit: Visit, password: string): Promise<GateResponse> {
  return inTurn(visit, 'password', () => signInNow(visit, password));
}

/** Compares a password with the page's hash, or with a decoy if there is no such page, at the same cost. */
async function signInNow(visit: Visit, password: string): Promise<GateResponse | null> {
  const { request, parts } = visit;
  const { slug, clientAddress, now } = request;
  const admission = await parts.attempts.admit({ kind: 'password', slug, clientAddress, now });
  if (!admission.isAdmitted) return showLimited(visit, 'sign-in', admission.retryAfterMs);
  const known = await parts.gates.current(slug);
  const stored = known?.stored;
  const isOpenable =
    known?.page.access === 'password' && stored?.kind === gateKind(known.page) && isFromAllowed(visit, known.gated);
  const hash = isOpenable ? stored.secret : DECOY_HASH;
  const isRight = await parts.hashing.run(() => verifyPassword(password, hash));
  if (isRight === null) {
    await parts.attempts.forgive(admission.attempt);
    return null;
  }
  const id =
    isRight && isOpenable
      ? await parts.database.transaction(async (tx) => {
          // The password may have changed during the comparison.
          const current = await readGate(tx, known.page.key);
          return current?.version === stored.version ? beginSession(tx, visit, stored.version) : null;
        })
      : null;
  if (id === null) return show(visit, { status: 403, step: 'sign-in', fault: 'wrong' });
  await parts.attempts.forgive(admission.attempt);
  return goTo(visit, visit.to, [sessionCookie(visit, id)]);
}
