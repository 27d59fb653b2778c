import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isReturning, readHead } from '../../../src/server/answer.ts';

/** As Node reads it. */
function headOf(...lines: readonly (readonly [name: string, value: string])[]) {
  const message = new IncomingMessage(new Socket()) as IncomingMessage & {
    _addHeaderLines: (lines: readonly string[], count: number) => void;
  };
  message._addHeaderLines(lines.flat(), 2 * lines.length);
  return readHead(message);
}

describe('the head of a request', () => {
  it('has the headers that decide, whatever the case of their names', () => {
    expect(
      headOf(
        ['HOST', 'status.example'],
        ['accept-Encoding', 'br'],
        ['If-None-Match', '"a"'],
        ['range', 'bytes=0-9'],
        ['Cookie', 'a=b'],
        ['User-Agent', 'x'],
      ),
    ).toEqual({
      host: 'status.example',
      acceptEncoding: 'br',
      ifNoneMatch: '"a"',
      range: 'bytes=0-9',
      cookie: 'a=b',
      isAmbiguous: false,
    });
    expect(headOf()).toMatchObject({ host: undefined, cookie: null, isAmbiguous: false });
  });

  it('has no range for who holds a part of what may be another version', () => {
    expect(headOf(['Range', 'bytes=0-9'], ['If-Range', '"a"']).range).toBeUndefined();
  });

  it('joins the lines of a header that may come twice', () => {
    const head = headOf(['Accept-Encoding', 'br'], ['accept-encoding', 'gzip'], ['Cookie', 'a=b'], ['cookie', 'c=d']);
    expect([head.acceptEncoding, head.cookie, head.isAmbiguous]).toEqual(['br, gzip', 'a=b; c=d', false]);
  });

  it.each(['Host', 'Authorization', 'Origin', 'Sec-Fetch-Site', 'Content-Type'])(
    'is ambiguous with two of %s',
    (name) => {
      expect(headOf([name, 'a'], [name.toLowerCase(), 'a']).isAmbiguous).toBe(true);
      expect(headOf([name, 'a']).isAmbiguous).toBe(false);
    },
  );

  it('is not ambiguous with two of a header that decides nothing', () => {
    expect(
      headOf(['Accept', 'a'], ['accept', 'b'], ['X-Forwarded-For', 'a'], ['x-forwarded-for', 'b']).isAmbiguous,
    ).toBe(false);
  });
});

describe('somebody who may have been answered before', () => {
  it.each([
    ['If-None-Match', '"a"'],
    ['Sec-Fetch-Site', 'same-origin'],
    ['cache-control', 'no-cache'],
    ['Cache-Control', 'max-age=0'],
    ['Cookie', '__Host-pharos=a'],
  ])('is known by %s: %s', (...line) => {
    expect(isReturning(headOf(['Host', 'status.example'], line))).toBe(true);
  });

  it.each([
    ['Sec-Fetch-Site', 'none'],
    ['Sec-Fetch-Site', 'cross-site'],
    ['Cache-Control', 'max-age=01'],
    ['Accept-Encoding', 'br'],
  ])('is not known by %s: %s', (...line) => {
    expect(isReturning(headOf(['Host', 'status.example'], line))).toBe(false);
  });
});
