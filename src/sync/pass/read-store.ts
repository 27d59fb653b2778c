/** Questions that are answered from our own database: what operators wrote here, and what our own checks showed. */

import { StatusError } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Reader } from '../../store/database.ts';
import { readChecks, runningPlaces } from '../../store/nodes/checks.ts';
import { readWritten } from '../../store/written/posts.ts';
import type { HttpAnswer } from '../http/http.ts';
import type { HttpQuestion } from '../http/http-question.ts';

/** Whether a question is answered from the database. */
export function isStoreQuestion({ url }: Pick<HttpQuestion, 'url'>): boolean {
  return url.startsWith('store:');
}

/**
 * Answers with status 200: `store:written` with `{ id, document, page, isPrivate }[]`, a document being JSON text, and
 * `store:checks/<upstream id>` with `{ results, places }`: the last results of its checks, and the places that some node checks from.
 *
 * @throws UPSTREAM_REFUSED where there is nothing of that name
 */
export async function readStoreQuestion(reader: Reader, { url }: HttpQuestion, now: EpochMs): Promise<HttpAnswer> {
  return { status: 200, payload: await readNamed(reader, url), at: now, clockSkewMs: null, remaining: null };
}

async function readNamed(reader: Reader, url: string): Promise<unknown> {
  const upstream = /^store:checks\/([\w-]+)$/.exec(url)?.[1];
  if (upstream !== undefined)
    return { results: await readChecks(reader, ['upstream', upstream]), places: await runningPlaces(reader) };
  if (url === 'store:written')
    return (await readWritten(reader)).map(({ id, document, page, isPrivate }) => ({ id, document, page, isPrivate }));
  throw new StatusError({ code: 'UPSTREAM_REFUSED', message: `${url}: the store has nothing with this name.` });
}
