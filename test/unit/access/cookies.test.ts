import { describe, expect, it } from 'vitest';
import { readCookie, setCookie } from '../../../src/access/cookies.ts';

describe('the cookies of the gates', () => {
  it('carry every flag on https', () => {
    const flags = setCookie('session', true, 'v', null).split('; ');
    expect(flags.toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure', '__Host-pharos=v']);
  });

  it('carry all but Secure and the prefix on loopback http', () => {
    const flags = setCookie('session', false, 'v', null).split('; ');
    expect(flags.toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax', 'pharos=v']);
  });

  it('are forgotten at once when emptied', () => {
    expect(setCookie('session', true, '', null)).toContain('Max-Age=0');
  });

  it('are read by their exact name, the first of several', () => {
    const header = 'x__Host-pharos=a; pharos=b; __Host-pharos=c; __Host-pharos=d; __host-pharos=e; __Host-pharosx=f';
    expect(readCookie(header, 'session', true)).toBe('c');
    expect(readCookie(header, 'session', false)).toBe('b');
    expect(readCookie(header, 'asking', true)).toBeNull();
    expect(readCookie(null, 'session', true)).toBeNull();
    expect(readCookie('pharos', 'session', false)).toBeNull();
  });
});
