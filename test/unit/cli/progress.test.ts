import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress } from '../../../src/cli/terminal/progress.ts';
import { upstreamProgress } from '../../../src/cli/terminal/report-text.ts';
import { paragraph, table, terminalColumns, textWidth } from '../../../src/cli/terminal/table.ts';

const TERMINAL = { TERM: 'xterm-256color' };

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
    const progress = createProgress(false, out, TERMINAL);
    progress.doing('asking 2 upstreams');
    progress.did('edge ok');
    progress.end();
    expect(out.text).toBe('edge ok\n');
  });

  it('is one line that changes on a terminal, no longer than it, and gone in the end', () => {
    const out = stream(true);
    const progress = createProgress(false, out, TERMINAL);
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

  it.each([[{ TERM: 'dumb' }], [{ TERM: 'xterm', CI: 'true' }]])(
    'is plain lines on a terminal with %o',
    (environment) => {
      const out = stream(true);
      const progress = createProgress(false, out, environment);
      progress.doing('asking 2 upstreams');
      vi.advanceTimersByTime(500);
      progress.did('edge ok');
      progress.end();
      expect(out.text).toBe('edge ok\n');
    },
  );

  it('cuts a line by the columns that it takes, and not by its characters', () => {
    const out = stream(true);
    const progress = createProgress(false, out, TERMINAL);
    progress.doing('数据库'.repeat(10));
    progress.end();
    const [, line = ''] = out.text.split('\r\u001b[2K');
    expect(textWidth(line)).toBeLessThan(30);
    expect(line).toMatch(/^⠙ (?:数据库){4}数…$/u);
  });

  it('counts upstreams, and the seconds until one may be asked again', () => {
    const out = stream(true);
    out.columns = 80;
    const progress = createProgress(false, out, TERMINAL);
    const { asking, waiting } = upstreamProgress(progress, () => Date.now());
    asking(0, 2);
    waiting('edge', (Date.now() + 3_000) as never);
    vi.advanceTimersByTime(1_500);
    asking(1, 2);
    vi.advanceTimersByTime(4_000);
    progress.end();
    const shown = out.text.split('\r\u001b[2K').map((line) => line.slice(2));
    expect([...new Set(shown)].filter((line) => line !== '')).toEqual([
      '0 of 2 upstreams answered',
      'edge: waiting 3 s for its rate limit',
      '0 of 2 upstreams answered; edge: waiting 3 s for its rate limit',
      '0 of 2 upstreams answered; edge: waiting 2 s for its rate limit',
      '1 of 2 upstreams answered; edge: waiting 2 s for its rate limit',
      '1 of 2 upstreams answered; edge: waiting 1 s for its rate limit',
      '1 of 2 upstreams answered',
    ]);
  });

  it('says once that an upstream waits where there is no terminal', () => {
    const out = stream(false);
    const progress = createProgress(false, out, TERMINAL);
    const { asking, waiting } = upstreamProgress(progress, () => 1_000);
    asking(0, 2);
    waiting('edge', 69_000 as never);
    asking(1, 2);
    progress.end();
    expect(out.text).toBe('edge: waiting 68 s for its rate limit\n');
  });

  it('is nothing when it is to be quiet', () => {
    const out = stream(true);
    const progress = createProgress(true, out, TERMINAL);
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

  it('is a list for each row where its columns have no room at all', () => {
    const rows = [
      ['✓', 'an-upstream-with-a-long-name', 'uptime-service', '', 'key accepted, and a lot more to say of it'],
      ['✗', '数据库', 'gatus', '3', ''],
    ];
    expect(table(['', 'upstream', 'kind', 'monitors', ''], rows, 40).split('\n')).toEqual([
      '✓ an-upstream-with-a-long-name',
      '    kind: uptime-service',
      '    key accepted, and a lot more to say',
      '    of it',
      '✗ 数据库',
      '    kind: gatus',
      '    monitors: 3',
    ]);
  });

  it('is as long as it is where there is no terminal', () => {
    expect(table(HEAD, ROWS, undefined).split('\n')[2]).toBe(`acme   failed     ${ROWS[0]?.[2]}`);
  });

  it('counts two columns for a sign that takes two', () => {
    expect(['API', '数据库', 'é', 'e\u0301', '🚀', '\u001b[32mok\u001b[39m'].map(textWidth)).toEqual([
      3, 6, 1, 1, 2, 2,
    ]);
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

it('the width is what COLUMNS says, else that of the terminal, and none where there is none', () => {
  expect(terminalColumns({ isTTY: true, columns: 120 }, {})).toBe(120);
  expect(terminalColumns({ isTTY: true, columns: 120 }, { COLUMNS: '40' })).toBe(40);
  expect(terminalColumns({ isTTY: false }, { COLUMNS: '40' })).toBe(40);
  expect(terminalColumns({ isTTY: true, columns: 120 }, { COLUMNS: 'wide' })).toBe(120);
  expect(terminalColumns({ isTTY: true, columns: 0 }, {})).toBe(80);
  expect(terminalColumns({}, {})).toBeUndefined();
});

it('a paragraph goes on below, indented, and is one line where there is no terminal', () => {
  expect(paragraph('✗ UPSTREAM_REFUSED: the key was rejected', '  ', 24)).toBe(
    '✗ UPSTREAM_REFUSED:\n  the key was rejected',
  );
  expect(paragraph('! edge: the fastest is schedule: "*/2 * * * *"', '  ', 40)).toBe(
    '! edge: the fastest is schedule:\n  "*/2 * * * *"',
  );
  expect(paragraph('  a-slug-that-is-longer-than-the-line: no', '    ', 24)).toBe(
    '  a-slug-that-is-longer-than-the-line:\n    no',
  );
  expect(paragraph('    → Check the key.', '      ', 80)).toBe('    → Check the key.');
  expect(paragraph('✗ UPSTREAM_REFUSED: the key was rejected', '  ', undefined)).not.toContain('\n');
});
