import { describe, expect, it } from 'vitest';
import { LOGIN_FAULTS, LOGIN_STEPS } from '../../../src/model/access.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/index.ts';
import type { UpstreamUptime } from '../../../src/model/observation.ts';
import { badgeGalleryView } from '../../../src/views/badges/badge-gallery.ts';
import { componentView } from '../../../src/views/component/component.ts';
import { listMonths } from '../../../src/views/days/months.ts';
import { historyView } from '../../../src/views/history/history.ts';
import { uptimeCalendarView } from '../../../src/views/history/uptime-calendar.ts';
import { incidentView, maintenanceView } from '../../../src/views/incident/incident.ts';
import { loginView } from '../../../src/views/login/login.ts';
import { notFoundView, siteNotFoundView } from '../../../src/views/page/not-found.ts';
import { embedView } from '../../../src/views/page/status-page.ts';
import { reportView } from '../../../src/views/report/report.ts';
import { indexOfPagesView } from '../../../src/views/site/index-of-pages.ts';
import { galleryOf, partBadges } from '../../helpers/every-page.ts';
import { AS_OF, ago, componentModel, incident, maintenance, pageModel, withMonths } from '../../helpers/page-model.ts';
import { calm, outage } from '../../helpers/page-scenes.ts';

describe('an incident’s page', () => {
  const past = incident({ slug: 'x', startedAt: ago(33 * DAY_MS), endedAt: ago(33 * DAY_MS - 94 * MINUTE_MS) });

  it('has its times with the year, its length, its components and its canonical address', () => {
    const view = incidentView(pageModel({ incidents: [past] }), past);
    expect(view.event.from.text).toBe('Oct 19, 2026, 10:31');
    expect(view.event.to?.text).toBe('12:05 GMT+2');
    expect(view.event.duration).toBe('1 h 34 min');
    expect(view.affected.map((one) => one.href)).toEqual(['../../components/api/']);
    expect(view.shell.canonical).toBe('https://status.acme.example/acme/incidents/x/');
    expect(view.month.href).toBe('../../history/2026-10/');
  });

  it('shows nothing of the present once it is over, so that it needs no rewriting', () => {
    const then = incidentView(pageModel({ incidents: [past] }), past);
    const now = incidentView(pageModel({ incidents: [past], asOf: ago(-DAY_MS), state: 'major_outage' }), past);
    expect(now).toEqual(then);
    expect(then.shell.state).toBeNull();
    expect(then.shell.freshness).toBeNull();
  });

  it('is live while the incident is open', () => {
    const open = incident({ impact: 'critical' });
    const view = incidentView(pageModel({ incidents: [open] }), open);
    expect(view.event.to).toBeNull();
    expect(view.shell.state).toBe('partial_outage');
    const vague = incident({ impact: 'critical', componentIds: [] });
    expect(incidentView(pageModel({ incidents: [vague] }), vague).shell.state).toBe('major_outage');
    expect(view.shell.freshness).not.toBeNull();
  });
});

describe('a maintenance’s page', () => {
  it('states its window with the zone and leads to the calendar', () => {
    const one = maintenance();
    const view = maintenanceView(pageModel({ maintenances: [one] }), one);
    expect(view.event.from.text).toBe('Nov 24, 2026, 09:31');
    expect(view.event.to?.text).toBe('11:31 GMT+1');
    expect(view.calendarHref).toBe('../../maintenance.ics');
    expect(view.shell.freshness).not.toBeNull();
  });

  it('leads to its month in the history once it has begun, and to none that the page lacks', () => {
    const monthOn = (init: Parameters<typeof maintenance>[0]) => {
      const one = maintenance(init);
      return maintenanceView(pageModel({ maintenances: [one] }), one).month?.href;
    };
    expect(monthOn({ startsAt: ago(-20 * DAY_MS), endsAt: ago(-21 * DAY_MS) })).toBeUndefined();
    expect(monthOn({ status: 'in_progress', startsAt: ago(HOUR_MS), endsAt: ago(-HOUR_MS) })).toBe(
      '../../history/2026-11/',
    );
  });

  it('is settled when it is over', () => {
    const one = maintenance({ status: 'completed', startsAt: ago(2 * DAY_MS), endsAt: ago(DAY_MS) });
    expect(maintenanceView(pageModel({ maintenances: [one] }), one).shell.freshness).toBeNull();
  });
});

