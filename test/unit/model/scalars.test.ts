import { describe, expect, it } from 'vitest';
import { HOST_NAME, isLocale, isTimezone, SLUG, safeLink } from '../../../src/model/scalars.ts';

describe('links', () => {
  it.each(['https://a.example/', 'http://a.example/x?y#z', 'mailto:a@b.example'])('keeps %s', (address) => {
    expect(safeLink(address)).toBe(address);
  });

  it.each([
    null,
    '',
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    'https://user:pw@a.example/',
    'https:\\\\a.example',
    'data:text/html,x',
    'mailto:',
    '//a.example',
    'a.example',
    'file:///etc/passwd',
    'blob:https://a.example/x',
    `https://a.example/${'x'.repeat(2_048)}`,
  ])('refuses %j', (address) => {
    expect(safeLink(address)).toBeNull();
  });

  it('writes a link so that it cannot end an attribute', () => {
    expect(safeLink('https://a.example/"><script>')).toBe('https://a.example/%22%3E%3Cscript%3E');
  });
});

describe('names', () => {
  it.each(['a', 'acme', 'a-b', '0', 'a'.repeat(256)])('%s can be a page’s place', (text) => {
    expect(SLUG.test(text)).toBe(true);
  });

  it.each(['', '-', 'a-', '-a', 'A', 'a_b', 'a.b', 'a/b', '_site', 'ä', 'a\n', 'a'.repeat(257)])(
    '%j cannot',
    (text) => {
      expect(SLUG.test(text)).toBe(false);
    },
  );

  it.each(['localhost', 'status.example.com', 'A.EXAMPLE', '127.0.0.1', 'xn--bcher-kva.example', 'a'.repeat(63)])(
    '%s can be a host',
    (text) => {
      expect(HOST_NAME.test(text)).toBe(true);
    },
  );

  it.each([
    '',
    '.',
    'a..b',
    'a.',
    '.a',
    '-a.b',
    'a-.b',
    'a_b.c',
    'a b',
    'a:80',
    'a/b',
    'ä.example',
    'a\n',
    'a'.repeat(64),
    `${'a.'.repeat(126)}ab`,
  ])('%j cannot', (text) => {
    expect(HOST_NAME.test(text)).toBe(false);
  });
});

describe('zones and languages', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/St_Johns'])('%s is a zone', (text) => {
    expect(isTimezone(text)).toBe(true);
  });

  it.each(['', 'Mars/Olympus', 'Berlin', '2026-01-01T00:00:00[Europe/Berlin]', 'Europe/Berlin\n'])(
    '%j is none',
    (text) => {
      expect(isTimezone(text)).toBe(false);
    },
  );

  it.each(['en', 'pt-BR', 'zh-Hans', 'ar-u-nu-latn'])('%s is a language', (text) => {
    expect(isLocale(text)).toBe(true);
  });

  it.each(['', 'e', 'en_GB', 'english language', '../en'])('%j is none', (text) => {
    expect(isLocale(text)).toBe(false);
  });
});
