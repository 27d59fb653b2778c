import { describe, expect, it } from 'vitest';
import { wrapText } from '../../../src/cli/terminal/table.ts';

describe('text on a terminal of 40 columns', () => {
  it.each([
    [
      'words go below, indented',
      '  a.b: expected a number from 1 to 65535; got "x"',
      ['  a.b: expected a number from 1 to', '    65535; got "x"'],
    ],
    [
      'a command continues behind a backslash',
      '  pharos tokens create --scope incidents --page acme',
      ['  pharos tokens create --scope \\', '    incidents --page acme'],
    ],
    [
      'an excerpt of a file stays as it is',
      '    12 | access: { smtp: "${SMTP}", from: a@example.com }',
      ['    12 | access: { smtp: "${SMTP}", from: a@example.com }'],
    ],
    [
      'a word that is too long stays whole',
      `see https://example.com/${'x'.repeat(40)} now`,
      ['see', `  https://example.com/${'x'.repeat(40)}`, '  now'],
    ],
  ])('%s', (_name, text, lines) => {
    expect(wrapText(text, 40).split('\n')).toEqual(lines);
  });

  it('is left alone where there is no terminal', () => {
    const text = 'x '.repeat(100);
    expect(wrapText(text, undefined)).toBe(text);
  });
});
