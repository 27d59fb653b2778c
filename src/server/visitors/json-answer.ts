/** JSON that is made from the release being served: one component or one incident in the v2 format, and `api/now.json`. */

import { hash } from 'node:crypto';
import type { SourceFreshness } from '../../model/page.ts';
import { jsonText } from '../../publish/files/feed-text.ts';
import { KINDS } from '../../publish/files/kinds.ts';
import { INERT_CSP, NOW_CACHE } from '../../publish/releases/manifest.ts';
import { type NowFacts, nowDocument } from '../../views/json/state-json.ts';
import { singleDocuments } from '../../views/v2/documents.ts';
import { type FileAnswer, type FileRequest, fileAnswer } from './file-answer.ts';
import type { OpenRelease } from './release-reader.ts';

/** Per release: the documents, and those requested so far, each as a release with that one file. */
const singlesByRelease = new WeakMap<OpenRelease, ReturnType<typeof singlesOf>>();

/** Null: the lists don't contain it. */
export function singleAnswer(release: OpenRelease, request: FileRequest): FileAnswer | null {
  const { documents, given } = singlesByRelease.getOrInsertComputed(release, singlesOf);
  const document = documents.get(request.path);
  if (document === undefined) return null;
  const file = given.getOrInsertComputed(request.path, (path) => withFile(release, path, jsonText(document)));
  return fileAnswer(file, request);
}

function singlesOf(release: OpenRelease) {
  const read = (path: string): unknown =>
    Object.hasOwn(release.manifest.files, path) ? JSON.parse(release.read(path, null).toString('utf8')) : null;
  return { documents: singleDocuments(read), given: new Map<string, OpenRelease>() };
}

function withFile(release: OpenRelease, path: string, text: string): OpenRelease {
  const body = Buffer.from(text);
  const { contentType } = KINDS.json;
  const sha256 = hash('sha256', body, 'hex');
  const record = { key: '', sha256, bytes: body.length, contentType, csp: null, variants: [] };
  return { ...release, manifest: { ...release.manifest, files: { [path]: record } }, read: () => body };
}

/** `api/now.json` of a page, from memory: the release being served, and when its upstreams last answered. */
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
  const facts = factsByRelease.getOrInsertComputed(release, (served) => served.data().now);
  if (facts === null) return null;
  const body = Buffer.from(`${JSON.stringify(nowDocument(facts, { release: release.manifest.number, sources }))}\n`);
  return {
    status: 200,
    headers: { ...(isPublic ? PUBLIC_HEADERS : GATED_HEADERS), 'content-length': body.length },
    body,
  };
}
