/** Redirects: followed within the origin, refused elsewhere. */

import type { Readable } from 'node:stream';
import type { StatusError } from '../../errors.ts';
import { dropBody } from './body.ts';
import { errorForStatus } from './http-faults.ts';
import type { HttpQuestion } from './http-question.ts';

/** Where the answer sends us; null when it is no redirect. Credentials never go to another origin, nor twice by a POST. */
export function redirectTarget(
  response: {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly body: Readable;
  },
  { url, place, question }: { readonly url: URL; readonly place: string; readonly question: HttpQuestion },
): URL | null {
  const { statusCode, headers } = response;
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  const location = headers['location'];
  const target = typeof location === 'string' ? URL.parse(location, url) : null;
  const fault =
    question.method !== 'GET'
      ? `a ${question.method} request is not redirected`
      : target === null
        ? 'without a target address'
        : target.origin !== url.origin || target.username !== ''
          ? 'to another origin, which must not get the key'
          : null;
  if (fault === null && target !== null) return target;
  dropBody(response.body);
  throw refusedRedirect(place, statusCode, fault ?? 'without a target address');
}

/** The error of a redirect that is not followed, with why. */
export function refusedRedirect(place: string, status: number, words: string): StatusError {
  return errorForStatus(`${place}: redirect rejected (${words}); set the final address in the configuration`, {
    status,
    retryAt: null,
  });
}
