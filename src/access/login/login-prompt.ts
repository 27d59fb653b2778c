/** Renders the sign-in documents. */

import type { LoginPrompt } from '../../model/access.ts';

/** A rendered document, with the content security policy for its inline styles and scripts. */
export interface LoginHtml {
  readonly html: string;
  readonly csp: string;
}

export type RenderLogin = (prompt: LoginPrompt) => Promise<LoginHtml>;
