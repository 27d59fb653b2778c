/** `api/now.json` of a page, from memory: the release being served, and when its upstreams last answered. */

import type { SourceFreshness } from '../../model/page.ts';
import { INERT_CSP, NOW_CACHE } from '../../publish/releases/manifest.ts';
import { type NowFacts, nowDocument } from '../../views/json/state-json.ts';
import type { FileAnswer } from './file-answer.ts';
import type { OpenRelease } from './release-reader.ts';

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'content-security-policy': INERT_CSP };
const PUBLIC_HEADERS = { ...HEADERS, 'cache-control': NOW_CACHE, 'access-control-allow-origin': '*' };
const GATED_HEADERS = {
  ...HEADERS,
  'cache-control': 'private, no-store',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'Cookie',
};

/** Cached per release. */
const factsByRelease = new WeakMap<OpenRelease, NowFacts | null>();

/** Null: the release was written by an older version, without this data. */
export function nowAnswer(
  release: OpenRelease,
  { sources, isPublic }: { readonly sources: readonly SourceFreshness[]; readonly isPublic: boolean },
): FileAnswer | null {
  const facts = factsByRelease.getOrInsertComputed(release, factsOf);
  if (facts === null) return null;
  const body = Buffer.from(`${JSON.stringify(nowDocument(facts, { release: release.manifest.number, sources }))}\n`);
  return {
    status: 200,
    headers: { ...(isPublic ? PUBLIC_HEADERS : GATED_HEADERS), 'content-length': body.length },
    body,
  };
}

function factsOf(release: OpenRelease): NowFacts | null {
  return release.data().now;
}
