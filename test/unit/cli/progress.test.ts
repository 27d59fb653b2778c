import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress } from '../../../src/cli/terminal/progress.ts';
import { table, widthOf } from '../../../src/cli/terminal/table.ts';

function stream(isTTY: boolean): { isTTY: boolean; columns: number; text: string; write: (text: string) => void } {
  return {
    isTTY,
    columns: 30,
    text: '',
    write(text: string) {
      this.text += text;
    },
  };
}

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is plain lines of what is done where there is no terminal', () => {
    const out = stream(false);
    const progress = createProgress(false, out);
    progress.doing('asking 2 upstreams');
    progress.did('edge ok');
    progress.end();
    expect(out.text).toBe('edge ok\n');
  });

  it('is one line that changes on a terminal, no longer than it, and gone in the end', () => {
    const out = stream(true);
    const progress = createProgress(false, out);
    progress.doing('asking a great many upstreams about everything that they know');
    vi.advanceTimersByTime(500);
    progress.did('\u001b[2J\u0007edge\nok');
    progress.end();
    vi.advanceTimersByTime(500);
    expect(out.text).not.toContain('\n');
    expect(out.text).not.toContain('\u001b[2J');
    const lines = out.text.split('\r\u001b[2K');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(30);
    expect(lines.at(-2)).toContain('edge ok');
    expect(lines.at(-1)).toBe('');
  });

  it('is nothing when it is to be quiet', () => {
    const out = stream(true);
    const progress = createProgress(true, out);
    progress.doing('x');
    progress.did('x');
    progress.end();
    expect(out.text).toBe('');
  });
});

describe('a table', () => {
  const HEAD = ['page', 'result', ''];
  const ROWS = [
    ['acme', 'failed', 'the data folder cannot be written, so the page stays as it was'],
    ['staff', 'published', ''],
  ];

  it('wraps its last column on a terminal, between words', () => {
    expect(table(HEAD, ROWS, 50).split('\n')).toEqual([
      'page   result',
      '─────  ─────────  ────────────────────────────────',
      'acme   failed     the data folder cannot be',
      '                  written, so the page stays as it',
      '                  was',
      'staff  published',
    ]);
  });

  it('puts its last column below where there is no room for it', () => {
    expect(table(HEAD, ROWS, 36).split('\n')).toEqual([
      'page   result',
      '─────  ─────────',
      'acme   failed',
      '    the data folder cannot be',
      '    written, so the page stays as it',
      '    was',
      'staff  published',
    ]);
  });

  it('is as long as it is where there is no terminal', () => {
    expect(table(HEAD, ROWS, undefined).split('\n')[2]).toBe(`acme   failed     ${ROWS[0]?.[2]}`);
  });

  it('counts two columns for a sign that takes two', () => {
    expect(['API', '数据库', 'é', 'e\u0301', '🚀', '\u001b[32mok\u001b[39m'].map(widthOf)).toEqual([3, 6, 1, 1, 2, 2]);
    expect(
      table(
        ['name', 'x'],
        [
          ['数据库', '1'],
          ['API', '2'],
        ],
        undefined,
      )
        .split('\n')
        .slice(2),
    ).toEqual(['数据库  1', 'API     2']);
  });

  it('keeps its columns when some cells have a colour', () => {
    const green = '\u001b[32mok\u001b[39m';
    expect(
      table(
        ['id', 'result', 'time'],
        [
          ['a', green, '1 ms'],
          ['b', 'failed', '2 ms'],
        ],
      ).split('\n'),
    ).toEqual(['id  result  time', '──  ──────  ────', `a   ${green}      1 ms`, 'b   failed  2 ms']);
  });
});
