/** One component or one incident in the v2 format, taken from the lists of the release being served. */

import { hash } from 'node:crypto';
import { jsonText } from '../../publish/files/feed-text.ts';
import { JSON_FILE } from '../../publish/files/kinds.ts';
import { singleDocuments, type V2Single } from '../../views/v2/documents.ts';
import { type FileAnswer, type FileRequest, fileAnswer } from './file-answer.ts';
import type { OpenRelease } from './release-reader.ts';

/** Per release: the documents, and those requested so far, each as a release with that one file. */
interface Singles {
  readonly documents: ReadonlyMap<string, V2Single>;
  readonly given: Map<string, OpenRelease>;
}
const singlesByRelease = new WeakMap<OpenRelease, Singles>();

/** Null: the lists don't contain it. */
export function singleAnswer(release: OpenRelease, request: FileRequest): FileAnswer | null {
  const { documents, given } = singlesByRelease.getOrInsertComputed(release, singlesOf);
  const document = documents.get(request.path);
  if (document === undefined) return null;
  const file = given.getOrInsertComputed(request.path, (path) => withFile(release, path, jsonText(document)));
  return fileAnswer(file, request);
}

function singlesOf(release: OpenRelease): Singles {
  const read = (path: string): unknown =>
    Object.hasOwn(release.manifest.files, path) ? JSON.parse(release.read(path, null).toString('utf8')) : null;
  return { documents: singleDocuments(read), given: new Map() };
}

function withFile(release: OpenRelease, path: string, text: string): OpenRelease {
  const body = Buffer.from(text);
  const { contentType } = JSON_FILE;
  const record = {
    key: '',
    sha256: hash('sha256', body, 'hex'),
    bytes: body.length,
    contentType,
    csp: null,
    variants: [],
  };
  return { ...release, manifest: { ...release.manifest, files: { [path]: record } }, read: () => body };
}
