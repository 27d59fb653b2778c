/** What stands before a page that is not public. Takes no model: it must not say what is behind it. */

import { plainShellOf, type ShellView } from './shell.ts';
import { fill, wordsOf } from './words/index.ts';

/** `password`, `email`: ask for it. `sent`: the answer to any address. `confirm`: the last step of a mailed link. */
export const LOGIN_STEPS = ['password', 'email', 'sent', 'confirm', 'closed'] as const;
export type LoginStep = (typeof LOGIN_STEPS)[number];
export const LOGIN_FAULTS = ['wrong', 'limited', 'invalid', 'expired', 'unavailable'] as const;
export type LoginFault = (typeof LOGIN_FAULTS)[number];

export interface LoginInit {
  readonly locale: string;
  readonly step: LoginStep;
  readonly fault?: LoginFault;
  /** Where the form is sent. */
  readonly action: string;
  /** Hidden fields, such as the token of a mailed link or the way back. */
  readonly hidden?: Readonly<Record<string, string>>;
  /** Of the wait, or of the link's life. */
  readonly minutes?: number;
}

export interface LoginView {
  readonly shell: ShellView;
  readonly heading: string;
  readonly step: LoginStep;
  readonly body: string;
  readonly fault: string | null;
  readonly field: { readonly name: 'password' | 'email'; readonly label: string } | null;
  readonly submit: string | null;
  readonly action: string;
  readonly hidden: readonly { readonly name: string; readonly value: string }[];
}

/** The form posts `password` or `email`, and what is in `hidden`, as a form to `action`. */
export function loginView({ locale, step, fault, action, hidden = {}, minutes = 15 }: LoginInit): LoginView {
  const words = wordsOf(locale);
  const faults: Record<LoginFault, string> = {
    wrong: words.loginWrong,
    limited: fill(words.loginLimited, { minutes }),
    invalid: words.loginInvalid,
    expired: words.loginExpired,
    unavailable: words.loginUnavailable,
  };
  const bodies: Record<LoginStep, string> = {
    password: words.loginPasswordBody,
    email: words.loginEmailBody,
    sent: fill(words.loginSent, { minutes }),
    confirm: words.loginConfirmBody,
    closed: words.loginClosed,
  };
  const submits: Record<LoginStep, string | null> = {
    password: words.loginSubmit,
    email: words.loginSubmitEmail,
    sent: null,
    confirm: words.loginConfirm,
    closed: null,
  };
  return {
    shell: plainShellOf({ locale, title: words.loginTitle, siteTitle: null, base: '' }),
    heading: words.loginTitle,
    step,
    body: bodies[step],
    fault: fault === undefined ? null : faults[fault],
    field:
      step === 'password'
        ? { name: 'password', label: words.loginPassword }
        : step === 'email'
          ? { name: 'email', label: words.loginEmail }
          : null,
    submit: submits[step],
    action,
    hidden: Object.entries(hidden).map(([name, value]) => ({ name, value })),
  };
}
