/**
 * Sign-in documents as responses. Each is rendered once and then filled in, so that every response takes the same time.
 */

import type { LoginPrompt } from '../../model/access.ts';
import type { GateKinds } from '../gate/gates.ts';
import { documentAnswer, type LoginHtml, type RenderLogin } from './document-answer.ts';
import { plainLogin } from './plain-login.ts';

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
      if (!document.html.includes(PLACES.base)) throw new Error('the sign-in document has no form');
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