describe('history', () => {
  it('has the incidents and the maintenance of a month by day, newest first', () => {
    const done = maintenance({ status: 'completed', startsAt: ago(4 * DAY_MS), endsAt: ago(4 * DAY_MS - HOUR_MS) });
    const view = historyView(withMonths(calm({ maintenances: [done] })), null);
    expect(view.days.map(({ day }) => day)).toEqual([
      'Wednesday, November 18',
      'Tuesday, November 17',
      'Sunday, November 15',
    ]);
    expect(view.days.map(({ events }) => events.map((one) => one.href.includes('maintenance/')))).toEqual([
      [false],
      [true],
      [false],
    ]);
  });

  it('leads to the months beside it and to all others', () => {
    const view = historyView(withMonths(calm()), '2026-10');
    expect(view.days.flatMap(({ events }) => events.map((one) => one.slug))).toEqual(['payments-october']);
    expect(view.later?.href).toBe('../../history/2026-11/');
    expect(view.earlier?.href).toBe('../../history/2026-09/');
    expect(view.months.filter((one) => one.isCurrent).map((one) => one.href)).toEqual(['../../history/2026-10/']);
    expect(view.months).toHaveLength(listMonths(calm()).length);
  });

  it('ends at the months that exist', () => {
    const model = pageModel({ components: [componentModel({ knownDays: 2 })] });
    const view = historyView(withMonths(model), '2026-11');
    expect([view.earlier, view.later]).toEqual([null, null]);
    expect(view.emptyText).toBe('No incidents this month.');
  });
});

