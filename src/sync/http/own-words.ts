/** What an upstream says about its own error, cut and escaped; never the values of our headers. */

const CHARS_MAX = 200;
/** Names of fields with a sentence, the most specific first. */
const FIELDS = ['error', 'message', 'detail', 'error_description', 'errors', 'reason'];

/** The sentence of an error in some JSON, in quotes; null: it says nothing of an error. */
export function ownWords(payload: unknown, secrets: readonly string[]): string | null {
  const words = sentenceIn(payload, 3);
  if (words === null) return null;
  const safe = secrets
    .filter((secret) => secret.length > 3)
    .reduce((text, secret) => text.replaceAll(secret, '***'), words);
  const clean = safe.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  if (clean === '') return null;
  return JSON.stringify(clean.length > CHARS_MAX ? `${clean.slice(0, CHARS_MAX)}…` : clean);
}

function sentenceIn(payload: unknown, depth: number): string | null {
  if (typeof payload !== 'object' || payload === null || depth === 0) return null;
  const [first] = Array.isArray(payload) ? payload : [];
  if (first !== undefined) return typeof first === 'string' ? first : sentenceIn(first, depth - 1);
  for (const field of FIELDS) {
    const value = (payload as Readonly<Record<string, unknown>>)[field];
    if (typeof value === 'string') return value;
    const inner = sentenceIn(value, depth - 1);
    if (inner !== null) return inner;
  }
  return null;
}
