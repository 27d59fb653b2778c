/** The recorded figures of benchmarks: shown as they are, none of them older than the code by much, all of them new at a release. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BENCHES } from '../bench/benches.ts';
import {
  type BenchRecord,
  DOCUMENT,
  drawDocument,
  git,
  lackingForRelease,
  outdated,
  packageVersion,
  type RecordedRun,
  readRecord,
} from '../bench/record.ts';

const ROOT = join(import.meta.dirname, '../..');
const RUN: RecordedRun = {
  commit: '0123456789ab',
  commitNumber: 1_000,
  version: '1.2.0',
  date: '2026-11-23',
  machine: '2 cores',
  load: 0.1,
  paceMs: 300,
  isRealTime: true,
  settings: { PHAROS_BENCH_SECONDS: '2' },
  figures: [
    { name: 'page', figure: 0.8765, unit: '×', atLeast: 0.9, remark: 'a|b' },
    { name: '  p99', figure: 12, unit: 'ms', atMost: 20 },
    { name: 'cost', figure: 3, unit: 'µs' },
  ],
};

describe('the record of benchmarks', () => {
  it('is what the document shows', () => {
    const text = readFileSync(DOCUMENT, 'utf8');
    expect(drawDocument(text, readRecord())).toBe(text);
  });

  it('has a place in the document for every benchmark', () => {
    const text = readFileSync(DOCUMENT, 'utf8');
    const record = Object.fromEntries(Object.keys(BENCHES).map((name) => [name, RUN]));
    expect(drawDocument(text, record).split('Commit 01234567')).toHaveLength(1 + Object.keys(BENCHES).length);
  });

  it('lists every file that can be run, with paths that exist', () => {
    const folder = join(ROOT, 'test/bench');
    const runnable = readdirSync(folder).filter((file) =>
      /^export async function run\(/m.test(readFileSync(join(folder, file), 'utf8')),
    );
    expect(Object.keys(BENCHES)).toEqual(runnable.map((file) => file.replace(/\.ts$/, '')));
    const paths = Object.values(BENCHES).flatMap(({ measures }) => measures);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has no figure that is 200 commits older than the last change of what it measures', ({ skip }) => {
    if (historyLength() === null) return skip('this checkout has no history of commits, so no figure’s age is known');
    const changedAt = (paths: readonly string[]): number =>
      Number(git('rev-list', '--count', git('log', '-1', '--format=%H', '--', ...paths)));
    expect(outdated(readRecord(), changedAt)).toEqual([]);
  });

  it('names commits of this history', ({ skip }) => {
    const length = historyLength();
    if (length === null) return skip('this checkout has no history of commits');
    for (const { commitNumber } of Object.values(readRecord())) expect(commitNumber).toBeLessThanOrEqual(length);
  });

  it('has every benchmark at this version, from a quiet machine, once its changes are no longer unreleased', () => {
    const [, heading = ''] = /^## (.+)$/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? [];
    expect(heading).not.toBe('');
    if (heading !== 'Unreleased') expect(lackingForRelease(readRecord(), packageVersion())).toEqual([]);
  });
});

describe('a recorded run', () => {
  const marks = (name: string, inside: string): string =>
    `Before.\n<!-- figures of ${name} -->\n${inside}<!-- end of ${name} -->\nAfter.\n`;

  it('is drawn between its marks, with its budgets, commit and load', () => {
    const drawn = drawDocument(marks('serve', 'old\n'), { serve: RUN });
    expect(drawn).toBe(
      marks(
        'serve',
        [
          '| what | figure | budget | remark |',
          '|---|---|---|---|',
          '| page | 0.88 × | ≥ 0.9: missed | a\\|b |',
          '| … p99 | 12 ms | ≤ 20 |  |',
          '| cost | 3 µs |  |  |',
          '',
          'Commit 01234567 (1,000) of version 1.2.0, 2026-11-23; load 0.1, pace 300 ms, at real-time priority, `PHAROS_BENCH_SECONDS=2`; 2 cores.',
          '',
        ].join('\n'),
      ),
    );
    expect(drawDocument(drawn, { serve: RUN })).toBe(drawn);
    expect(() => drawDocument(drawn, { start: RUN })).toThrow('no place for start');
  });

  it('is outdated 201 commits before the last change of what it measures, and not 200', () => {
    const changes = (after: number) => (paths: readonly string[]) =>
      paths === BENCHES['serve']?.measures ? RUN.commitNumber + after : 0;
    const record: BenchRecord = { serve: RUN, badges: RUN };
    expect(outdated(record, changes(200))).toEqual([]);
    expect(outdated(record, changes(201))).toEqual([expect.stringMatching(/^serve: .* 201 commits/)]);
  });

  it('counts for a release at its version, without much other work and at full pace', () => {
    const every = (run: RecordedRun): BenchRecord =>
      Object.fromEntries(Object.keys(BENCHES).map((name) => [name, run]));
    expect(lackingForRelease(every(RUN), '1.2.0')).toEqual([]);
    expect(lackingForRelease(every(RUN), '1.3.0')).toHaveLength(Object.keys(BENCHES).length);
    expect(lackingForRelease({ ...every(RUN), soak: { ...RUN, load: 2 } }, '1.2.0')).toEqual([
      'soak was recorded at load 2; 0.5 is quiet',
    ]);
    expect(lackingForRelease({ ...every(RUN), soak: { ...RUN, paceMs: 390 } }, '1.2.0')).toEqual([]);
    expect(lackingForRelease({ ...every(RUN), soak: { ...RUN, paceMs: 391 } }, '1.2.0')).toEqual([
      'soak was recorded at a pace of 391 ms, and such a machine has had 300 ms',
    ]);
    expect(lackingForRelease({ ...every(RUN), soak: { ...RUN, paceMs: 391, machine: 'another' } }, '1.2.0')).toEqual(
      [],
    );
    const { soak: _, ...others } = every(RUN);
    expect(lackingForRelease(others, '1.2.0')).toEqual(['soak has not been recorded at version 1.2.0']);
  });
});

/** Null: a part of the history, or none, is here. */
function historyLength(): number | null {
  try {
    if (git('rev-parse', '--is-shallow-repository') !== 'false') return null;
    return Number(git('rev-list', '--count', 'HEAD'));
  } catch {
    return null;
  }
}
