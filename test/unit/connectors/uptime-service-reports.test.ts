import { describe, expect, it } from 'vitest';
import type { Incident } from '../../../src/model/observation.ts';
import { DAY_MS, HOUR_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import { declaredSpans } from '../../../src/model/timeline.ts';
import { failure, NOW, refusal } from '../../helpers/drive.ts';
import { components, names, page, pull, type Row, report, service } from '../../helpers/uptime-world.ts';

describe('reports', () => {
  const impact = (word: unknown, pageComponentId = '10') => ({ pageComponentId, impact: word });
  const update = (id: number, minutes: number, more: Row = {}): Row => ({
    id: String(id),
    status: 'STATUS_REPORT_STATUS_INVESTIGATING',
    date: toIso(toEpochMs(NOW - minutes * 60_000)),
    message: `Update ${id}`,
    ...more,
  });
  const open = (more: Row = {}) => report(1, { status: 'STATUS_REPORT_STATUS_INVESTIGATING', ...more });
  const first = async (item: Row) =>
    (await pull(service({ pages: [page()], overviews: { 1: { components, statusReports: [item] } }, reports: [item] })))
      .result.incidents[0];

  it('that are open and give no impact mean degraded', async () => {
    expect(await first(open())).toMatchObject({
      endedAt: null,
      impact: 'minor',
      components: [{ id: 'up/1/10', state: 'degraded' }],
    });
  });

  it.each([
    ['PAGE_COMPONENT_IMPACT_OPERATIONAL', 'operational', 'none'],
    ['PAGE_COMPONENT_IMPACT_DEGRADED_PERFORMANCE', 'degraded', 'minor'],
    ['PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE', 'partial_outage', 'major'],
    ['PAGE_COMPONENT_IMPACT_MAJOR_OUTAGE', 'major_outage', 'critical'],
    ['PAGE_COMPONENT_IMPACT_UNSPECIFIED', 'degraded', 'minor'],
    ['PAGE_COMPONENT_IMPACT_TERRIBLE', 'unknown', 'minor'],
    [7, 'unknown', 'minor'],
  ])('with impact %s put their component into %s', async (word, state, impactWord) => {
    const incident = await first(open({ updates: [update(1, 30, { componentImpacts: [impact(word)] })] }));
    expect(incident?.components).toEqual([{ id: 'up/1/10', state: null }]);
    expect(incident?.updates.map(({ impacts }) => impacts)).toEqual([[{ id: 'up/1/10', state }]]);
    expect(incident?.impact).toBe(impactWord);
  });

  it('tell of each update what it says itself, and of the whole the worst', async () => {
    const updates = [
      update(3, 5, { componentImpacts: [] }),
      update(2, 10, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_MAJOR_OUTAGE')] }),
      update(1, 30, {
        componentImpacts: [
          impact('PAGE_COMPONENT_IMPACT_OPERATIONAL'),
          impact('PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE', '11'),
        ],
      }),
    ];
    const incident = await first(open({ updates }));
    expect(incident?.components).toEqual([
      { id: 'up/1/10', state: null },
      { id: 'up/1/11', state: null },
    ]);
    expect(incident?.impact).toBe('critical');
    expect(incident?.updates.map(({ id, impacts }) => [id, impacts])).toEqual([
      [
        '1',
        [
          { id: 'up/1/10', state: 'operational' },
          { id: 'up/1/11', state: 'partial_outage' },
        ],
      ],
      ['2', [{ id: 'up/1/10', state: 'major_outage' }]],
      ['3', undefined],
    ]);
  });

  it.each([
    ['with impacts', [impact('PAGE_COMPONENT_IMPACT_MAJOR_OUTAGE')]],
    ['from before there were impacts', []],
  ])('%s say nothing of components any more once people only watch', async (_, componentImpacts) => {
    const identified = update(1, 30, { componentImpacts });
    const watching = update(2, 10, { status: 'STATUS_REPORT_STATUS_MONITORING' });
    const status = 'STATUS_REPORT_STATUS_MONITORING';
    const watched = await first(open({ status, updates: [identified, watching] }));
    expect(watched?.updates.at(-1)?.impacts).toEqual([{ id: 'up/1/10', state: 'operational' }]);
    expect(watched?.endedAt).toBe(null);
    const relapsed = await first(open({ updates: [identified, watching, update(3, 5)] }));
    expect(relapsed?.updates.slice(1).map(({ impacts }) => impacts)).toEqual([undefined, undefined]);
  });

  /** What it declares of a component: states, and how many minutes before now they begin. */
  const declared = (incident: Incident | undefined, id = 'up/1/10') =>
    incident === undefined
      ? null
      : declaredSpans(incident, { id }, NOW).map(({ state, from }) => [state, (NOW - from) / 60_000]);

  it('declare from each update on what it says, and without impacts that all of it is degraded', async () => {
    const updates = [
      update(4, 10, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_OPERATIONAL')] }),
      update(3, 20, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_MAJOR_OUTAGE')] }),
      update(2, 30, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE')] }),
      update(1, 40),
    ];
    const incident = await first(open({ updates }));
    expect(declared(incident)).toEqual([
      ['partial_outage', 30],
      ['major_outage', 20],
    ]);
    expect(incident?.impact).toBe('critical');
    expect(declared(await first(open({ updates: [update(1, 40)] })))).toEqual([['degraded', 40]]);
  });

  it('declare nothing between a resolution and a reopening', async () => {
    const impacts = { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_MAJOR_OUTAGE')] };
    const updates = [
      update(4, 10, { status: 'STATUS_REPORT_STATUS_IDENTIFIED' }),
      update(3, 20, { status: 'STATUS_REPORT_STATUS_RESOLVED' }),
      update(2, 30, { status: 'STATUS_REPORT_STATUS_RESOLVED' }),
      update(1, 40, impacts),
    ];
    const incident = await first(open({ updates }));
    expect(incident?.endedAt).toBeNull();
    const spans = declaredSpans(incident as Incident, { id: 'up/1/10' }, NOW);
    expect(spans.map(({ from, to }) => [(NOW - from) / 60_000, (NOW - to) / 60_000])).toEqual([
      [40, 30],
      [10, 0],
    ]);
    // An incident that is open although its last update says otherwise goes on.
    const stillOpen = { ...(incident as Incident), updates: incident?.updates.slice(0, 2) ?? [] };
    expect(declared(stillOpen)).toEqual([
      ['major_outage', 40],
      ['major_outage', 30],
    ]);
  });

  it('declare nothing of a component that no update names where updates name others', async () => {
    const updates = [update(1, 30, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE')] })];
    const incident = await first(open({ pageComponentIds: ['10', '11'], updates }));
    expect(incident?.components.map(({ id }) => id)).toEqual(['up/1/10', 'up/1/11']);
    expect(declared(incident, 'up/1/11')).toEqual([]);
  });

  it('with a status that nobody knows stay open', async () => {
    expect(await first(open({ status: 'STATUS_REPORT_STATUS_WHO_KNOWS' }))).toMatchObject({
      status: 'investigating',
      endedAt: null,
    });
  });

  it('go from their first update to their last, and without any from when they were made', async () => {
    const updates = [update(1, 50), update(2, 20, { status: 'STATUS_REPORT_STATUS_RESOLVED' })];
    expect(await first(report(1, { updates }))).toMatchObject({
      status: 'resolved',
      startedAt: NOW - 50 * 60_000,
      endedAt: NOW - 20 * 60_000,
      bornAt: NOW - HOUR_MS,
    });
    expect(await first(report(1))).toMatchObject({ startedAt: NOW - HOUR_MS, endedAt: NOW - HOUR_MS });
  });

  it('are published on their page only, and one whose page cannot be told on none', async () => {
    expect((await first(open()))?.pages).toEqual(['up/1']);
    const lost = report(5, { pageComponentIds: [] });
    const { result } = await pull(service({ pages: [page()], reports: [lost] }));
    expect(result.incidents).toMatchObject([{ id: 'up/report-5', pages: [] }]);
  });

  it('of the past are read once, later only those that ended since we last looked', async () => {
    const old = report(1, {
      updatedAt: toIso(toEpochMs(NOW - 20 * DAY_MS)),
      createdAt: toIso(toEpochMs(NOW - 20 * DAY_MS)),
    });
    const world = { pages: [page()], overviews: { 1: { components } }, reports: [old, report(2), report(3)] };
    const firstPass = await pull(service(world));
    expect(names(firstPass.questions).filter((name) => name === 'report').length).toBe(3);
    expect(firstPass.result.isBackfilled).toBe(true);
    const memory = { isBackfilled: true, detailFetchedAt: new Map([['1', toEpochMs(NOW - 60_000)]]) };
    const later = await pull(service(world), memory);
    expect(later.questions.filter(({ name }) => name === 'report').map(({ body }) => body)).toEqual([
      { id: '2' },
      { id: '3' },
    ]);
    const known = await pull(service(world), { ...memory, openIncidents: new Set(['report-1']) });
    expect(known.questions.filter(({ name }) => name === 'report').length).toBe(3);
  });

  it('of the past wait for the quota without holding the rest', async () => {
    const world = { pages: [page()], overviews: { 1: { components } }, reports: [report(1), report(2)] };
    const { result } = await pull(
      service(world, ({ name, body }) =>
        name === 'report' && (body as { id: string }).id === '2' ? 'skipped' : undefined,
      ),
    );
    expect(result.incidents.map(({ id }) => id)).toEqual(['up/report-1']);
    expect([result.isBackfilled, result.stale]).toEqual([false, []]);
  });

  it('that were open and cannot be read stay as they are known', async () => {
    const broken = open({ createdAt: 'yesterday' });
    const { result } = await pull(
      service({ pages: [page()], overviews: { 1: { components, statusReports: [broken] } } }),
      { isBackfilled: true, openIncidents: new Set(['report-1']) },
    );
    expect(result.stale).toContain('incidents');
  });

  const past = (id: number, more: Row = {}) =>
    report(id, {
      createdAt: toIso(toEpochMs(NOW - 20 * DAY_MS)),
      updatedAt: toIso(toEpochMs(NOW - 20 * DAY_MS)),
      ...more,
    });
  const lately = { isBackfilled: true, detailFetchedAt: new Map([['1', toEpochMs(NOW - 60_000)]]) };
  const readAt = (...ids: number[]) =>
    new Map(ids.map((id, index) => [`report-${id}`, toEpochMs(NOW - DAY_MS + index * 60_000)] as const));

  it('of the past are read again in turn, since nothing tells that an old text was put right', async () => {
    const reports = Array.from({ length: 8 }, (_, index) => past(index + 1));
    const world = { pages: [page()], overviews: { 1: { components } }, reports };
    const { result, questions } = await pull(service(world), {
      ...lately,
      incidentsReadAt: readAt(3, 8, 1, 2, 4, 5, 6, 7),
    });
    const again = questions.filter(({ name }) => name === 'old report');
    expect(again.map(({ body, priority }) => [body, priority])).toEqual(
      [3, 8, 1, 2, 4].map((id) => [{ id: String(id) }, 'detail']),
    );
    expect(result.readAgain).toEqual([3, 8, 1, 2, 4].map((id) => `up/report-${id}`));
  });

  it('of the past that were never noted as read have their turn too, another one in each minute', async () => {
    const world = {
      pages: [page()],
      overviews: { 1: { components } },
      reports: [1, 2, 3, 4, 5, 6, 7].map((id) => past(id)),
    };
    const { result } = await pull(service(world), { ...lately, incidentsReadAt: readAt(7, 6, 5, 4, 3) });
    expect(result.readAgain).toEqual([2, 7, 6, 5, 4].map((id) => `up/report-${id}`));
  });

  it('of the past are read again once an hour at most, and not at all while there is no quota', async () => {
    const world = { pages: [page()], overviews: { 1: { components } }, reports: [past(1), past(2)] };
    const incidentsReadAt = new Map([
      ['report-1', toEpochMs(NOW - HOUR_MS)],
      ['report-2', toEpochMs(NOW - HOUR_MS + 1)],
    ]);
    const { result } = await pull(service(world), { ...lately, incidentsReadAt });
    expect(result.readAgain).toEqual(['up/report-1']);
    const short = await pull(
      service(world, ({ priority }) => (priority === 'detail' ? 'skipped' : undefined)),
      { ...lately, incidentsReadAt },
    );
    expect([short.result.readAgain, short.result.stale]).toEqual([[], []]);
  });

  it('of the past that are no more are told as gone, and cost nothing of what is known', async () => {
    const world = { pages: [page()], overviews: { 1: { components } }, reports: [past(1), past(2)] };
    const answers: Readonly<Record<string, unknown>> = { 1: refusal(404), 2: failure('UPSTREAM_FAILED') };
    const { result } = await pull(
      service(world, ({ name, body }) => (name === 'old report' ? answers[(body as { id: string }).id] : undefined)),
      { ...lately, incidentsReadAt: readAt(1, 2) },
    );
    expect(result.gone).toEqual(['up/report-1']);
    expect([result.readAgain, result.stale, result.incidents]).toEqual([[], [], []]);
  });

  it('about no component are published where the REST interface says, which is asked for new ones only', async () => {
    const lost = report(5, { pageComponentIds: [] });
    const world = { pages: [page()], reports: [lost], reportPages: [{ id: 5, pageId: 1 }] };
    const { result } = await pull(service(world));
    expect(result.incidents).toMatchObject([{ id: 'up/report-5', pages: ['up/1'], impact: 'minor' }]);
    const known = await pull(service(world), { ...lately, openIncidents: new Set(['report-5']) });
    expect(names(known.questions)).not.toContain('pages of reports');
    expect(known.result.incidents).toMatchObject([{ id: 'up/report-5', pages: [] }]);
  });
});
