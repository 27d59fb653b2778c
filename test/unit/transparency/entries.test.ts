import { describe, expect, it } from 'vitest';
import type { DayRecord } from '../../../src/model/days.ts';
import {
  committedDays,
  correctionsEntry,
  daysEntry,
  formatEntry,
  parseEntry,
} from '../../../src/transparency/entries.ts';

const AT = '2026-11-22T00:00:00.000Z';
const record = (day: string, up: number): DayRecord =>
  ({ component: 'the api', day, figures: JSON.stringify({ seconds: { operational: up } }) }) as DayRecord;

/** What is wrong with a log of these entries, written and read back. */
function rewritesIn(drafts: readonly Parameters<typeof formatEntry>[1][]): string[] {
  const faults: string[] = [];
  const entries = drafts.map((draft, n) => parseEntry(formatEntry(n, draft))).filter((entry) => entry !== null);
  expect(entries).toHaveLength(drafts.length);
  committedDays(entries, (fault) => faults.push(fault));
  return faults;
}

const first = daysEntry(AT, [record('2026-11-20', 86_400)]);
const change = { component: 'the api', day: '2026-11-20' as DayRecord['day'] };
const [was, now] = [record('2026-11-20', 86_400).figures, record('2026-11-20', 80_000).figures];

describe('entries about days that are over', () => {
  it('may follow each other, and correct what was said', () => {
    expect(rewritesIn([first, daysEntry(AT, [record('2026-11-21', 1)])])).toEqual([]);
    expect(rewritesIn([first, correctionsEntry(AT, [{ ...change, was, now }])])).toEqual([]);
    const gone = correctionsEntry(AT, [{ ...change, was, now: null }]);
    expect(rewritesIn([first, gone, daysEntry(AT, [record('2026-11-20', 1)])])).toEqual([]);
  });

  it('are rewrites when they say a day again, or correct what nobody said', () => {
    const named = [expect.stringMatching(/Entry 1 .*the api 2026-11-20.*doesn’t say so/)];
    expect(rewritesIn([first, daysEntry(AT, [record('2026-11-20', 80_000)])])).toEqual(named);
    expect(rewritesIn([first, correctionsEntry(AT, [{ ...change, was: now, now: was }])])).toEqual(named);
  });
});