describe('a component’s page', () => {
  it('has figures for every period with what was observed', () => {
    const trouble = { state: 'major_outage', startedAgoMs: 2 * HOUR_MS, forMs: HOUR_MS } as const;
    const component = componentModel({ troubles: [trouble], knownDays: 45 });
    const view = componentView(pageModel({ components: [component] }), component, { badges: partBadges() });
    expect(view.periods.map((row) => [row.period, row.uptime, row.down, row.observed])).toEqual([
      ['24 hours', '95.83%', '1 h', '100%'],
      ['7 days', '99.40%', '1 h', '100%'],
      ['30 days', '99.86%', '1 h', '100%'],
      ['90 days', '99.90%', '1 h', '50%'],
      ['365 days', '99.90%', '1 h', '12%'],
    ]);
  });

  it('draws response times where they are known and leaves gaps where they are not', () => {
    const at = (minutes: number, ms: number) => ({ at: ago(minutes * MINUTE_MS), ms });
    const component = componentModel({ responseTimes: [at(600, 100), at(590, 120), at(20, 300), at(10, 80)] });
    const chart = componentView(pageModel({ components: [component] }), component, {
      badges: partBadges(),
    }).responseChart;
    expect(chart?.latest).toBe('80 ms');
    expect(chart?.periods).toHaveLength(1);
    expect(chart?.periods[0]).toMatchObject({
      period: '24 hours',
      values: ['500 ms', '250 ms', '0 ms'],
      average: '150 ms',
      p95: '300 ms',
    });
    expect(chart?.periods[0].line.match(/M/g)).toHaveLength(2);
    expect(componentView(pageModel(), componentModel(), { badges: partBadges() }).responseChart).toBeNull();
  });

  it('says of a component which of its past days were corrected, and when', () => {
    const component = componentModel();
    const corrected = [{ day: dayOf(AS_OF, 'UTC'), at: AS_OF }];
    const view = componentView(pageModel({ components: [component] }), component, { badges: partBadges(), corrected });
    expect(view.corrected).toMatchObject([{ on: ['corrected on ', { iso: new Date(AS_OF).toISOString() }, ''] }]);
    expect(componentView(pageModel(), component, { badges: partBadges() }).corrected).toEqual([]);
  });

  it('draws response times over each period that has some of its own, with instants at equal distances', () => {
    const sample = (days: number, ms: number) => ({ at: ago(days * 24 * HOUR_MS), ms });
    const component = componentModel({
      responseTimes: [sample(95, 9_000), sample(80, 400), sample(6, 200), sample(5, 100), sample(0.5, 50)],
    });
    const chart = componentView(pageModel({ components: [component] }), component, {
      badges: partBadges(),
    }).responseChart;
    expect(chart?.periods.map(({ id, average, p95, values: [top] }) => [id, average, p95, top])).toEqual([
      ['24h', '50 ms', '50 ms', '50 ms'],
      ['7d', '117 ms', '200 ms', '200 ms'],
      ['90d', '188 ms', '400 ms', '500 ms'],
    ]);
    const ticks = chart?.periods.map(({ ticks }) => ticks.map(({ text }) => text));
    expect(ticks?.[0]).toEqual(['10:00', '16:00', '22:00', '04:00', '10:00']);
    expect(ticks?.[1]?.at(0)).toBe('Nov 14');
    expect(ticks?.[1]).toHaveLength(8);
    expect(ticks?.[2]).toEqual(['Aug 23', 'Sep 22', 'Oct 22', 'Nov 21']);
  });

  it('shows what the upstream counts itself beside ours', () => {
    const upstreamUptime = {
      periodDays: 30,
      checksTotal: 10,
      checksUp: 9,
      uptimeRatio: 0.9,
      responseTimeAverageMs: null,
    };
    const component = componentModel({ upstreamUptime });
    expect(
      componentView(pageModel({ components: [component] }), component, { badges: partBadges() }).upstreamSays,
    ).toBe('The monitoring service reports 90.00% over 30 days.');
  });

  it('shows each place’s last answer and how long the certificate is valid, where Pharos checks it', () => {
    const uptime = {
      ...{ periodDays: null, checksTotal: null, checksUp: null, uptimeRatio: null, responseTimeAverageMs: null },
      places: [
        { place: 'ams', at: ago(MINUTE_MS), state: 'operational', responseTimeMs: 1_240 },
        { place: 'fra', at: ago(2 * MINUTE_MS), state: 'major_outage', responseTimeMs: null },
      ],
      certificateEndsAt: ago(-20.5 * DAY_MS),
    } as const;
    const viewed = (upstreamUptime: UpstreamUptime) => {
      const component = componentModel({ upstreamUptime });
      return componentView(pageModel({ components: [component] }), component, { badges: partBadges() });
    };
    const { checks, upstreamSays, upstreamResponse } = viewed(uptime);
    expect([upstreamSays, upstreamResponse]).toEqual([null, null]);
    expect(checks?.hasPlaces).toBe(true);
    expect(checks?.certificate).toBe('Certificate valid until Dec 11, 2026 (20 days).');
    expect(checks?.rows.map(({ place, stateWord, responseTime }) => [place, stateWord, responseTime])).toEqual([
      ['ams', 'Operational', '1,240 ms'],
      ['fra', 'Major outage', '–'],
    ]);
    expect(checks?.rows[0]?.checked.iso).toBe(new Date(ago(MINUTE_MS)).toISOString());
    const { certificateEndsAt: _, ...plain } = { ...uptime, places: uptime.places.slice(0, 1) };
    expect(viewed(plain).checks).toMatchObject({ hasPlaces: false, certificate: null });
    expect(viewed({ ...plain, certificateEndsAt: ago(DAY_MS) }).checks?.certificate).toMatch(/\(0 days\)\.$/);
  });

  it('keeps its target to itself unless the model has it', () => {
    const component = componentModel({ target: 'https://internal.example/health' });
    expect(componentView(pageModel(), component, { badges: partBadges() }).target).toBe(
      'Checks https://internal.example/health',
    );
    expect(componentView(pageModel(), componentModel(), { badges: partBadges() }).target).toBeNull();
  });
});

