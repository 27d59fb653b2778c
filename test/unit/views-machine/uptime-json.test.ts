import { describe, expect, it } from 'vitest';
import { UptimeDocumentSchema } from '../../../scripts/json-shapes.ts';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type PageModel,
  STATES,
  type TimelineSpan,
  toEpochMs,
} from '../../../src/model/index.ts';
import { uptimeDocument } from '../../../src/views/json/uptime-json.ts';
import { AS_OF, ago, componentModel, pageModel } from '../../helpers/page-model.ts';
import { calm, empty, longNames, manyComponents, outage, rightToLeft, stale } from '../../helpers/page-scenes.ts';

const scenes = [calm, outage, stale, empty, longNames, rightToLeft, () => manyComponents(50)];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('api/uptime.json', () => {
  it('is what its schema says, for every kind of page', () => {
    for (const make of scenes) UptimeDocumentSchema.parse(uptimeDocument(make()));
  });

  it('has ninety days, and in each the seconds in every state add up to its length', () => {
    for (const make of scenes) {
      const { days, day_seconds, components } = uptimeDocument(make());
      expect(days).toHaveLength(90);
      expect(day_seconds).toHaveLength(90);
      for (const { days: own } of components)
        for (const [index, length] of day_seconds.entries())
          expect(sum(STATES.map((state) => own.seconds[state][index] ?? Number.NaN))).toBeCloseTo(length, 6);
    }
  });

  it('cuts days in the zone of the page, 25 hours long where the clock goes back', () => {
    const model = calm({ settings: { timezone: 'Europe/Berlin' } });
    const { days, day_seconds, time_zone } = uptimeDocument(model);
    expect(time_zone).toBe('Europe/Berlin');
    expect(day_seconds[days.indexOf('2026-10-25')]).toBe(25 * 3_600);
    expect(day_seconds[days.indexOf('2026-10-26')]).toBe(24 * 3_600);
    expect(days.at(-1)).toBe('2026-11-21');
    expect(day_seconds.at(-1)).toBe((9 * 60 + 31) * 60);
    const inUtc = uptimeDocument(calm({ settings: { timezone: 'UTC' } }));
    expect(inUtc.day_seconds[inUtc.days.indexOf('2026-10-25')]).toBe(24 * 3_600);
  });

  it('lets anybody count the figures again from the seconds', () => {
    const component = componentModel({
      troubles: [
        { state: 'major_outage', startedAgoMs: 3 * DAY_MS, forMs: HOUR_MS },
        { state: 'partial_outage', startedAgoMs: 2 * DAY_MS, forMs: 2 * HOUR_MS },
        { state: 'maintenance', startedAgoMs: 4 * DAY_MS, forMs: 3 * HOUR_MS },
        { state: 'degraded', startedAgoMs: 5 * DAY_MS, forMs: 5 * HOUR_MS },
      ],
    });
    const [counted] = uptimeDocument(pageModel({ components: [component] })).components;
    const week = counted?.periods['7d'];
    if (week === undefined) throw new Error('no figures');
    const { operational, degraded, partial_outage, major_outage, maintenance } = week.seconds;
    expect(sum(Object.values(week.seconds))).toBe(7 * 86_400);
    const up = operational + degraded + 0.7 * partial_outage;
    const counts = operational + degraded + partial_outage + major_outage;
    expect(counts).toBe(7 * 86_400 - 3 * 3_600);
    expect(week.uptime_ratio).toBe(Math.floor((up / counts) * 1e6) / 1e6);
    expect(week.uptime_ratio_with_maintenance).toBe(Math.floor(((up + maintenance) / (7 * 86_400)) * 1e6) / 1e6);
    expect(week.coverage_ratio).toBe(1);
  });

  it('never rounds a figure up to 1', () => {
    const component = componentModel({ troubles: [{ state: 'major_outage', startedAgoMs: HOUR_MS, forMs: 1 }] });
    const { periods } = uptimeDocument(pageModel({ components: [component] }));
    expect(periods['90d'].uptime_ratio).toBe(0.999999);
    expect(uptimeDocument(pageModel()).periods['90d'].uptime_ratio).toBe(1);
  });

  it('says nothing of time that nothing is known of', () => {
    const component = componentModel({ knownDays: 10 });
    const { components } = uptimeDocument(pageModel({ components: [component] }));
    expect(components[0]?.days.state[0]).toBe('unknown');
    expect(components[0]?.days.coverage[0]).toBe(0);
    expect(components[0]?.days.provenance[0]).toEqual([]);
    expect(components[0]?.days.provenance.at(-1)).toEqual(['observed']);
    expect(components[0]?.periods['90d'].coverage_ratio).toBe(Math.floor((10 / 90) * 1e4) / 1e4);
    expect(uptimeDocument(empty()).periods['24h'].uptime_ratio).toBeNull();
  });

  it('names where known time comes from', () => {
    const spans: TimelineSpan[] = [
      { state: 'operational', from: ago(2 * DAY_MS), to: ago(20 * HOUR_MS), provenance: 'reported' },
      { state: 'major_outage', from: ago(20 * HOUR_MS), to: ago(19 * HOUR_MS), provenance: 'incident' },
      { state: 'operational', from: ago(19 * HOUR_MS), to: AS_OF, provenance: 'observed' },
    ];
    const { components } = uptimeDocument(pageModel({ components: [componentModel({ timeline: spans })] }));
    expect(components[0]?.days.provenance.at(-2)).toEqual(['observed', 'incident', 'reported']);
  });

  it('tells how fresh each source is, and which components come from it, without naming it', () => {
    const model = stale();
    const { sources, components, stale: isStale, as_of, stale_after } = uptimeDocument(model);
    expect(isStale).toBe(true);
    expect(sources).toEqual([
      {
        id: components[0]?.source_id,
        monitors_at: new Date(ago(2 * HOUR_MS)).toISOString(),
        incidents_at: new Date(ago(2 * HOUR_MS)).toISOString(),
        interval_seconds: 60,
        monitors_stale: true,
        incidents_stale: true,
      },
    ]);
    expect(Date.parse(as_of)).toBe(AS_OF);
    expect(Date.parse(stale_after)).toBe(ago(-17 * MINUTE_MS));
    expect(JSON.stringify(uptimeDocument(model))).not.toContain('edge');
  });

  it('is never given what is checked, though the page shows it', () => {
    const component = componentModel({ target: 'https://10.0.0.7/internal' });
    const model: PageModel = pageModel({ components: [component], settings: { showTargets: true } });
    expect(JSON.stringify(uptimeDocument(model))).not.toContain('10.0.0.7');
  });

  it('the same model gives the same bytes', () => {
    expect(JSON.stringify(uptimeDocument(outage()))).toBe(JSON.stringify(uptimeDocument(outage())));
  });

  it('counts to the instant it names and not beyond', () => {
    const early = { ...calm(), asOf: toEpochMs(AS_OF - HOUR_MS) };
    expect(uptimeDocument(early).day_seconds.at(-1)).toBe((8 * 60 + 31) * 60);
  });
});
