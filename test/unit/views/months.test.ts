import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, toEpochMs } from '../../../src/model/index.ts';
import { addMonths, intervalOfMonth, listMonths, monthOf } from '../../../src/views/days/months.ts';
import { ago, componentModel, incident, pageModel } from '../../helpers/page-model.ts';

describe('months', () => {
  it('are cut in the page’s zone', () => {
    const at = toEpochMs(Date.parse('2026-10-31T23:30:00Z'));
    expect([monthOf(at, 'UTC'), monthOf(at, 'Europe/Berlin')]).toEqual(['2026-10', '2026-11']);
    const october = intervalOfMonth('2026-10', 'Europe/Berlin');
    expect(october.to - october.from).toBe(31 * DAY_MS + HOUR_MS);
    expect(addMonths('2026-01', -1)).toBe('2025-12');
  });

  it('go without gaps from the current one to the oldest thing known', () => {
    const model = pageModel({ components: [componentModel({ knownDays: 40 })] });
    expect(listMonths(model)).toEqual(['2026-11', '2026-10']);
    const older = pageModel({
      components: [componentModel({ knownDays: 1 })],
      incidents: [incident({ startedAt: ago(100 * DAY_MS), endedAt: ago(99 * DAY_MS) })],
    });
    expect(listMonths(older)).toEqual(['2026-11', '2026-10', '2026-09', '2026-08']);
    expect(listMonths(pageModel({ components: [] }))).toEqual(['2026-11']);
  });
});
