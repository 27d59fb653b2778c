/** What a kind of channel is: a notice, in the form that the program at the other end documents. */

import type { ChannelKindName, ChannelSettings } from '../../config/notifications.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Handover } from '../../outbox/outbox.ts';
import type { Notice } from '../notice.ts';

/** One HTTP request, to be sent as it is. */
export interface OutgoingRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How one attempt to hand over a notice by HTTP ended. */
export type Delivery = Extract<Handover, { outcome: 'delivered' | 'postponed' | 'rejected' }>;

/** What came back, as far as it was read. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One file per kind that is reached by HTTP: address, headers and body. Pure. */
export interface ChannelKind<K extends ChannelKindName> {
  readonly kind: K;
  /**
   * The request that tells `notice`; null: such a notice is none of its business, and counts as delivered.
   *
   * @param at when it is sent: what is signed says so
   */
  readonly request: (settings: ChannelSettings<K>, notice: Notice, at: EpochMs) => OutgoingRequest | null;
  /** Whether a 2xx is the answer that the program documents. Something else may listen at a mistyped address. */
  readonly isTaken: (answer: Answer) => boolean;
}

/** A request with a JSON body. */
export function postJson(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): OutgoingRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

/** A body as a JSON object; null: it is none. */
export function jsonIn({ body }: Answer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
