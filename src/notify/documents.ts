/** Pages of subscriptions as answers. What differs by visitor only is filled in, so few of them are drawn. */

import { LRUCache } from 'lru-cache';
import type { GateResponse } from '../access/access.ts';
import { GATE_HEADERS } from '../access/login/login-documents.ts';
import type { LoginHtml } from '../access/login/login-prompt.ts';
import { escapeMarkup } from '../model/markup.ts';
import { type SubscribeInit, type SubscribeView, subscribeView } from '../views/subscribe/subscribe.ts';

export type RenderSubscribe = (view: SubscribeView) => Promise<LoginHtml>;

/** Stand in for what differs between requests; letters and dashes survive any escaping. */
const PLACES = { base: '/place-of-base/', token: 'place-of-token' } as const;
const ANY_PLACE = new RegExp(Object.values(PLACES).join('|'), 'g');
/** Forms of different pages, and choices on pages to manage them. */
const KEPT_MAX = 200;

export interface SubscribeAnswer extends SubscribeInit {
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

export type AnswerSubscribe = (answer: SubscribeAnswer) => Promise<GateResponse>;

export function createSubscribeDocuments(render: RenderSubscribe): AnswerSubscribe {
  const drawn = new LRUCache<string, Promise<LoginHtml>>({ max: KEPT_MAX });

  function templateOf(init: SubscribeInit): Promise<LoginHtml> {
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
    const { html, csp } = await templateOf({ ...init, base: PLACES.base, token: hasToken ? PLACES.token : '' });
    const values: Readonly<Record<string, string>> = { [PLACES.base]: init.base, [PLACES.token]: init.token };
    return {
      status,
      headers: {
        ...GATE_HEADERS,
        'content-type': 'text/html; charset=utf-8',
        // A document cannot say itself who may frame it.
        'content-security-policy': `${csp.replace(/;?\s*frame-ancestors[^;]*/, '')};frame-ancestors 'none'`,
        'cross-origin-resource-policy': 'same-origin',
        // An address with a token in it is told to nobody.
        'referrer-policy': hasToken ? 'no-referrer' : 'same-origin',
        'x-robots-tag': 'noindex',
        ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      },
      body: html.replace(ANY_PLACE, (place) => escapeMarkup(values[place] ?? '')),
    };
  };
}
