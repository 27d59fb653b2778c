import { describe, expect, it } from 'vitest';
import { canonicalMailbox, parseEmailAddress } from '../../../src/mail/mail.ts';

describe('an e-mail address', () => {
  it.each([
    ['a@corp.example', 'a@corp.example'],
    [' a@corp.example ', 'a@corp.example'],
    ['First.Last+tag@CORP.Example', 'First.Last+tag@corp.example'],
    ["o'brien@corp.example", "o'brien@corp.example"],
    ['a@b\u00fccher.example', 'a@xn--bcher-kva.example'],
    ['a@B\u00dcCHER.example', 'a@xn--bcher-kva.example'],
    ['a@bu\u0308cher.example', 'a@xn--bcher-kva.example'],
    ['a@\uff43\uff4f\uff52\uff50.example', 'a@corp.example'],
    [`${'a'.repeat(64)}@corp.example`, `${'a'.repeat(64)}@corp.example`],
  ])('%j is sent to %s', (typed, address) => expect(parseEmailAddress(typed)?.address).toBe(address));

  it.each([
    '',
    ' ',
    '@',
    'a',
    'a@',
    '@corp.example',
    'a@corp',
    'a@corp.example.',
    'a@.corp.example',
    'a@corp..example',
    '.a@corp.example',
    'a.@corp.example',
    'a..b@corp.example',
    'a@b@corp.example',
    'a@corp.example,b@corp.example',
    'a@corp.example;b@corp.example',
    'g: a@corp.example;',
    'A <a@corp.example>',
    '<a@corp.example>',
    '"a"@corp.example',
    '"a@evil.test"@corp.example',
    'a(b)@corp.example',
    'a@(b)corp.example',
    'a@corp.example(b)',
    'a\\@b@corp.example',
    'a b@corp.example',
    'a@corp .example',
    'a\u0000@corp.example',
    'a@corp.example\u0000',
    'a\r\nb@corp.example',
    'a@corp.example\r\nBcc: b@evil.test',
    'a@corp.example\n',
    '\ta@corp.example',
    'a@[192.0.2.1]',
    'a@192.0.2.1',
    'a@127.1',
    '<@evil.test:a@corp.example>',
    '@evil.test:a@corp.example',
    'a%b@evil.test@corp.example',
    'a@corp.example@evil.test',
    'a@corp%2eexample',
    'a@corp.example/x',
    'a@corp.example:25',
    'a@corp_x.example',
    'a@-corp.example',
    'a@corp-.example',
    'a@xn--.example',
    '\u00e9@corp.example',
    'a\u200b@corp.example',
    'a@co\u00adrp.example',
    'a@corp.example?x',
    'mailto:a@corp.example',
    `${'a'.repeat(65)}@corp.example`,
    `a@${'b'.repeat(64)}.example`,
    `a@${'b.'.repeat(130)}example`,
  ])('is not %j', (typed) => expect(parseEmailAddress(typed)).toBeNull());

  it('of a megabyte, or of 100,000 nested groups, is turned away without being read', () => {
    const parsed = [
      `${'a'.repeat(1_000_000)}@corp.example`,
      `${'g:'.repeat(100_000)}a@corp.example;`,
      '('.repeat(1_000_000),
    ];
    const from = process.cpuUsage();
    expect(parsed.map(parseEmailAddress)).toEqual([null, null, null]);
    const used = process.cpuUsage(from);
    expect((used.user + used.system) / 1_000).toBeLessThan(30);
  });

  it('is the same mailbox in capitals and with a tag', () => {
    const mailbox = (typed: string) =>
      canonicalMailbox(parseEmailAddress(typed) ?? { address: '', local: '', domain: '' });
    expect(mailbox('A+x@Corp.example')).toBe(mailbox('a+y@corp.example'));
    expect(mailbox('+x@corp.example')).toBe('+x@corp.example');
    expect(mailbox('a@corp.example')).not.toBe(mailbox('b@corp.example'));
  });
});
