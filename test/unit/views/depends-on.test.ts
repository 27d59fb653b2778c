import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import { type MonitorObservation, toMonitorId } from '../../../src/model/observation.ts';
import type { PageModel } from '../../../src/model/page.ts';
import type { State } from '../../../src/model/state.ts';
import { HOUR_MS, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import { resolvePages } from '../../../src/publish/definitions/definitions.ts';
import { pageFacts } from '../../../src/publish/files/page-facts.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import { badgeSubjects } from '../../../src/views/badges/badge-subjects.ts';
import { socialView } from '../../../src/views/badges/social.ts';
import { uptimeCalendarView } from '../../../src/views/history/uptime-calendar.ts';
import { uptimeDocument } from '../../../src/views/json/uptime-json.ts';
import { pageModel } from '../../../src/views/model/page-model.ts';
import { statusPageView } from '../../../src/views/page/status-page.ts';
import { reportView } from '../../../src/views/report/report.ts';
import { v2Documents } from '../../../src/views/v2/documents.ts';

const NOW = toEpochMs(Date.UTC(2026, 10, 21, 9));
const HEARD_AT = toEpochMs(NOW - 7 * MINUTE_MS);
const OURS = toMonitorId('edge', 'api');
const THEIRS = toMonitorId('cloud', 'c1');
const VENDOR = 'https://status.cloud.example';

interface World {
  readonly ours?: State;
  readonly theirs?: State;
  /** Of the group "Depends on". */
  readonly counts?: boolean;
  readonly isVendorSilent?: boolean;
  readonly hasOurs?: boolean;
}

/** A page with a component of its own and one of a vendor, from the configuration on. */
function page({
  ours = 'operational',
  theirs = 'operational',
  counts,
  isVendorSilent = false,
  hasOurs = true,
}: World): PageModel {
  const components = [
    ...(hasOurs ? [`{ monitor: edge/api, name: API }`] : []),
    '{ monitor: cloud/c1, name: Compute, group_id: vendors }',
  ];
  const group = `{ id: vendors, name: Depends on${counts === undefined ? '' : `, counts: ${counts}`} }`;
  const text = `
site: { url: https://status.acme.example }
upstreams:
  - { id: edge, kind: gatus, url: https://gatus.acme.example }
  - { id: cloud, kind: statuspage, url: ${VENDOR} }
pages:
  - { slug: acme, title: Acme, groups: [${group}], components: [${components.join(', ')}] }
`;
  const { config } = { config: parseConfig({ text, file: null, folder: '/' }, CONNECTORS, {}) };
  const states = new Map<MonitorObservation['id'], State>([
    ...(hasOurs ? [[OURS, ours] as const] : []),
    [THEIRS, theirs],
  ]);
  const monitors = new Map(
    [...states].map(([id, state]) => [
      id,
      { id, name: id, description: null, kind: 'x', target: null, state, isPublic: null, createdAt: null },
    ]),
  );
  const { pages } = resolvePages({
    site: {
      url: 'https://status.acme.example',
      name: 'Acme',
      home: null,
      timezone: 'UTC',
      locale: 'en',
      historyDays: 90,
    },
    pages: config.pages,
    upstreamDefinitions: [],
    undecidedUpstreams: new Set(),
    monitors,
    vendorPages: new Map([['cloud', VENDOR]]),
  });
  const [resolved] = pages;
  if (resolved === undefined) throw new Error('no page');
  const source = (upstreamId: string, isStale: boolean) => ({
    upstreamId,
    monitorsAt: HEARD_AT,
    incidentsAt: HEARD_AT,
    intervalMs: MINUTE_MS,
    isMonitorsStale: isStale,
    isIncidentsStale: isStale,
  });
  return pageModel({
    definition: resolved.definition,
    settings: resolved.settings,
    monitors,
    pasts: new Map(
      [...states].map(([id, state]) => [
        id,
        {
          observed: [{ state, from: toEpochMs(NOW - 24 * HOUR_MS), to: NOW }],
          reported: [],
          reportedDays: [],
          responseTimes: [],
          uptime: null,
        },
      ]),
    ),
    incidents: [],
    maintenances: [],
    announcements: [],
    sources: [source('edge', false), source('cloud', isVendorSilent)],
    asOf: NOW,
  });
}

/** What every surface says of the page as a whole. */
function whole(model: PageModel) {
  const view = statusPageView(model);
  return {
    state: model.state,
    banner: view.banner.state,
    details: view.banner.details.length,
    indicator: v2Documents(model).status().status.indicator,
    badge: badgeSubjects(model).page.state,
    isStale: model.isStale,
  };
}
const WELL = {
  state: 'operational',
  banner: 'operational',
  details: 0,
  indicator: 'none',
  badge: 'operational',
  isStale: false,
};

describe("a vendor's trouble", () => {
  it('does not redden our own banner, and shows where it is', () => {
    const model = page({ theirs: 'major_outage' });
    expect(whole(model)).toEqual(WELL);
    const [, vendors] = statusPageView(model).sections;
    expect(vendors?.group).toMatchObject({ name: 'Depends on', state: 'major_outage', isOpen: true });
    expect(vendors?.components.map(({ name, state }) => `${name} ${state}`)).toEqual(['Compute major_outage']);
  });

  it('does where its group counts', () => {
    const model = page({ theirs: 'major_outage', counts: true });
    expect(whole(model)).toMatchObject({
      state: 'partial_outage',
      banner: 'partial_outage',
      indicator: 'major',
      badge: 'partial_outage',
    });
  });

  it('hides none of ours', () => {
    expect(whole(page({ ours: 'degraded', theirs: 'operational' }))).toMatchObject({
      state: 'degraded',
      indicator: 'minor',
    });
    expect(whole(page({ ours: 'major_outage', theirs: 'operational' })).state).toBe('major_outage');
  });

  it('is the state of a page that shows nothing of ours', () => {
    expect(whole(page({ hasOurs: false, theirs: 'major_outage' })).state).toBe('major_outage');
  });
});

describe("a vendor's past", () => {
  /** What each surface gives as the uptime of the page as a whole, and the colours of its days. */
  function together(model: PageModel) {
    const month = '2026-11';
    const facts = pageFacts(model);
    const calendar = uptimeCalendarView(model);
    return {
      calendar: calendar.total.at(-1),
      calendarToday: calendar.calendar.subjects[0].letters.at(-1),
      report: reportView({ ...facts.report(month).frame, ...facts.report(month) }, month).rows[0]?.cells[0],
      reportJson: facts.reportDocument(month).uptime.uptime_ratio,
      json: uptimeDocument(model).periods['24h'].uptime_ratio,
      badge: badgeSubjects(model).page.uptime['24h'],
      picture: socialView(model).days.at(-1),
      pictureSays: socialView(model).detail,
    };
  }

  it("is not in the page's own uptime, days and pictures, and is in its own", () => {
    const model = page({ theirs: 'major_outage' });
    expect(together(model)).toEqual({
      calendar: '100%',
      calendarToday: 'o',
      report: '100%',
      reportJson: 1,
      json: 1,
      badge: 1,
      picture: 'operational',
      pictureSays: '',
    });
    expect(uptimeDocument(model).components.map(({ periods }) => periods['24h'].uptime_ratio)).toEqual([1, 0]);
    expect(uptimeCalendarView(model).rows.map(({ figures }) => figures.at(-1))).toEqual(['100%', '0.00%']);
  });

  it('is where its group counts', () => {
    expect(together(page({ theirs: 'major_outage', counts: true }))).toMatchObject({
      calendar: '50.00%',
      report: '50.00%',
      reportJson: 0.5,
      json: 0.5,
      badge: 0.5,
      picture: 'partial_outage',
    });
  });
});

describe("a vendor's silence", () => {
  it('makes its own component unknown, and not our page out of date', () => {
    const model = page({ isVendorSilent: true });
    expect(whole(model)).toEqual(WELL);
    expect(model.components.map(({ isStale }) => isStale)).toEqual([false, true]);
    expect(page({ isVendorSilent: true, counts: true }).isStale).toBe(true);
  });
});

describe('a group of things that we depend on', () => {
  it('links to the page of the vendor, and says from when it is', () => {
    const [ours, vendors] = statusPageView(page({})).sections;
    expect(ours?.group).toBeNull();
    expect(vendors?.group?.vendors).toEqual([
      [
        'According to ',
        { href: VENDOR, text: 'status.cloud.example' },
        ', as of ',
        expect.objectContaining({ iso: '2026-11-21T08:53:00.000Z' }),
        '.',
      ],
    ]);
  });
});
