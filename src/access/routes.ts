/** The gates' addresses below a page: what each does on GET and on POST. */

import { canonicalMailbox, parseEmailAddress } from '../mail/mail.ts';
import { canView, type GateRequest, type GateResponse, isSameOrigin, isSameOriginOrOpaque } from './access.ts';
import { readCookie, setCookie } from './cookies.ts';
import { isToken, newToken } from './digest.ts';
import { DECOY_HASH, verifyPassword } from './gate/password-hash.ts';
import { domainsOf, gateKind, readGate } from './gate/stored-gate.ts';
import { callbackAt, isAllowed, type Oidc, type Pending } from './oidc/oidc.ts';
import { ProviderFault } from './oidc/provider.ts';
import type { GateParts } from './parts.ts';
import { LINK_LIFE_MS, type Redeem, recordChallenge, redeemCode, redeemLink } from './sign-in-mail.ts';
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
  visitOf,
} from './visit.ts';

type Act = (visit: Visit) => Promise<GateResponse>;

/** By path below the page, without a trailing slash. */
export const GATE_ROUTES: Readonly<Record<string, { readonly get?: Act; readonly post?: Act }>> = {
  login: { get: showForms, post: guarded(signIn) },
  'login/sent': { get: (visit) => show(visit, { status: 200, step: 'sent' }) },
  'login/code': { post: guarded(signInByCode) },
  'login/link': { get: confirmLink, post: signInByLink },
  'login/oidc': { get: askProvider },
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
  const principal = await visit.parts.principals.principalOf(visit.request);
  const page = visit.parts.gates.find(visit.request.slug)?.gated ?? null;
  return canView(principal, page) ? goTo(visit, visit.to) : show(visit, { status: 200, step: 'sign-in' });
}

async function signIn(visit: Visit): Promise<GateResponse> {
  const password = visit.request.form.get('password');
  if (password !== null && password !== '') return inTurn(visit, 'password', () => signInByPassword(visit, password));
  const email = visit.request.form.get('email');
  if (email !== null && email.trim() !== '') return askForMail(visit, email);
  return show(visit, { status: 400, step: 'sign-in', fault: email === null ? 'wrong' : 'invalid' });
}

/** Looks nothing up, so a mail scanner that opens the link changes and learns nothing. */
function confirmLink(visit: Visit): Promise<GateResponse> {
  return show(visit, { status: 200, step: 'confirm', token: visit.request.query.get('token') ?? '' });
}

