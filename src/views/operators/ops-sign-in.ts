/** What stands before the operators' page. It says nothing of the site. */

import { buildPlainShell } from '../frame/shell.ts';
import { type LoginForm, loginField } from '../login/login.ts';

/** `wrong`: the token; `limited`: too many tries; `refused`: the form came from elsewhere, or its session had ended. */
export type OpsSignInFault = 'wrong' | 'limited' | 'refused' | 'no-role' | 'provider-refused' | 'provider-away';

interface OpsSignInInit {
  readonly fault: OpsSignInFault | null;
  /** Of the wait. */
  readonly minutes?: number;
  /** From the address that shows it to that of the operators' page: `''`, or `'../'` below it. */
  readonly up: string;
  /** Whether operators sign in by an identity provider. */
  readonly hasProvider?: boolean;
  /** What somebody wrote in a form that is refused. */
  readonly written?: string;
}

/** The form to sign in. */
export function opsSignInView({ fault, minutes = 15, up, hasProvider = false, written = '' }: OpsSignInInit) {
  const faults: Record<OpsSignInFault, string> = {
    wrong: 'Incorrect token.',
    limited: `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    refused: 'Nothing was changed: the form came from another site, or your session expired. Sign in again.',
    'no-role': 'This account has none of the roles in operators.roles.',
    'provider-refused': 'Signing in with your organisation didn’t work. Try again.',
    'provider-away':
      'Your organisation’s sign-in service can’t be reached. Try again in a few minutes, or use the operator token.',
  };
  const form: LoginForm = {
    ...{ action: `${up}ops/sign-in`, body: null, hidden: [], username: 'operator', submit: 'Sign in' },
    field: { ...loginField('password', 'Token', fault !== null), name: 'token' },
  };
  return {
    shell: buildPlainShell({ locale: 'en', title: 'Operators', siteTitle: null, base: `${up}../` }),
    heading: 'Operators',
    body: 'Sign in with a token of operators or of the API. The session lasts up to eight hours.' as string | null,
    written: written === '' ? null : `Not published. Copy what you wrote before you go on:\n\n${written}`,
    fault: fault === null ? null : faults[fault],
    forms: [form],
    // To the identity provider, or on.
    link: hasProvider ? { href: `${up}ops/oidc`, text: 'Sign in with your organisation' } : null,
  };
}

/** Leads on to another address, by itself and by a link. */
export function opsLeadView(href: string, text: string, written = ''): ReturnType<typeof opsSignInView> {
  return { ...opsSignInView({ fault: null, up: '../', written }), body: null, forms: [], link: { href, text } };
}
