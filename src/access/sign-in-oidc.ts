/** Signs visitors in with the site's identity provider. */

import type { GateRequest, GateResponse } from './access.ts';
import { setCookie } from './cookies.ts';
import { callbackAt, isAllowed, type Oidc, type Pending } from './oidc/oidc.ts';
import { ProviderFault } from './oidc/provider.ts';
import type { GateParts } from './parts.ts';
import { beginSession, goTo, inTurn, isFromAllowed, sessionCookie, show, type Visit, visitOf } from './visit.ts';

/** Redirects the browser to the provider, whichever page is requested. */
export async function askProvider(visit: Visit): Promise<GateResponse> {
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
    return refuse(visit, error);
  }
}

/** The redirect address registered at the provider; on the page's own domain if the visitor is there. */
export function chooseCallback({ request, parts }: Visit): string {
  const page = parts.gates.find(request.slug)?.page;
  const own = page === undefined ? null : URL.parse(page.url);
  const isThere = own !== null && own.hostname === URL.parse(request.ownOrigin)?.hostname;
  const site = parts.siteUrl();
  return callbackAt(isThere && own.hostname !== new URL(site).hostname ? own.origin : site);
}

/** Completes a sign-in begun by `askProvider`: lets in people on the page's lists. */
export async function returnFromProvider(request: GateRequest, parts: GateParts, oidc: Oidc): Promise<GateResponse> {
  const pending = oidc.pending(request);
  if (pending === null) return refuse(visitOf(request, parts), null);
  const { slug, base, to } = pending.place;
  const visit = { ...visitOf({ ...request, slug, base }, parts), to };
  return inTurn(visit, 'provider', () => signIn(visit, pending, oidc));
}

async function signIn(visit: Visit, pending: Pending, oidc: Oidc): Promise<GateResponse> {
  const { request, parts, to } = visit;
  const { slug, clientAddress, isSecure, now } = request;
  const admission = await parts.attempts.admit({ kind: 'provider', slug, clientAddress, now });
  if (!admission.isAdmitted) return refuse(visit, null);
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
    const forget = setCookie({ role: 'provider', isSecure, value: '', maxAgeSeconds: 0 });
    return goTo(visit, to, [sessionCookie(visit, id), forget]);
  } catch (error) {
    // The attempt does not count either while the provider is unreachable.
    if (error instanceof ProviderFault && error.kind === 'away') await parts.attempts.forgive(admission.attempt);
    return refuse(visit, error);
  }
}

function refuse(visit: Visit, error: unknown): Promise<GateResponse> {
  if (error !== null && !(error instanceof ProviderFault)) throw error;
  if (error !== null) visit.parts.onError(error, 'identity provider');
  if (error?.kind === 'away')
    return show(visit, { status: 503, step: 'sign-in', fault: 'provider-away', retryAfterSeconds: 30 });
  return show(visit, { status: 403, step: 'sign-in', fault: 'provider-refused' });
}
