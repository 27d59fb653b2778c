/** Renders the pages of subscriptions. What differs only by visitor is filled in afterwards, so each page is rendered once. */

import { LRUCache } from 'lru-cache';
import type { GateResponse } from '../access/access.ts';
import { documentAnswer } from '../access/login/document-answer.ts';
import type { LoginHtml } from '../access/login/login-prompt.ts';
import { type SubscribeInit, type SubscribeView, subscribeView } from '../views/subscribe/subscribe.ts';

export type RenderSubscribe = (view: SubscribeView) => Promise<LoginHtml>;

/** Placeholders for what differs between requests; letters and dashes survive any escaping. */
const PLACES = { base: '/place-of-base/', token: 'place-of-token' } as const;
/** Rendered pages kept in memory. */
const KEPT_MAX = 200;

interface SubscribeAnswer extends SubscribeInit {
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

export type AnswerSubscribe = (answer: SubscribeAnswer) => Promise<GateResponse>;

export function createSubscribeDocuments(render: RenderSubscribe): AnswerSubscribe {
  const drawn = new LRUCache<string, Promise<LoginHtml>>({ max: KEPT_MAX });

  function drawTemplate(init: SubscribeInit): Promise<LoginHtml> {
    const key = JSON.stringify(init);
    const known = drawn.get(key);
    if (known !== undefined) return known;
    const made = render(subscribeView(init));
    made.catch(() => drawn.delete(key));
    drawn.set(key, made);
    return made;
  }

  return async ({ status, retryAfterSeconds, ...init }) => {
    const hasToken = init.token !== '';
    const document = await drawTemplate({ ...init, base: PLACES.base, token: hasToken ? PLACES.token : '' });
    const values: Readonly<Record<string, string>> = { [PLACES.base]: init.base, [PLACES.token]: init.token };
    return documentAnswer(document, { status, values, hasSecretAddress: hasToken, retryAfterSeconds });
  };
}
