/** What stands before the operators' page. It says nothing of the site. */

import { buildPlainShell, type ShellView } from '../frame/shell.ts';

/** `wrong`: the token; `limited`: too many tries; `refused`: the form came from elsewhere, or its session had ended. */
export type OpsSignInFault = 'wrong' | 'limited' | 'refused';

export interface OpsSignInView {
  readonly shell: ShellView;
  readonly heading: string;
  readonly body: string;
  readonly fault: string | null;
  /** Where the form is sent. */
  readonly action: string;
}

interface OpsSignInInit {
  readonly fault: OpsSignInFault | null;
  /** Of the wait. */
  readonly minutes?: number;
  /** From the address that shows it to that of the operators' page: `''`, or `'../'` below it. */
  readonly up: '' | '../';
}

/** The form to sign in. */
export function opsSignInView({ fault, minutes = 15, up }: OpsSignInInit): OpsSignInView {
  const faults: Record<OpsSignInFault, string> = {
    wrong: 'Incorrect operator token.',
    limited: `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    refused: 'Nothing was changed: the form came from another site, or your session expired. Sign in again.',
  };
  return {
    shell: buildPlainShell({ locale: 'en', title: 'Operators', siteTitle: null, base: `${up}../` }),
    heading: 'Operators',
    body: 'Sign in with the operator token (operators.token in the configuration). The session lasts up to eight hours.',
    fault: fault === null ? null : faults[fault],
    action: `${up}ops/sign-in`,
  };
}
