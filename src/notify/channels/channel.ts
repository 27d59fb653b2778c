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

/** How one attempt to send a notice by HTTP ended. */
export type Delivery = Extract<Handover, { outcome: 'delivered' | 'postponed' | 'rejected' }>;

/** The response to a request; its body may be cut. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A kind that is reached by HTTP: address, headers and body. Pure. */
export interface ChannelKind<K extends ChannelKindName> {
  readonly kind: K;
  /**
   * The requests that tell `notice`, in their order, each of which may be sent again. None: such a notice is none of its
   * business, and counts as delivered.
   *
   * @param at when it is sent, for signatures
   */
  readonly requests: (settings: ChannelSettings<K>, notice: Notice, at: EpochMs) => readonly OutgoingRequest[];
  /** Whether a 2xx is what the program documents. Something else may listen at a mistyped address. */
  readonly isTaken: (answer: Answer) => boolean;
  /** Statuses to retry besides the usual ones. */
  readonly retried?: readonly number[];
}

export type ChannelKinds<Names extends ChannelKindName> = { readonly [K in Names]: ChannelKind<K> };

/** A request with a JSON body. */
export function sendJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  method: OutgoingRequest['method'] = 'POST',
): OutgoingRequest {
  return {
    method,
    url,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

/** A body as a JSON object; null: it is none, or it was cut. */
export function parseObject({ body }: Answer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

/**
 * A string or boolean of a JSON object. Programs return the whole message that they were sent, which is too long to be read:
 * of an object that was cut, the first field of that name counts.
 */
export function readField(answer: Answer, name: string): unknown {
  const whole = parseObject(answer);
  if (whole !== null) return whole[name];
  if (!/^\s*\{/.test(answer.body)) return undefined;
  const found = new RegExp(`"${name}"\\s*:\\s*(true|false|"(?:[^"\\\\]|\\\\.)*")`).exec(answer.body)?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as unknown);
}
