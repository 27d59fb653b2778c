/**
 * Sign-in documents as responses. Each is rendered once and then filled in, so that every response takes the same time.
 */

import { createHash } from 'node:crypto';
import type { LoginFault, LoginPrompt } from '../../model/access.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import type { GateResponse } from '../access.ts';
import type { GateKinds } from '../gate/gates.ts';

/**
 * Placeholders for values that differ between requests: letters and dashes, which no escaping changes. None is a prefix
 * of another.
 */
const PLACES = {
  base: '/place-of-base/',
  home: '/place-of-home/',
  to: 'place-of-way-back',
  username: 'place-of-username',
  token: 'place-of-token',
  next: 'https://place-of-next/',
} as const;

type LoginShape = Pick<LoginPrompt, 'step'> & Partial<Pick<LoginPrompt, 'fault' | 'minutes'>>;

export interface LoginAnswer extends LoginShape, Partial<Pick<LoginPrompt, 'token' | 'next'>> {
  readonly status: number;
  readonly cookies?: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** @param localeOf  the language of an address, one of few; null: the site's */
export function createLoginDocuments(
  render: RenderLogin,
  onError: (error: unknown, where: string) => void,
  localeOf: (to: string) => string | null = () => null,
) {
  const drawn = new Map<string, Promise<LoginHtml>>();

  /** If rendering fails, the plain document is used once, and the next request tries again. */
  async function draw(prompt: LoginPrompt, key: string): Promise<LoginHtml> {
    try {
      const document = await render(prompt);
      const needed = prompt.step === 'signed-out' ? PLACES.next : PLACES.base;
      // Once no page has a gate any more, whoever comes back from a provider has nowhere to sign in.
      const hasWay = prompt.step !== 'sign-in' || prompt.hasPassword || prompt.hasEmail || prompt.hasOidc;
      if (hasWay && !document.html.includes(needed)) throw new Error('the sign-in document has no form');
      return document;
    } catch (error) {
      drawn.delete(key);
      onError(error, `sign-in document ${prompt.step}`);
      return plainLogin(prompt);
    }
  }

  return {
    answer: async (answer: LoginAnswer & Pick<LoginPrompt, 'base' | 'to'> & { readonly kinds: GateKinds }) => {
      const { status, kinds, step, fault = null, minutes = 10, base, to, token = '', next = '', ...init } = answer;
      const values: Readonly<Record<string, string>> = {
        [PLACES.base]: base,
        [PLACES.home]: homeAbove(base),
        [PLACES.to]: to,
        [PLACES.username]: usernameOf(base),
        [PLACES.token]: token,
        [PLACES.next]: next,
      };
      const home = base === '/' ? null : PLACES.home;
      const prompt: LoginPrompt = { ...PLACES, step, fault, minutes, locale: localeOf(to), ...kinds, home };
      const key = JSON.stringify(prompt);
      const document = await drawn.getOrInsertComputed(key, () => draw(prompt, key));
      return documentAnswer(document, { ...init, status, values, next, hasSecretAddress: step === 'confirm' });
    },
  };
}

/** The address of the site, one folder above the page. */
function homeAbove(base: string): string {
  return base.replace(/[^/]+\/$/, '');
}

/** User name for password managers: the path of the page as the visitor sees it. */
function usernameOf(base: string): string {
  return base === '/' ? 'status' : base.replace(/^\/|\/$/g, '');
}

// Plain sign-in documents, shown when rendering the themed ones fails.

const PLAIN_STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}' +
  'form{margin:1.5rem 0}label{display:block}input{box-sizing:border-box;width:100%;font:inherit;padding:.5rem}' +
  'button{font:inherit;padding:.5rem 1rem;margin-top:.75rem}.hidden{position:absolute;left:-999rem}';

