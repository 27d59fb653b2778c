/** The addresses by which visitors subscribe to a page. */

import type { IncomingMessage } from 'node:http';
import { canView } from '../../access/access.ts';
import type { Subscriptions } from '../../notify/subscriptions.ts';
import type { Answer } from '../answer.ts';
import { type GateDeps, type GateQuestion, gateReply, gateRequestOf } from './gate-answer.ts';

export interface SubscribeDeps extends GateDeps {
  /** Absent: nobody can subscribe. */
  readonly subscriptions?: Subscriptions;
}

/** Null: nothing is there for whoever asks, as on any page that is not there. */
export async function subscribeAnswer(
  deps: SubscribeDeps,
  request: IncomingMessage,
  question: GateQuestion,
): Promise<Answer | null> {
  if (deps.subscriptions === undefined) return null;
  const asked = await gateRequestOf(deps, request, question);
  const page = deps.access.pageOf(asked.slug);
  // Asked for pages that do not exist too, so that the time it takes tells nothing.
  const principal = await deps.access.principalOf(asked);
  const result = await deps.subscriptions.handle(asked, canView(principal, page));
  return result === null ? null : gateReply(result);
}
