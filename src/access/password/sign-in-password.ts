/** Signing in with the password of a page. */

import type { GateResponse } from '../access.ts';
import { DECOY_HASH, verifyPassword } from '../gate/password-hash.ts';
import { gateKind, readGate } from '../gate/stored-gate.ts';
import { beginSession, goTo, inTurn, isFromAllowed, sessionCookie, show, showLimited, type Visit } from '../visit.ts';

export function signInByPassword(visit: Visit, password: string): Promise<GateResponse> {
  return inTurn(visit, 'password', () => signInNow(visit, password));
}

/** Compares a password with the hash of the page's, or with a decoy where there is no such page, at the same cost. */
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
  if (isRight === null) return null;
  const id =
    isRight && isOpenable
      ? await parts.database.transaction(async (tx) => {
          // The password may have been changed while this one was compared.
          const current = await readGate(tx, known.page.key);
          return current?.version === stored.version ? beginSession(tx, visit, stored.version) : null;
        })
      : null;
  if (id === null) return show(visit, { status: 403, step: 'sign-in', fault: 'wrong' });
  await parts.attempts.forgive(admission.attempt);
  return goTo(visit, visit.to, [sessionCookie(visit, id)]);
}
