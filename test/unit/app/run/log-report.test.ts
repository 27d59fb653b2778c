import { describe, expect, it } from 'vitest';
import type { Log } from '../../../../src/app/log.ts';
import type { RunReport } from '../../../../src/app/run/engine.ts';
import { createReportLog } from '../../../../src/app/run/outcome.ts';

function written(...passes: readonly object[]): string[] {
  const lines: string[] = [];
  const write = (level: string) => (_facts: object, text: string) => void lines.push(`${level} ${text}`);
  const log = { info: write('info'), warn: write('warn'), error: write('error') } as unknown as Log;
  const writeReport = createReportLog(log);
  for (const pass of passes) {
    const upstreams = [{ upstreamId: 'edge', problems: [], changed: { monitors: [] }, ...pass }];
    writeReport({ id: 'r', traces: [], pass: { upstreams }, publish: null } as unknown as RunReport);
    lines.push('-');
  }
  return lines;
}
const ok = (...messages: readonly string[]) => ({
  kind: 'ok',
  problems: messages.map((message) => ({ kind: 'word', place: 'monitors[3]', message })),
});
const failed = (message: string) => ({ kind: 'failed', code: 'UPSTREAM_FAILED', message });

describe('the log of runs', () => {
  it('says what is wrong once, until it changes or comes back', () => {
    expect(written(ok('a'), ok('a'), ok('a', 'b'), ok('b'), ok(), ok('b'))).toEqual([
      'warn monitors[3]: a',
      '-',
      '-',
      'warn monitors[3]: b',
      '-',
      '-',
      '-',
      'warn monitors[3]: b',
      '-',
    ]);
    expect(written(failed('x'), failed('x'), failed('y'), { kind: 'skipped' }, failed('y'), ok(), failed('y'))).toEqual(
      ['warn x', '-', '-', 'warn y', '-', '-', '-', 'info answers again', '-', 'warn y', '-'],
    );
  });

  it('says what is wrong with a page once, until it changes or comes back', () => {
    const lines: string[] = [];
    const write =
      (level: string) =>
      ({ page }: { page?: string }, text: string) =>
        void lines.push(`${level} ${page} ${text}`);
    const writeReport = createReportLog({ info: write('info'), warn: write('warn'), error: write('error') } as never);
    const run = (problems: readonly object[], pages: readonly object[] = []) => {
      writeReport({ id: 'r', traces: [], pass: null, publish: { pages, problems } } as never);
      lines.push('-');
    };
    const gone = { slug: 'acme', message: 'a' };
    const failed = { slug: 'acme', kind: 'failed', message: 'full' };
    for (const problems of [[gone], [gone], [gone, { slug: 'beta', message: 'a' }], [], [gone]]) run(problems);
    for (const kind of [failed, failed, { ...failed, kind: 'unchanged' }, failed]) run([gone], [kind]);
    expect(lines.join(' ')).toBe(
      'warn acme a - - warn beta a - - warn acme a - error acme full - - - error acme full -',
    );
  });

  it('writes no control characters of an upstream', () => {
    expect(written(ok('a\u001b[31m\nb\u202e'))[0]).toBe('warn monitors[3]: a [31m b ');
  });
});
