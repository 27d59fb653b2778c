/** What a kind of channel is: a notice, in the form that the program at the other end documents. */

import type { z } from 'zod';
import type { Notice } from '../notice.ts';

/** One HTTP request, to be sent as it is. */
export interface OutgoingRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How one attempt to hand over a notice ended. */
export type Delivery =
  | { readonly outcome: 'delivered' }
  /** To be tried again; `afterMs` where the other side said when. */
  | { readonly outcome: 'postponed'; readonly reason: string; readonly afterMs: number | null }
  /** Never going to be taken as it is. */
  | { readonly outcome: 'rejected'; readonly reason: string };

/** One file per kind that is reached by HTTP: address, headers and body. Pure. */
export interface ChannelKind<Settings> {
  readonly kind: string;
  /** The settings of an entry under `notifications:`, besides `id`, `kind` and what it is tied to. */
  readonly schema: z.ZodType<Settings>;
  /** The requests that tell `notice`, in order; several where the program takes one recipient at a time. */
  readonly requests: (settings: Settings, notice: Notice) => readonly OutgoingRequest[];
}
