/** The documents of the gates without any theme: what is shown when the renderer cannot draw its own. */

import { createHash } from 'node:crypto';
import type { LoginFault, LoginPrompt } from '../../model/login.ts';
import { escapeMarkup } from '../../model/markup.ts';
import type { LoginHtml } from './login-prompt.ts';

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}' +
  'form{margin:1.5rem 0}label{display:block}input{box-sizing:border-box;width:100%;font:inherit;padding:.5rem}' +
  'button{font:inherit;padding:.5rem 1rem;margin-top:.75rem}.hidden{position:absolute;left:-999rem}';

const CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'`;

const FAULTS: Readonly<Record<LoginFault, string>> = {
  wrong: 'That is not the password of a page at this address.',
  'wrong-code': 'That code does not fit, or it has expired.',
  limited: 'Too many tries. Please wait {minutes} minutes.',
  invalid: 'Please enter a complete e-mail address.',
  expired: 'This link has expired or was used already. Please ask for a new one.',
  'other-browser':
    'Please open the link in the browser in which you asked for it, or type the code from the mail there.',
  refused: 'That came from another site. Please try again here.',
  unavailable: 'Signing in does not work at the moment. Please try again in a few minutes.',
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
    title: 'Nothing to see here without signing in',
    body: `<p>There is no page at this address, or it is private.</p>${prompt.hasPassword ? passwordForm(prompt) : ''}${prompt.hasEmail ? emailForm(prompt) : ''}`,
  }),
  sent: (prompt) => ({
    title: 'Please look into your mail',
    body: `<p>If this address may see the page, a mail is on its way. Its link works once, for ${prompt.minutes} minutes, in this browser.</p>${codeForm(prompt)}`,
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
};

function passwordForm(prompt: LoginPrompt): string {
  return form(
    prompt,
    'login/',
    `<input class="hidden" name="username" autocomplete="username" value="${escapeMarkup(prompt.username)}" readonly tabindex="-1" aria-hidden="true"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required autofocus><button>Show the page</button>`,
  );
}

function emailForm(prompt: LoginPrompt): string {
  return form(
    prompt,
    'login/',
    '<label for="email">E-mail address</label><input id="email" name="email" type="email" autocomplete="email" required><button>Send a link</button>',
  );
}

function codeForm(prompt: LoginPrompt): string {
  return form(
    prompt,
    'login/code/',
    '<label for="code">Or type the code from the mail</label><input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required><button>Sign in</button>',
  );
}

function form({ base, to }: LoginPrompt, action: string, fields: string): string {
  return `<form method="post" action="${escapeMarkup(base + action)}"><input type="hidden" name="to" value="${escapeMarkup(to)}">${fields}</form>`;
}