const PLAIN_CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(PLAIN_STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'`;

const FAULTS: Readonly<Record<LoginFault, string>> = {
  wrong: 'Incorrect password.',
  'wrong-code': 'This code is incorrect or has expired.',
  limited: 'Too many attempts. Try again in {minutes} minutes.',
  invalid: 'Enter a valid email address.',
  expired: 'This link has expired or has already been used. Request a new one.',
  'other-browser': 'Open the link in the browser you requested it from, or enter the code from the email there.',
  refused: 'This request came from another site. Try again here.',
  unavailable: 'Sign-in is temporarily unavailable. Try again in a few minutes.',
  'not-allowed': 'This account doesn’t have access to this page.',
  'provider-refused': 'Signing in with your organisation didn’t work. Try again.',
  'provider-away': 'Your organisation’s sign-in service can’t be reached. Try again in a few minutes.',
};

export async function plainLogin(prompt: LoginPrompt): Promise<LoginHtml> {
  const fault =
    prompt.fault === null
      ? ''
      : `<p role="alert">${FAULTS[prompt.fault].replace('{minutes}', String(prompt.minutes))}</p>`;
  const { title, body } = PLAIN_PARTS[prompt.step](prompt);
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${PLAIN_STYLE}</style></head><body><main><h1>${title}</h1>${fault}${body}</main></body></html>`;
  return { html, csp: PLAIN_CSP };
}

const PLAIN_PARTS: Readonly<Record<LoginPrompt['step'], (prompt: LoginPrompt) => { title: string; body: string }>> = {
  'sign-in': (prompt) => ({
    title: 'This page is private',
    body: `<p>This page doesn’t exist or is private. If you have access, sign in.</p>${prompt.hasPassword ? form(prompt, 'login/', passwordField(prompt)) : ''}${prompt.hasEmail ? form(prompt, 'login/', EMAIL_FIELD) : ''}${prompt.hasOidc ? providerLink(prompt) : ''}${prompt.home === null ? '' : `<p><a href="${escapeMarkup(prompt.home)}">View current status</a></p>`}`,
  }),
  sent: (prompt) => ({
    title: 'Check your email',
    body: `<p>If this address has access, we’ve sent it a sign-in link. The link works once, in this browser, for ${prompt.minutes} minutes.</p>${form(prompt, 'login/code/', CODE_FIELD)}`,
  }),
  confirm: (prompt) => ({
    title: 'Sign in',
    body: form(
      prompt,
      'login/link/',
      `<input type="hidden" name="token" value="${escapeMarkup(prompt.token)}"><button>Sign in</button>`,
    ),
  }),
  'sign-out': (prompt) => ({ title: 'Sign out', body: form(prompt, 'logout', '<button>Sign out</button>') }),
  'signed-out': ({ next }) => ({
    title: 'Signed out',
    body: `<p>You’re signed out here. <a href="${escapeMarkup(next)}">Sign out of your organisation’s account too</a></p>`,
  }),
};

const EMAIL_FIELD =
  '<label for="email">Email address</label><input id="email" name="email" type="email" autocomplete="email" required><button>Send sign-in link</button>';
const CODE_FIELD =
  '<label for="code">Or enter the code from the email</label><input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required><button>Sign in</button>';

function passwordField({ username }: LoginPrompt): string {
  return `<input class="hidden" name="username" autocomplete="username" value="${escapeMarkup(username)}" readonly tabindex="-1" aria-hidden="true"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required autofocus><button>Sign in</button>`;
}

function providerLink({ base, to }: LoginPrompt): string {
  return `<p><a href="${escapeMarkup(`${base}login/oidc/?to=${to}`)}">Sign in with your organisation</a></p>`;
}

function form({ base, to }: LoginPrompt, action: string, fields: string): string {
  return `<form method="post" action="${escapeMarkup(base + action)}"><input type="hidden" name="to" value="${escapeMarkup(to)}">${fields}</form>`;
}

// Sign-in documents as responses: never cached or framed, and without a referrer if their address is secret.

/** A rendered document, with the content security policy for its inline styles and scripts. */
export interface LoginHtml {
  readonly html: string;
  readonly csp: string;
}

export type RenderLogin = (prompt: LoginPrompt) => Promise<LoginHtml>;

/** Headers of every response of the gates. */
export const GATE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'cache-control': 'private, no-store',
  vary: 'Cookie',
});

interface DocumentAnswer extends Pick<LoginAnswer, 'status' | 'cookies' | 'retryAfterSeconds'> {
  /** Placeholders in the document, and the unescaped values to fill in. */
  readonly values: Readonly<Record<string, string>>;
  /** Whether the address of the document contains a token. */
  readonly hasSecretAddress: boolean;
  /** Where the browser continues automatically. Default: nowhere. */
  readonly next?: string;
}

/** Documents, split at their placeholders: all who may not see a page get one. */
const pieces = new WeakMap<LoginHtml, readonly string[]>();

/** Fills in a document; every value is escaped. */
export function documentAnswer(document: LoginHtml, answer: DocumentAnswer): GateResponse {
  const { status, values, hasSecretAddress, retryAfterSeconds, cookies, next = '' } = answer;
  const parts = pieces.getOrInsertComputed(document, ({ html }) =>
    html.split(new RegExp(`(${Object.keys(values).join('|')})`)),
  );
  return {
    status,
    headers: {
      ...GATE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      // frame-ancestors only works as a header, not inside a document.
      'content-security-policy': `${document.csp.replace(/;?\s*frame-ancestors[^;]*/, '')};frame-ancestors 'none'`,
      'cross-origin-resource-policy': 'same-origin',
      // Without a referrer, forms post `Origin: null`; so it is hidden only for pages with a token in their address.
      'referrer-policy': hasSecretAddress ? 'no-referrer' : 'same-origin',
      'x-robots-tag': 'noindex',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(next === '' ? {} : { refresh: `0; url=${next}` }),
      ...(cookies === undefined ? {} : { 'set-cookie': cookies }),
    },
    body: parts.map((part, index) => (index % 2 === 0 ? part : escapeMarkup(values[part] ?? ''))).join(''),
  };
}
