/** The addresses where visitors subscribe to a page. */

import type { IncomingMessage } from 'node:http';
import { canView } from '../../access/access.ts';
import type { Subscriptions } from '../../notify/subscriptions.ts';
import type { Answer } from '../answer.ts';
import { type GateDeps, type GateQuestion, gateReply, gateRequestOf } from './gate-answer.ts';

export interface SubscribeDeps extends GateDeps {
  /** Absent: subscriptions are off. */
  readonly subscriptions?: Subscriptions;
}

/** Null: respond as for a page that doesn't exist. */
export async function subscribeAnswer(
  deps: SubscribeDeps,
  request: IncomingMessage,
  question: GateQuestion,
): Promise<Answer | null> {
  if (deps.subscriptions === undefined) return null;
  const asked = await gateRequestOf(deps, request, question);
  const page = deps.access.pageOf(asked.slug);
  // For pages that don't exist too, so that the response time reveals nothing.
  const principal = await deps.access.principalOf(asked);
  const result = await deps.subscriptions.handle(asked, canView(principal, page));
  return result === null ? null : gateReply(result);
}
