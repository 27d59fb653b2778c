import { describe, expect, it } from 'vitest';
import { isSameOrigin, isSameOriginOrOpaque } from '../../../src/access/access.ts';

const ownOrigin = 'https://status.example.com';

describe('a request that changes something', () => {
  it.each([
    ['from our own page', ownOrigin, 'same-origin', true],
    ['from our own page, said by Origin alone', ownOrigin, null, true],
    ['from no browser', null, null, true],
    ['through a proxy that rewrites Host, vouched for by the browser', 'https://public.example', 'same-origin', true],
    ['from another site', 'https://evil.test', 'cross-site', false],
    ['from another site, said by Origin alone', 'https://evil.test', null, false],
    ['from a sibling subdomain', 'https://www.example.com', 'same-site', false],
    ['from the same host over http', 'http://status.example.com', null, false],
    ['from the same host on another port', `${ownOrigin}:8443`, null, false],
    ['from a sandboxed frame', 'null', 'cross-site', false],
    ['with an opaque origin and nothing else', 'null', null, false],
    ['typed into the address bar', null, 'none', false],
    ['with several words', ownOrigin, 'same-origin, cross-site', false],
    ['with an empty Origin', '', null, false],
  ])('%s', (_claim, origin, fetchSite, expected) => {
    expect(isSameOrigin({ origin, fetchSite, ownOrigin })).toBe(expected);
  });

  it('may come from an opaque origin only with a secret in its form, and never across sites', () => {
    expect(isSameOriginOrOpaque({ origin: 'null', fetchSite: null, ownOrigin })).toBe(true);
    expect(isSameOriginOrOpaque({ origin: 'null', fetchSite: 'cross-site', ownOrigin })).toBe(false);
    expect(isSameOriginOrOpaque({ origin: 'https://evil.test', fetchSite: null, ownOrigin })).toBe(false);
  });
});