async function signOut(visit: Visit): Promise<GateResponse> {
  const { principals, sessions, oidc } = visit.parts;
  const { isSecure, now } = visit.request;
  const presented = presentedSession(visit);
  const grants = [...(await sessions.findGrants(presented, now)).values()];
  await principals.end(presented);
  const cookies = [setCookie('session', isSecure, '', 0)];
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

function guarded(act: Act): Act {
  return (visit) => (isSameOrigin(visit.request) ? act(visit) : refuse(visit));
}

function refuse(visit: Visit): Promise<GateResponse> {
  return show(visit, { status: 403, step: 'sign-in', fault: 'refused' });
}

/** Compares a password with the page's hash, or with a decoy if there is no such page, at the same cost. */
async function signInByPassword(visit: Visit, password: string): Promise<GateResponse | null> {
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
  if (isRight === null || (isRight && known?.isForeign === true)) {
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

// Sign-in by email: a link or code, used in the same browser.

/** Records the request and responds. Neither the response nor its timing reveals whether an email is sent. */
async function askForMail(visit: Visit, typed: string): Promise<GateResponse> {
  const { request, parts, to } = visit;
  const { slug, clientAddress, isSecure, now } = request;
  const admission = await parts.attempts.admit({ kind: 'mail', slug, clientAddress, now });
  if (!admission.isAdmitted) return showLimited(visit, 'sign-in', admission.retryAfterMs);
  const known = await parts.gates.current(slug);
  const gate = known?.gated.gate;
  const email = parseEmailAddress(typed);
  const isAllowed =
    email !== null &&
    known?.page.access === 'email-domain' &&
    domainsOf(known.page).includes(email.domain) &&
    isFromAllowed(visit, known.gated);
  const mailbox = email === null ? typed : canonicalMailbox(email);
  // The nonce stays the same for a second request, so that the first email still works.
  const presented = readCookie(request.cookie, 'asking', isSecure);
  const nonce = isToken(presented) ? presented : newToken(parts.random);
  await parts.database.transaction(async (tx) => {
    const isCounted = await parts.attempts.countMail(tx, 'mailbox', mailbox, now);
    const address = isAllowed && isCounted ? email.address : null;
    const version = gate?.kind === 'email-domain' ? gate.version : '';
    const { attempt } = admission;
    const isAtSite = URL.parse(request.ownOrigin)?.hostname === new URL(parts.siteUrl()).hostname;
    const init = { page: parts.gates.keyOf(slug), version, nonce, to, isAtSite, address, attempt, now };
    await recordChallenge(tx, init, parts.random);
  });
  parts.mailSoon();
  const asking = setCookie('asking', isSecure, nonce, LINK_LIFE_MS / 1_000);
  return goTo(visit, `login/sent/${to === '' ? '' : `?to=${encodeURIComponent(to)}`}`, [asking]);
}

/** Last step of a link. Only by POST, because email scanners open links. */
async function signInByLink(visit: Visit): Promise<GateResponse> {
  // The token makes the form unforgeable.
  if (!isSameOriginOrOpaque(visit.request)) return refuse(visit);
  const way = await redeem(visit, redeemLink, visit.request.form.get('token') ?? '');
  if (way !== null) return way;
  const fault = askingNonce(visit) === null ? 'other-browser' : 'expired';
  return show(visit, { status: 403, step: fault === 'expired' ? 'sign-in' : 'sent', fault });
}

/** The same with the code from the email. Attempts are counted, wherever they come from. */
async function signInByCode(visit: Visit): Promise<GateResponse> {
  const { slug, clientAddress, now, form } = visit.request;
  const { attempts } = visit.parts;
  const admission = await attempts.admit({ kind: 'code', slug, clientAddress, now });
  if (!admission.isAdmitted) return showLimited(visit, 'sent', admission.retryAfterMs);
  const way = await redeem(visit, redeemCode, (form.get('code') ?? '').replace(/[\s-]/g, ''));
  if (way === null) return show(visit, { status: 403, step: 'sent', fault: 'wrong-code' });
  await attempts.forgive(admission.attempt);
  return way;
}

async function redeem(visit: Visit, use: Redeem, secret: string): Promise<GateResponse | null> {
  const { slug, now } = visit.request;
  const nonce = askingNonce(visit);
  if (nonce === null) return null;
  const gate = (await visit.parts.gates.current(slug))?.gated.gate;
  const version = gate?.kind === 'email-domain' ? gate.version : '';
  const page = visit.parts.gates.keyOf(slug);
  const begun = await visit.parts.database.transaction(async (tx) => {
    const redeemed = await use(tx, { page, version, nonce, now }, secret);
    return redeemed === null || version === '' ? null : { ...redeemed, id: await beginSession(tx, visit, version) };
  });
  if (begun === null) return null;
  await visit.parts.attempts.forgive(begun.attempt);
  return goTo(visit, begun.to, [sessionCookie(visit, begun.id)]);
}

function askingNonce({ request }: Visit): string | null {
  const nonce = readCookie(request.cookie, 'asking', request.isSecure);
  return isToken(nonce) ? nonce : null;
}

// Signs visitors in with the site's identity provider.

/** Redirects the browser to the provider, whichever page is requested. */
async function askProvider(visit: Visit): Promise<GateResponse> {
  const { request, parts, base, to } = visit;
  const { slug, isSecure, now } = request;
  const client = parts.oidc.client('visitors');
  if (client === null || !parts.gates.kinds().hasOidc) return show(visit, { status: 404, step: 'sign-in' });
  try {
    const place = { purpose: 'visitors', slug, base, to } as const;
    const { url, cookie } = await parts.oidc.begin(client, place, {
      isSecure,
      now,
      redirectUri: chooseCallback(visit),
    });
    const going = goTo(visit, '', [cookie]);
    return { ...going, headers: { ...going.headers, location: url } };
  } catch (error) {
    return refuseProvider(visit, error);
  }
}

/** The redirect address registered at the provider; on the page's own domain if the visitor is there. */
function chooseCallback({ request, parts }: Visit): string {
  const page = parts.gates.find(request.slug)?.page;
  const own = page === undefined ? null : URL.parse(page.url);
  const isThere = own !== null && own.hostname === URL.parse(request.ownOrigin)?.hostname;
  const site = parts.siteUrl();
  return callbackAt(isThere && own.hostname !== new URL(site).hostname ? own.origin : site);
}

/** Completes a sign-in begun by `askProvider`: lets in people on the page's lists. */
export async function returnFromProvider(request: GateRequest, parts: GateParts, oidc: Oidc): Promise<GateResponse> {
  const pending = oidc.pending(request);
  if (pending === null) return refuseProvider(visitOf(request, parts), null);
  const { slug, base, to } = pending.place;
  const visit = { ...visitOf({ ...request, slug, base }, parts), to };
  return inTurn(visit, 'provider', () => signInByProvider(visit, pending, oidc));
}

async function signInByProvider(visit: Visit, pending: Pending, oidc: Oidc): Promise<GateResponse> {
  const { request, parts, to } = visit;
  const { slug, clientAddress, isSecure, now } = request;
  const admission = await parts.attempts.admit({ kind: 'provider', slug, clientAddress, now });
  if (!admission.isAdmitted) return refuseProvider(visit, null);
  try {
    const { client, ...identified } = await oidc.finish(pending, request.query);
    // Anyone with an account was not guessing, whether on the lists or not.
    await parts.attempts.forgive(admission.attempt);
    const known = await parts.gates.current(slug);
    const gate = known?.gated.gate;
    const isOpen =
      known !== null &&
      gate?.kind === 'oidc' &&
      known.stored?.version === gate.version &&
      isFromAllowed(visit, known.gated) &&
      isAllowed(known.page, identified.person);
    if (!isOpen) return show(visit, { status: 403, step: 'sign-in', fault: 'not-allowed' });
    const id = await parts.database.transaction(async (tx) =>
      beginSession(tx, visit, gate.version, await oidc.identities.keep(tx, client, identified, now)),
    );
    const forget = setCookie('provider', isSecure, '', 0);
    return goTo(visit, to, [sessionCookie(visit, id), forget]);
  } catch (error) {
    // The attempt does not count either while the provider is unreachable.
    if (error instanceof ProviderFault && error.kind === 'away') await parts.attempts.forgive(admission.attempt);
    return refuseProvider(visit, error);
  }
}

function refuseProvider(visit: Visit, error: unknown): Promise<GateResponse> {
  if (error !== null && !(error instanceof ProviderFault)) throw error;
  if (error !== null) visit.parts.onError(error, 'identity provider');
  if (error?.kind === 'away')
    return show(visit, { status: 503, step: 'sign-in', fault: 'provider-away', retryAfterSeconds: 30 });
  return show(visit, { status: 403, step: 'sign-in', fault: 'provider-refused' });
}
