import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAccessLog } from '../../../src/app/log.ts';
import { toEpochMs } from '../../../src/model/time.ts';

const REQUEST = {
  at: toEpochMs(Date.UTC(2026, 10, 1, 9, 5, 3)),
  clientAddress: '2001:db8::7',
  method: 'GET',
  path: '/acme/',
  sent: { headers: { host: 'status.example.com', 'user-agent': '' } },
  status: 200,
  bytes: 9471,
  seconds: 0.0004126,
};

function linesOf(format: 'off' | 'common' | 'json', over: Partial<typeof REQUEST> = {}): string[] {
  const lines: string[] = [];
  createAccessLog((line) => lines.push(line))(format)?.({ ...REQUEST, ...over });
  return lines;
}

describe('the access log', () => {
  it('writes the Common Log Format', () => {
    expect(linesOf('common')).toEqual([
      '2001:db8::7 - - [01/Nov/2026:09:05:03 +0000] "GET /acme/ HTTP/1.1" 200 9471\n',
    ]);
    expect(linesOf('off')).toEqual([]);
  });

  it('lets no request write a line or a field of its own', () => {
    const path = '/a" 200 1\n192.0.2.1 - - "x\u001b[2J\\é';
    expect(linesOf('common', { path })).toEqual([
      String.raw`2001:db8::7 - - [01/Nov/2026:09:05:03 +0000] "GET /a\" 200 1\x0a192.0.2.1 - - \"x\x1b[2J\\\xe9 HTTP/1.1" 200 9471` +
        '\n',
    ]);
    const [line = ''] = linesOf('json', { path, sent: { headers: { host: 'a', 'user-agent': path } } });
    expect(line.trimEnd()).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(line)).toMatchObject({ path, agent: path, ms: 0.413, time: '2026-11-01T09:05:03.000Z' });
  });

  it.each(['', 'process.exit()', 'process.kill(process.pid, "SIGTERM")'])(
    'loses no line when the process ends: %s',
    (end) => {
      const file = resolve(import.meta.dirname, '../../../src/app/log.ts');
      const code = `
      const { createAccessLog } = await import(${JSON.stringify(file)});
      process.once('SIGTERM', () => process.exit());
      const log = createAccessLog()('common');
      for (let index = 0; index < 1000; index += 1) log({ ...${JSON.stringify(REQUEST)}, path: '/' + index });
      ${end};`;
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
      const paths = stdout
        .trimEnd()
        .split('\n')
        .map((line) => Number(line.split(' ')[6]?.slice(1)));
      // A thread may still be writing lines when the rest is written at an end that waits for nothing.
      const inOrder = end === '' ? paths : paths.toSorted((one, other) => one - other);
      expect(inOrder).toEqual(Array.from({ length: 1000 }, (_, index) => index));
    },
  );
});
