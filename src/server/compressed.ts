/**
 * Compresses responses that the server creates. Only for those that are the same for everybody: if a response contains a secret
 * and text that an attacker chose, its compressed length would reveal the secret.
 */

import { LRUCache } from 'lru-cache';

import { compress, type Variant } from '../publish/releases/manifest.ts';
import type { Answer } from './answer.ts';
import { negotiate } from './visitors/release-reader.ts';

/** Number of documents kept; few are the same for everybody. */
const KEPT_MAX = 16;
const variants = new LRUCache<string, Promise<readonly Variant[]>>({ max: KEPT_MAX });

/** The response in the smallest encoding that `Accept-Encoding` allows. */
export async function compressed(answer: Answer, acceptEncoding: string | undefined): Promise<Answer> {
  const { body, headers } = answer;
  if (typeof body !== 'string') return answer;
  const known = variants.get(body) ?? compress(String(headers['content-type']), Buffer.from(body));
  variants.set(body, known);
  const found = await known;
  const encoding = negotiate({ variants: found.map((one) => one.encoding) }, acceptEncoding);
  const bytes = found.find((one) => one.encoding === encoding)?.bytes;
  const varied = { ...headers, vary: 'Accept-Encoding' };
  if (encoding === null || bytes === undefined) return { ...answer, headers: varied };
  return {
    ...answer,
    headers: { ...varied, 'content-encoding': encoding, 'content-length': bytes.length },
    body: bytes,
  };
}
