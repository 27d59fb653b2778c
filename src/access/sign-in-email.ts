/** Signs visitors in by email: a link or code, used in the same browser. */

import { canonicalMailbox, parseEmailAddress } from '../mail/mail.ts';
import type { PageKey } from '../model/slugs.ts';
import type { Writer } from '../store/database.ts';
import type { GateResponse } from './access.ts';
import { type Redeemed, recordChallenge, redeemCode, redeemLink } from './challenges.ts';
import { readCookie, setCookie } from './cookies.ts';
import { isToken, newToken } from './digest.ts';
import { domainsOf } from './gate/stored-gate.ts';
import { LINK_LIFE_MS } from './limits.ts';
import { beginSession, goTo, isFromAllowed, sessionCookie, show, showLimited, type Visit } from './visit.ts';

/** Records the request and responds. Neither the response nor its timing reveals whether an email is sent. */
export async function askForMail(visit: Visit, typed: string): Promise<GateResponse> {
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
  const countMail = await parts.attempts.mailCounter(email === null ? typed : canonicalMailbox(email));
  // The nonce stays the same for a second request, so that the first email still works.
  const presented = readCookie(request.cookie, 'asking', isSecure);
  const nonce = isToken(presented) ? presented : newToken(parts.random);
  await parts.database.transaction(async (tx) => {
    const isCounted = await countMail(tx, now);
    const address = isAllowed && isCounted ? email.address : null;
    const version = gate?.kind === 'email-domain' ? gate.version : '';
    await recordChallenge(
      tx,
      { page: parts.gates.keyOf(slug), version, nonce, to, address, attempt: admission.attempt, now },
      parts.random,
    );
  });
  parts.mailSoon();
  const asking = setCookie({ role: 'asking', isSecure, value: nonce, maxAgeSeconds: LINK_LIFE_MS / 1_000 });
  return goTo(visit, `login/sent/${to === '' ? '' : `?to=${encodeURIComponent(to)}`}`, [asking]);
}

/** Last step of a link. Only by POST, because email scanners open links. */
export async function signInByLink(visit: Visit, token: string): Promise<GateResponse> {
  const way = await redeem(visit, (tx, redemption) => redeemLink(tx, redemption, token));
  if (way !== null) return way;
  const fault = askingNonce(visit) === null ? 'other-browser' : 'expired';
  return show(visit, { status: 403, step: fault === 'expired' ? 'sign-in' : 'sent', fault });
}

/** The same with the code from the email. Attempts are counted, wherever they come from. */
export async function signInByCode(visit: Visit, typed: string): Promise<GateResponse> {
  const { slug, clientAddress, now } = visit.request;
  const { attempts } = visit.parts;
  const admission = await attempts.admit({ kind: 'code', slug, clientAddress, now });
  if (!admission.isAdmitted) return showLimited(visit, 'sent', admission.retryAfterMs);
  const way = await redeem(visit, (tx, redemption) => redeemCode(tx, redemption, typed.replace(/[\s-]/g, '')));
  if (way === null) return show(visit, { status: 403, step: 'sent', fault: 'wrong-code' });
  await attempts.forgive(admission.attempt);
  return way;
}

type Redeem = (
  tx: Writer,
  redemption: { page: PageKey; version: string; nonce: string; now: Visit['request']['now'] },
) => Promise<Redeemed | null>;

async function redeem(visit: Visit, use: Redeem): Promise<GateResponse | null> {
  const { slug, now } = visit.request;
  const nonce = askingNonce(visit);
  if (nonce === null) return null;
  const gate = (await visit.parts.gates.current(slug))?.gated.gate;
  const version = gate?.kind === 'email-domain' ? gate.version : '';
  const page = visit.parts.gates.keyOf(slug);
  const begun = await visit.parts.database.transaction(async (tx) => {
    const redeemed = await use(tx, { page, version, nonce, now });
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
