import { strict as assert } from 'node:assert';

/** What `/-/metrics` tells whoever has the operator token. */
export async function metricsText(url: string, token: string): Promise<string> {
  const answer = await fetch(`${url}/-/metrics`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  return answer.text();
}
