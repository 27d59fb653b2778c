import { describe, expect, it } from 'vitest';
import { onCall } from '../../../src/exports/deliver.ts';
import { RotaSchema } from '../../../src/exports/options.ts';
import { HOUR_MS, toEpochMs } from '../../../src/model/time.ts';

const at = (text: string) => toEpochMs(Date.parse(text));
const window = (from: string, to: string) => ({ from: at(from), to: at(to) });
const rota = (input: unknown) => RotaSchema.parse(input);

describe('a rota', () => {
  it('hands over at the same local time over a clock change: 23 and 25 hours are one day', () => {
    const daily = rota({
      rotation: { employees: [1, 2], startsAt: '2026-03-27T09:00', everyDays: 1, timezone: 'Europe/Berlin' },
    });
    const turns = onCall(daily, window('2026-03-27T08:00:00Z', '2026-03-31T07:00:00Z'));
    expect(turns.map((turn) => [turn.employee, (turn.to - turn.from) / HOUR_MS])).toEqual([
      [1, 24],
      [2, 23],
      [1, 24],
      [2, 24],
    ]);
  });

  it('splits a long incident among those who were on call', () => {
    const weekly = rota({ rotation: { employees: [7, 8, 9], startsAt: '2026-01-05T09:00' } });
    expect(onCall(weekly, window('2026-01-12T08:00:00Z', '2026-01-12T11:00:00Z'))).toEqual([
      { employee: 7, from: at('2026-01-12T08:00:00Z'), to: at('2026-01-12T09:00:00Z') },
      { employee: 8, from: at('2026-01-12T09:00:00Z'), to: at('2026-01-12T11:00:00Z') },
    ]);
  });

  it('puts shifts before the rotation, and the first of two that overlap', () => {
    const both = rota({
      shifts: [
        { employee: 3, from: '2026-01-06T10:00:00Z', to: '2026-01-06T12:00:00Z' },
        { employee: 4, from: '2026-01-06T11:00:00Z', to: '2026-01-06T13:00:00Z' },
      ],
      rotation: { employees: [1], startsAt: '2026-01-05T09:00' },
    });
    expect(
      onCall(both, window('2026-01-06T09:00:00Z', '2026-01-06T14:00:00Z')).map((turn) => [
        turn.employee,
        (turn.to - turn.from) / HOUR_MS,
      ]),
    ).toEqual([
      [1, 1],
      [3, 2],
      [4, 1],
      [1, 1],
    ]);
  });

  it('names nobody before the first turn, or where there is no shift', () => {
    expect(
      onCall(
        rota({ rotation: { employees: [1], startsAt: '2026-01-05T09:00' } }),
        window('2026-01-01T00:00:00Z', '2026-01-05T09:00:00Z'),
      ),
    ).toEqual([]);
    expect(
      onCall(
        rota({ shifts: [{ employee: 1, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }] }),
        window('2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z'),
      ),
    ).toEqual([]);
  });

  it('covers a window exactly, whatever its edges', () => {
    const weekly = rota({
      rotation: { employees: [1, 2, 3], startsAt: '2020-02-29T23:30', everyDays: 3, timezone: 'America/St_Johns' },
    });
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 500; round += 1) {
      const from = toEpochMs(at('2021-01-01T00:00:00Z') + random(200_000_000) * 1_000);
      const to = toEpochMs(from + 1 + random(2_000_000_000));
      const turns = onCall(weekly, { from, to });
      expect(turns[0]?.from).toBe(from);
      expect(turns.at(-1)?.to).toBe(to);
      for (const [index, turn] of turns.entries()) if (index > 0) expect(turn.from).toBe(turns[index - 1]?.to);
    }
  });
});
