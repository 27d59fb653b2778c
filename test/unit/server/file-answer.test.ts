import { describe, expect, it } from 'vitest';
import { type FileRequest, fileAnswer } from '../../../src/server/visitors/file-answer.ts';
import type { OpenRelease } from '../../../src/server/visitors/release-reader.ts';

const BODY = Buffer.from('0123456789');

/** A page with all variants, of which each says what it is. */
function answer(head: FileRequest['head'], variants: readonly string[] = ['br', 'zstd', 'gzip'], isPublic = true) {
  const record = { key: '', sha256: 'x'.repeat(64), bytes: 10, contentType: 'text/html', csp: null, variants };
  const release = { manifest: { files: { 'index.html': record } }, read: () => BODY } as unknown as OpenRelease;
  const found = fileAnswer(release, { path: 'index.html', isPublic, head });
  if (found === null) throw new Error('there is no such file');
  return found;
}

describe('the encoding of a file', () => {
  const ANY = 'gzip, deflate, br, zstd';
  it.each([
    [ANY, 'br'],
    ['gzip, deflate, br', 'br'],
    ['zstd, gzip', 'zstd'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['gzip;q=0.5, br;q=0.4, zstd;q=0.4', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'zstd'],
    ['deflate', undefined],
    ['', undefined],
    ['*;q=0', undefined],
    ['gzip;q=0', undefined],
    ['br;q=nonsense', undefined],
    ['identity, br;q=0.5', undefined],
    ['identity;q=0.5, br', 'br'],
    [','.repeat(16_000), undefined],
  ])('for a client that says %j is %s', (accepted, encoding) => {
    // Asked twice, since what was found out of a header is kept.
    for (let turn = 0; turn < 2; turn += 1)
      expect(answer({ acceptEncoding: accepted }).headers['content-encoding']).toBe(encoding);
  });

  it('is one that the file has', () => {
    expect(answer({ acceptEncoding: ANY }, ['gzip']).headers['content-encoding']).toBe('gzip');
    expect(answer({ acceptEncoding: 'br' }, ['gzip']).headers['content-encoding']).toBeUndefined();
    expect(answer({}).headers['content-encoding']).toBeUndefined();
  });
});

describe('a file that a client has', () => {
  it('is not sent again: any where it says *, but for those behind a gate, which nobody may keep', () => {
    const etag = String(answer({}).headers['etag']);
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, body } = answer({ ifNoneMatch: condition });
      expect([condition, status, body]).toEqual([condition, 304, null]);
    }
    expect(answer({ ifNoneMatch: '"other"' }).status).toBe(200);
    expect(answer({ ifNoneMatch: '"*"' }).status).toBe(200);
    const gated = answer({ ifNoneMatch: '*' }, [], false);
    expect([gated.status, gated.headers['cache-control']]).toEqual([200, 'private, no-store']);
    expect(answer({ ifNoneMatch: etag }, [], false).status).toBe(200);
  });
});

describe('a part of a file', () => {
  it.each([
    ['bytes=0-3', 206, '0123'],
    ['bytes=7-', 206, '789'],
    ['bytes=-3', 206, '789'],
    ['bytes=4-99', 206, '456789'],
    ['bytes=-99', 206, '0123456789'],
    ['bytes=10-', 416, undefined],
    ['bytes=-0', 416, undefined],
    ['bytes=0-1,3-4', 200, '0123456789'],
    ['bytes=a-b', 200, '0123456789'],
    ['bytes=-', 200, '0123456789'],
    ['lines=0-3', 200, '0123456789'],
  ])('that is asked for as %s: %i, %s', (range, status, body) => {
    const found = answer({ range });
    expect([found.status, found.body?.toString()]).toEqual([status, body]);
    expect(found.headers['content-encoding']).toBeUndefined();
  });
});

describe('what an address was answered before', () => {
  const record = { key: '', sha256: 'x'.repeat(64), bytes: 10, contentType: 'text/html', csp: null, variants: ['br'] };
  const bodyOf = (digest: string) => ({
    digest,
    manifest: { files: { 'index.html': record } },
    read: () => Buffer.from(digest),
  });
  const releases = ['one', 'two', 'x'.repeat(20_000)].map((digest) => bodyOf(digest) as unknown as OpenRelease);
  const heads: readonly FileRequest['head'][] = [
    {},
    { acceptEncoding: 'br' },
    { ifNoneMatch: '*' },
    { range: 'bytes=1-1' },
  ];
  const requests = releases.flatMap((release) =>
    [true, false].flatMap((isPublic) => heads.map((head) => ({ release, path: 'index.html', isPublic, head }))),
  );

  it('changes no other answer: of another release, behind the gate, in another encoding, in part', () => {
    for (const before of requests)
      for (const after of requests) {
        const address = {};
        fileAnswer(before.release, { ...before, address });
        const expected = fileAnswer(after.release, after);
        // The first may be made from what came before, the second from what is kept.
        for (let turn = 0; turn < 2; turn += 1)
          expect(fileAnswer(after.release, { ...after, address })).toEqual(expected);
      }
  });

  it('is not made again', () => {
    const [release] = releases;
    if (release === undefined) throw new Error('there is no release');
    const ask = (head: FileRequest['head']) =>
      fileAnswer(release, { path: 'index.html', isPublic: true, head, address });
    const address = {};
    const whole = ask({});
    expect(ask({})).toBe(whole);
    expect(ask({ ifNoneMatch: '*' })?.status).toBe(304);
    expect(ask({})).toBe(whole);
  });
});
