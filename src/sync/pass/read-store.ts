/** Questions that are answered from our own database: what operators wrote here. */

import { StatusError } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Reader } from '../../store/database.ts';
import { readWritten } from '../../store/written/posts.ts';
import type { HttpAnswer } from '../http/http.ts';
import type { HttpQuestion } from '../http/http-question.ts';

/** Whether a question is answered from the database. */
export function isStoreQuestion({ url }: Pick<HttpQuestion, 'url'>): boolean {
  return url.startsWith('store:');
}

/**
 * Answers `store:written` with status 200 and `{ id, document, page, isPrivate }[]`, a document being JSON text.
 *
 * @throws UPSTREAM_REFUSED where there is nothing of that name
 */
export async function readStoreQuestion(reader: Reader, { url }: HttpQuestion, now: EpochMs): Promise<HttpAnswer> {
  if (url !== 'store:written')
    throw new StatusError({ code: 'UPSTREAM_REFUSED', message: `${url}: the store has nothing with this name.` });
  const payload = (await readWritten(reader)).map(({ id, document, page, isPrivate }) => ({
    id,
    document,
    page,
    isPrivate,
  }));
  return { status: 200, payload, at: now, clockSkewMs: null, remaining: null };
}
