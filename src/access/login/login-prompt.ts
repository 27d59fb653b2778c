/** What draws the documents of the gates. */

import type { LoginPrompt } from '../../model/access.ts';

/** A drawn document, with the policy that its inline styles and scripts need. */
export interface LoginHtml {
  readonly html: string;
  readonly csp: string;
}

export type RenderLogin = (prompt: LoginPrompt) => Promise<LoginHtml>;