describe('uptime by month', () => {
  it('has twelve months for every component and a cell for every day', () => {
    const view = uptimeCalendarView(calm());
    // From 1 December 2025 to 21 November 2026.
    for (const { letters } of view.calendar.subjects) expect(letters).toHaveLength(356);
    expect(view.calendar.subjects.map(({ name }) => name)).toEqual([
      'All components',
      ...calm().components.map(({ name }) => name),
    ]);
    expect(view.calendar.months.map(({ name, from, to }) => [name, to - from]).at(-2)).toEqual(['October 2026', 31]);
    expect(view.calendar.months.at(-1)).toMatchObject({ name: 'November 2026', to: 356, until: '2026-11-21' });
    expect(view.months).toEqual('Dec Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov'.split(' '));
    expect(view.rows.every((row) => row.figures.length === 12)).toBe(true);
    expect(view.rows.find((row) => row.component.text === 'Mobile push')?.figures[0]).toBe('–');
  });

  it('begins weeks on the day that the locale begins them with', () => {
    expect(uptimeCalendarView(calm({ settings: { locale: 'en-US' } })).calendar).toMatchObject({
      weekdays: [...'SMTWTFS'],
      months: expect.arrayContaining([expect.objectContaining({ name: 'November 2026', firstColumn: 0 })]),
    });
    expect(uptimeCalendarView(calm({ settings: { locale: 'de' } })).calendar).toMatchObject({
      weekdays: [...'MDMDFSS'],
      months: expect.arrayContaining([expect.objectContaining({ name: 'November 2026', firstColumn: 6 })]),
    });
  });
});

describe('a monthly report', () => {
  it('counts each component over the month, in the order of its columns', () => {
    const trouble = { state: 'major_outage', startedAgoMs: 2 * HOUR_MS, forMs: HOUR_MS } as const;
    const model = pageModel({
      components: [componentModel({ troubles: [trouble] })],
      incidents: [incident({ startedAt: ago(2 * HOUR_MS), endedAt: ago(HOUR_MS) })],
    });
    const [all, api] = reportView(withMonths(model), '2026-11').rows;
    expect(all?.component).toBeNull();
    expect(api?.cells).toEqual(['99.79%', '1 h', '–', '–', '–', '–', '1']);
    expect(all?.cells).toEqual(api?.cells);
    expect(reportView(withMonths(model), '2026-11').intro).toBe(
      'Nov 1, 2026, 00:00 GMT+1 to Nov 21, 2026, 09:31 GMT+1.',
    );
  });

  it('says nothing of a month before anything was known', () => {
    const model = pageModel({ components: [componentModel({ knownDays: 3 })] });
    expect(reportView(withMonths(model), '2026-05').rows[1]?.cells[0]).toBe('–');
  });
});

describe('the index of pages', () => {
  const init = { locale: 'en', timezone: 'UTC', siteTitle: 'Acme Group', url: 'https://s.example/' };
  const page = (slug: string, definition = {}) =>
    calm({ definition: { slug, title: slug.toUpperCase(), ...definition } });

  it('lists public, published pages by title, and leaves no trace of others', () => {
    const view = indexOfPagesView(
      [page('b'), page('a'), page('secret', { access: 'password' }), page('draft', { published: false })],
      init,
    );
    expect(view.pages.map((one) => one.href)).toEqual(['a/', 'b/']);
    expect(JSON.stringify(view)).not.toMatch(/secret|draft/i);
  });

  it('goes stale with the first of its pages', () => {
    const older = { ...page('b'), asOf: ago(HOUR_MS) };
    expect(indexOfPagesView([page('a'), older], init).shell.freshness?.staleAfter).toBe(ago(15 * MINUTE_MS));
    expect(indexOfPagesView([], init).shell.freshness).toBeNull();
  });

  it('takes no state from pages that it does not list', () => {
    const hidden = outage({ definition: { slug: 'x', access: 'password' } });
    expect(indexOfPagesView([page('a'), hidden], init).shell.state).toBe('operational');
    expect(indexOfPagesView([hidden], init).shell.state).toBeNull();
  });
});

