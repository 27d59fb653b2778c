import { describe, expect, it } from 'vitest';
import { safeBase, safeReturnTo } from '../../../src/access/access.ts';

const HOSTS = [
  'evil.test',
  'evil.test/',
  'evil.test/history/',
  '127.0.0.1',
  '[::1]',
  'evil.test%00',
  'xn--vil-hoa.test',
];
const LEADS = [
  '//',
  '///',
  '////',
  '/\\',
  '\\\\',
  '\\/',
  '/\t/',
  '\t//',
  '\r\n//',
  ' //',
  '/%09/',
  '%2f%2f',
  '%2F/',
  '/%2f',
  '%5c%5c',
  '%5c/',
  '/%5c',
  '\u0000//',
  './/',
  './/',
  '..//',
  '../..//',
  '/.//',
  'http://',
  'https://',
  'HTTPS://',
  'https:',
  'https:/',
  'https:\\\\',
  'hTtPs:\\',
  'ftp://',
  'javascript:alert(1)//',
  'JaVaScRiPt:',
  'java\tscript:',
  'data:text/html,',
  'vbscript:',
  '@',
  'x@',
  'user:pass@',
  '.',
  ':80@',
  '?//',
  '#//',
  '?url=//',
  ';//',
  '//;@',
  '/;//',
  '\u3002//',
  '\uff0f\uff0f',
  '\u2044/',
  '/acme//',
  '/acme/../..//',
  'history/../..//',
  'history/%2e%2e/%2e%2e//',
  '%252f%252f',
  '%00//',
  '\u202e//',
  '\ufeff//',
  'x\r\nLocation: //',
  'x\nSet-Cookie: a=b//',
  '<script>//',
  '"//',
  "'//",
  '`//',
  '{{7*7}}//',
  '$' + '{1}//',
  'file:///',
  'blob:',
  'about:blank//',
  'mailto:a@',
  'tel:',
  'ws://',
  '//\\',
  '/ /',
  '/\u00a0/',
  '/\u0085/',
  '%0d%0a//',
  '%e2%80%a8//',
];
const PAYLOADS = LEADS.flatMap((lead) => HOSTS.map((host) => lead + host));

describe('the way back after signing in', () => {
  it('never leaves the page for any of 500 payloads', () => {
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(500);
    for (const base of ['/acme/', '/', '/status/acme/']) {
      for (const payload of PAYLOADS) {
        const location = safeBase(base) + safeReturnTo(payload);
        const seen = new URL(location, 'https://status.example.com');
        expect(seen.origin, JSON.stringify(payload)).toBe('https://status.example.com');
        expect(seen.pathname.startsWith(base), JSON.stringify(payload)).toBe(true);
        // As written, not only as resolved: nothing that a laxer reader could take for more than a path.
        expect(location).toMatch(/^\/(?!\/)[A-Za-z0-9_.~/-]*$/);
        expect(location).not.toMatch(/\/\/|\/\.\.?(\/|$)/);
      }
    }
  });

  it.each(['history/', 'history/2026-11/', 'incidents/edge-i1/', 'feed.atom', 'api/v2/summary.json', ''])(
    'keeps %j, which is inside the page',
    (path) => expect(safeReturnTo(path)).toBe(path),
  );

  it.each(['login/', 'login', 'login/link/', 'logout', 'logout/'])(
    'is not %j, which would lead round in a circle',
    (path) => expect(safeReturnTo(path)).toBe(''),
  );

  it('names a folder, not its file', () => {
    expect(safeReturnTo('history/index.html')).toBe('history/');
    expect(safeReturnTo('index.html')).toBe('');
  });

  it.each(['//evil.test/', '/a//b/', 'acme/', '/acme', '/../', '/a/../', '/a\r\nb/', '/a"b/', '', '/a b/'])(
    'has no base %j',
    (base) => expect(safeBase(base)).toBe('/'),
  );
});
