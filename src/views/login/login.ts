/** What stands before pages that are not public. Takes no model: it must not say what is behind it, or whether it is. */

import type { LoginFault, LoginPrompt, LoginStep, MailFacts, SealWords } from '../../model/access.ts';
import { buildPlainShell } from '../frame/shell.ts';
import { catalogueTag, fill, findWords, localeDirection, type Words } from '../words/index.ts';

// What a sealed page says before it is open, in the language of the page. It names nothing that is inside.

export function sealWords(locale: string): SealWords {
  const words = findWords(locale);
  return {
    lang: catalogueTag(locale),
    dir: localeDirection(locale),
    title: words.loginTitle,
    label: words.loginPassword,
    submit: words.loginSubmit,
    working: words.sealWorking,
    wrong: words.loginWrong,
    noScript: words.sealNoScript,
    noCrypto: words.sealNoCrypto,
  };
}

// The mail that lets somebody in, in the language of the page. Plain text: nothing to render, nothing to load.

export function loginMail({ locale, title, link, code, minutes }: MailFacts): {
  readonly subject: string;
  readonly text: string;
} {
  const words = findWords(locale);
  const paragraphs = [
    fill(words.mailAsked, { title }),
    `${words.mailLink}\n${link}`,
    fill(words.mailCode, { code }),
    fill(words.mailOnce, { minutes }),
  ];
  return { subject: fill(words.mailSubject, { title }), text: `${paragraphs.join('\n\n')}\n` };
}

const FAULT_WORDS = {
  wrong: 'loginWrong',
  'wrong-code': 'loginWrongCode',
  limited: 'loginLimited',
  invalid: 'loginInvalid',
  expired: 'loginExpired',
  'other-browser': 'loginOtherBrowser',
  refused: 'loginRefused',
  unavailable: 'loginUnavailable',
  'not-allowed': 'loginNotAllowed',
  'provider-refused': 'loginProviderRefused',
  'provider-away': 'loginProviderAway',
} as const satisfies Record<LoginFault, keyof Words>;

type LoginInit = LoginPrompt & { readonly locale: string };

const FIELDS = {
  password: { type: 'password', autocomplete: 'current-password' },
  email: { type: 'email', autocomplete: 'email' },
  code: { type: 'text', autocomplete: 'one-time-code' },
} as const;

type LoginField = ReturnType<typeof loginField>;

/** @param isFaulty  the fault is about what was typed here */
export function loginField(kind: keyof typeof FIELDS, label: string, isFaulty: boolean, value = '') {
  return { name: kind as string, ...FIELDS[kind], label, value, isFaulty };
}

/** A form of one field at most. */
export interface LoginForm {
  readonly action: string;
  readonly body: string | null;
  readonly hidden: readonly { readonly name: string; readonly value: string }[];
  readonly username: string | null;
  readonly field: LoginField | null;
  readonly submit: string;
}

export function loginView(init: LoginInit) {
  const { locale, step, fault, minutes } = init;
  const words = findWords(locale);
  const headings: Record<LoginStep, string> = {
    'sign-in': words.loginConfirm,
    sent: words.loginSentTitle,
    confirm: words.loginConfirm,
    'sign-out': words.logout,
    'signed-out': words.loggedOut,
  };
  const bodies: Record<LoginStep, string> = {
    'sign-in': words.loginNeutral,
    sent: fill(words.loginSent, { minutes }),
    confirm: words.loginConfirmBody,
    'sign-out': words.logoutBody,
    'signed-out': words.loggedOutBody,
  };
  return {
    shell: buildPlainShell({ locale, title: headings[step], siteTitle: null, base: '' }),
    heading: headings[step],
    body: bodies[step],
    fault: fault === null ? null : fill(words[FAULT_WORDS[fault]], { minutes }),
    forms: listForms(init, words),
    // To the identity provider. A link, since browsers follow no form to another site under our policy.
    provider:
      step === 'sign-in' && init.hasOidc
        ? { href: `${init.base}login/oidc/?to=${init.to}`, text: words.loginProvider }
        : null,
    // Back to the forms, or to the site.
    again: linkBack(init, words),
  };
}

function linkBack({ step, base, home, next }: LoginInit, words: Words) {
  if (step === 'signed-out') return { href: next, text: words.logoutProvider };
  if (step === 'sent') return { href: `${base}login/`, text: words.loginAgain };
  return step === 'sign-in' && home !== null ? { href: home, text: words.goHome } : null;
}

function listForms(init: LoginInit, words: Words): readonly LoginForm[] {
  const { step, base, to, token, fault } = init;
  const form = (path: string, submit: string, more: Partial<LoginForm> = {}): LoginForm => ({
    ...{ action: base + path, body: null, hidden: [{ name: 'to', value: to }], username: null, field: null, submit },
    ...more,
  });
  if (step === 'signed-out') return [];
  if (step === 'sign-out') return [form('logout', words.logout, { hidden: [] })];
  if (step === 'confirm')
    return [form('login/link/', words.loginConfirm, { hidden: [{ name: 'token', value: token }] })];
  if (step === 'sent') {
    const field = loginField('code', words.loginCode, fault === 'wrong-code');
    return [form('login/code/', words.loginConfirm, { body: words.loginCodeBody, field })];
  }
  const { hasPassword, hasEmail, username } = init;
  const password = loginField('password', words.loginPassword, fault === 'wrong');
  const email = loginField('email', words.loginEmail, fault === 'invalid');
  return [
    ...(hasPassword
      ? [form('login/', words.loginSubmit, { body: words.loginPasswordBody, username, field: password })]
      : []),
    ...(hasEmail ? [form('login/', words.loginSubmitEmail, { body: words.loginEmailBody, field: email })] : []),
  ];
}