describe('signing in', () => {
  const asked: Parameters<typeof loginView>[0] = {
    locale: 'en',
    step: 'sign-in',
    fault: null,
    minutes: 9,
    hasPassword: true,
    hasEmail: true,
    hasOidc: false,
    base: '/x/',
    home: '/',
    to: '',
    username: 'x',
    token: '',
    next: '',
  };
  it('leads back to the site, if the page is not at its root', () => {
    expect(loginView(asked).again).toEqual({ href: '/', text: 'View current status' });
    expect(loginView({ ...asked, home: null }).again).toBeNull();
  });
  it.each(LOGIN_STEPS)('the step %s says nothing of what is behind it', (step) => {
    const view = loginView({ ...asked, step });
    expect(view.shell.pageTitle).toBeNull();
    expect(view.shell.freshness).toBeNull();
    expect(view.body?.length).toBeGreaterThan(5);
    expect(view.forms.every((form) => form.action.startsWith('/x/log'))).toBe(true);
  });

  it.each(LOGIN_FAULTS)('the fault %s is said in words', (fault) => {
    const view = loginView({ ...asked, locale: 'de', fault });
    expect(view.fault).toMatch(/^[^{}]{10,}$/);
  });
});

describe('pages in between', () => {
  it('a missing page leads home by an absolute address, since it is shown at any depth', () => {
    expect(notFoundView(calm()).homeHref).toBe('https://status.acme.example/acme/');
  });

  it('a frame shows the state, a few open incidents and its age', () => {
    const many = Array.from({ length: 9 }, (_, index) =>
      incident({ slug: `i${index}`, startedAt: toEpochMs(ago(HOUR_MS) + index * SECOND_MS) }),
    );
    const view = embedView(pageModel({ incidents: many }));
    expect(view.incidents).toHaveLength(3);
    expect(view.href).toBe('../');
    expect(view.shell.freshness?.staleAfter).toBeGreaterThan(0);
  });

  it('the badges of a component are told apart by what they say, in the language of the page', () => {
    const badgesIn = (locale: string) =>
      componentView(pageModel({ settings: { locale } }), componentModel(), { badges: partBadges(locale) }).badges;
    expect(badgesIn('de').map(({ alt }) => alt)).toEqual(['API: Status', 'API: Verfügbarkeit 90 Tage']);
    expect(badgesIn('en').map(({ alt, src }) => [alt, src])).toEqual([
      ['API: status', '../../components/api/badges/status.svg'],
      ['API: uptime 90d', '../../components/api/badges/uptime-90d.svg'],
    ]);
  });

  it('the gallery has every kind for the page, and the state of groups that have components', () => {
    const view = badgeGalleryView(outage(), galleryOf());
    expect(view.badges.map((one) => one.src)).toEqual(['../badges/status.svg', '../badges/uptime-90d.svg']);
    expect(view.parts.slice(0, 3).map((one) => one.src)).toEqual([
      '../groups/core/badges/status.svg',
      '../groups/delivery/badges/status.svg',
      '../groups/rest/badges/status.svg',
    ]);
    expect(view.embedSnippet).toContain('<iframe src="https://status.acme.example/acme/embed/"');
  });
});

describe('an address with nothing at it', () => {
  it('leads home, below a page and below none', () => {
    expect(notFoundView(calm())).toMatchObject({
      homeHref: 'https://status.acme.example/acme/',
      historyHref: 'https://status.acme.example/acme/history/',
    });
    const site = { locale: 'en', siteTitle: 'Acme' };
    expect(siteNotFoundView({ ...site, base: 'https://s.example/x/' }).homeHref).toBe('https://s.example/x/');
    expect(siteNotFoundView({ ...site, base: '' })).toMatchObject({ homeHref: '/', historyHref: null });
  });
});
