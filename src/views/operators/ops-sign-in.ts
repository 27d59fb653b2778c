/** What stands before the operators' page. It says nothing of the site. */

import { plainShellOf, type ShellView } from '../frame/shell.ts';

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

export interface OpsSignInInit {
  readonly fault: OpsSignInFault | null;
  /** Of the wait. */
  readonly minutes?: number;
  /** From the address that shows it to that of the operators' page: `''`, or `'../'` below it. */
  readonly up: '' | '../';
}

/** The form to sign in. */
export function opsSignInView({ fault, minutes = 15, up }: OpsSignInInit): OpsSignInView {
  const faults: Record<OpsSignInFault, string> = {
    wrong: 'That is not the operator token.',
    limited: `Too many tries. Please wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
    refused: 'Nothing was done: the form came from elsewhere, or its session had ended. Please sign in again.',
  };
  return {
    shell: plainShellOf({ locale: 'en', title: 'Operators', siteTitle: null, base: `${up}../` }),
    heading: 'Operators',
    body: 'The operator token (operators.token in the configuration) is exchanged for a session of eight hours at most.',
    fault: fault === null ? null : faults[fault],
    action: `${up}ops/sign-in`,
  };
}
