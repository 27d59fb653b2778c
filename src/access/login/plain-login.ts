/** Plain sign-in documents, shown when rendering the themed ones fails. */

import { createHash } from 'node:crypto';
import type { LoginFault, LoginPrompt } from '../../model/access.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import type { LoginHtml } from './document-answer.ts';

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}' +
  'form{margin:1.5rem 0}label{display:block}input{box-sizing:border-box;width:100%;font:inherit;padding:.5rem}' +
  'button{font:inherit;padding:.5rem 1rem;margin-top:.75rem}.hidden{position:absolute;left:-999rem}';

const CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'`;

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
  const { title, body } = DRAW[prompt.step](prompt);
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${fault}${body}</main></body></html>`;
  return { html, csp: CSP };
}

const DRAW: Readonly<Record<LoginPrompt['step'], (prompt: LoginPrompt) => { title: string; body: string }>> = {
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
