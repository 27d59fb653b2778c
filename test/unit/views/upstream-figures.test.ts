import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../src/model/index.ts';
import { badgeSubjects } from '../../../src/views/badges/badge-subjects.ts';
import { componentView } from '../../../src/views/component/component.ts';
import { uptimeCalendarView } from '../../../src/views/history/uptime-calendar.ts';
import { uptimeDocument } from '../../../src/views/json/uptime-json.ts';
import { statusPageView } from '../../../src/views/page/status-page.ts';
import { partBadges } from '../../helpers/every-page.ts';
import { ago, type ComponentInit, componentModel, pageModel, responseTimes } from '../../helpers/page-model.ts';

const SAID = { periodDays: 90, checksTotal: 1_000, checksUp: 900, uptimeRatio: 0.9, responseTimeAverageMs: 187.4 };

function shown(init: ComponentInit) {
  const component = componentModel({ upstreamUptime: SAID, ...init });
  const model = pageModel({ components: [component] });
  const page = componentView(model, component, { badges: partBadges() });
  return {
    badge: badgeSubjects(model).components[0]?.subject.responseTime,
    row: JSON.stringify(statusPageView(model)).includes('187 ms'),
    component: page.upstreamResponse,
    json: uptimeDocument(model).components[0]?.upstream?.response_time_average_ms,
  };
}

describe('the average response time that an upstream gives', () => {
  it('stands on the page, the component’s page and badges where there are no samples', () => {
    expect(shown({})).toEqual({
      badge: { averageMs: 187.4, p95Ms: null },
      row: true,
      component: expect.stringContaining('187 ms'),
      json: 187.4,
    });
  });

  it('gives way to samples of the last day, and not to older ones', () => {
    const sampled = shown({ responseTimes: responseTimes(1, 50) });
    expect(sampled.badge?.averageMs).toBeLessThan(100);
    expect([sampled.row, sampled.component]).toEqual([false, null]);
    expect(shown({ responseTimes: [{ at: ago(30 * HOUR_MS), ms: 5 }] }).badge?.averageMs).toBe(187.4);
  });

  it('is not shown once the upstream is not heard from', () => {
    expect(shown({ isStale: true })).toMatchObject({ badge: null, row: false, component: null });
  });
});

describe('a page without uptime', () => {
  const component = componentModel({
    upstreamUptime: SAID,
    troubles: [{ state: 'major_outage', startedAgoMs: 20 * HOUR_MS, forMs: HOUR_MS }],
  });
  const figures = (showUptime: boolean): readonly string[] => {
    const model = pageModel({ components: [component], settings: { showUptime } });
    const views = {
      page: statusPageView(model),
      component: componentView(model, component, { badges: partBadges() }),
      calendar: uptimeCalendarView(model),
      json: uptimeDocument(model),
      badges: badgeSubjects(model),
    };
    return Object.entries(views).flatMap(([name, view]) =>
      /9\d\.\d+%|"uptime_ratio":[01]|"(24h|7d|30d|90d)":0\.9/.test(JSON.stringify(view)) ? [name] : [],
    );
  };

  it('has no figure of it anywhere, and all of them otherwise', () => {
    expect(figures(true)).toEqual(['page', 'component', 'calendar', 'json', 'badges']);
    expect(figures(false)).toEqual([]);
  });
});
