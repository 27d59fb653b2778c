/** Whole status pages in situations worth looking at. */

import {
  type ComponentModel,
  DAY_MS,
  dayOf,
  HOUR_MS,
  MINUTE_MS,
  type PageModel,
  SECOND_MS,
  type State,
  toEpochMs,
} from '../../src/model/index.ts';
import {
  ago,
  announcement,
  componentModel,
  incident,
  maintenance,
  pageModel,
  randomOf,
  responseTimes,
  type Trouble,
  timelineWith,
} from './page-model.ts';

const NAMES = [
  ['Web application', 'What you see after signing in'],
  ['API', 'api.acme.example, versions 2 and 3'],
  ['Sign-in', null],
  ['Search', null],
  ['Webhooks', 'Deliveries to your own systems'],
  ['E-mail delivery', null],
  ['Payments', 'Cards, direct debit and invoices'],
  ['Exports', null],
  ['Mobile push', null],
  ['Documentation', null],
] as const;

const GROUPS = [
  { id: 'core', name: 'Core', order: 0 },
  { id: 'delivery', name: 'Messages and delivery', order: 1 },
  { id: 'rest', name: 'Everything else', order: 2 },
];

/** Past troubles as services have them: few, mostly short. */
function pastTroubles(seed: number): Trouble[] {
  const next = randomOf(seed);
  const states: readonly State[] = ['degraded', 'partial_outage', 'major_outage', 'maintenance', 'degraded'];
  return Array.from({ length: Math.floor(next() * 5) }, () => ({
    state: states[Math.floor(next() * states.length)] ?? 'degraded',
    startedAgoMs: (2 + next() * 86) * DAY_MS,
    forMs: (2 + next() * next() * 240) * MINUTE_MS,
  }));
}

function acmeComponents(now: Readonly<Record<string, Trouble>> = {}): ComponentModel[] {
  return NAMES.map(([name, description], index) => {
    const trouble = now[name];
    return componentModel({
      id: name.toLowerCase().replace(/[^a-z]+/g, '-'),
      name,
      description,
      groupId: index < 4 ? 'core' : index < 6 || index === 8 ? 'delivery' : 'rest',
      troubles: [...pastTroubles(index + 1), ...(trouble === undefined ? [] : [trouble])],
      knownDays: index === 8 ? 41 : 400,
      responseTimes: index < 4 ? responseTimes(index + 1, 90 + index * 40, index === 0 ? 90 : 1) : [],
    });
  });
}

const PAST = [
  incident({
    slug: 'slow-search',
    title: 'Search answered slowly',
    componentIds: ['search'],
    impact: 'minor',
    startedAt: ago(3 * DAY_MS + 2 * HOUR_MS),
    endedAt: ago(3 * DAY_MS),
    updateBodies: [
      'Results take up to eight seconds.',
      'An index was being rebuilt at the wrong hour. It is paused.',
      'Answers are back below 200 ms.',
      'Search has been quick for an hour. The rebuild now runs at night.',
    ],
  }),
  incident({
    slug: 'edge-77',
    title: 'Webhooks: connection refused',
    componentIds: ['webhooks'],
    impact: 'major',
    isAutomatic: true,
    updates: [
      {
        id: 'opened',
        at: ago(6 * DAY_MS),
        status: 'investigating',
        body: 'Our monitoring detected an outage of Webhooks.',
      },
      { id: 'closed', at: ago(6 * DAY_MS - 7 * MINUTE_MS), status: 'resolved', body: 'Working again after 7 min.' },
    ],
    startedAt: ago(6 * DAY_MS),
    endedAt: ago(6 * DAY_MS - 7 * MINUTE_MS),
  }),
  incident({
    slug: 'payments-october',
    title: 'Card payments declined',
    componentIds: ['payments'],
    impact: 'critical',
    startedAt: ago(33 * DAY_MS),
    endedAt: ago(33 * DAY_MS - 94 * MINUTE_MS),
    updateBodies: [
      'Cards are declined.',
      'Our payment provider has an outage.',
      'Payments go through again.',
      'Resolved.',
    ],
  }),
];

/** A good day: nothing wrong, something announced, something planned. */
export function calm(init: Parameters<typeof pageModel>[0] = {}): PageModel {
  return pageModel({
    components: acmeComponents(),
    incidents: PAST,
    maintenances: [maintenance({ componentIds: ['exports', 'api'] })],
    announcements: [announcement()],
    ...init,
    definition: {
      title: 'Acme',
      description: 'How the services of Acme are doing, from checks outside our own network.',
      groups: GROUPS,
      ...init.definition,
    },
  });
}

/** The worst hour of the week. */
export function outage(init: Parameters<typeof pageModel>[0] = {}): PageModel {
  const components = acmeComponents({
    API: { state: 'major_outage', startedAgoMs: 47 * MINUTE_MS },
    'Web application': { state: 'major_outage', startedAgoMs: 44 * MINUTE_MS },
    Webhooks: { state: 'degraded', startedAgoMs: 40 * MINUTE_MS },
    Exports: { state: 'maintenance', startedAgoMs: 80 * MINUTE_MS },
  });
  return calm({
    components,
    incidents: [
      incident({
        slug: 'api-down',
        title: 'The API and the web application do not answer',
        componentIds: ['api', 'web-application', 'webhooks'],
        impact: 'critical',
        status: 'identified',
        startedAt: ago(47 * MINUTE_MS),
        updateBodies: [
          'Requests fail with status 502 in all regions. We are investigating.',
          'A certificate on our load balancers expired at 08:44. **No data is lost.** We are rolling out a new one; ' +
            'Frankfurt is next, then the other regions. Webhooks are kept and delivered late.\n\nNext update by 09:45.',
        ],
      }),
      ...PAST,
    ],
    maintenances: [
      maintenance({
        slug: 'exports-now',
        title: 'Export workers move to new machines',
        componentIds: ['exports'],
        status: 'in_progress',
        startsAt: ago(80 * MINUTE_MS),
        endsAt: ago(-40 * MINUTE_MS),
        announcedAt: ago(80 * MINUTE_MS),
        texts: [],
        updates: [{ id: 'began', at: ago(80 * MINUTE_MS), status: 'in_progress', body: 'Maintenance has started.' }],
      }),
      maintenance({ componentIds: ['exports', 'api'] }),
    ],
    announcements: [],
    ...init,
  });
}

/** `count` components over ninety days, in groups of ten when there are many. */
export function manyComponents(count: number, init: Parameters<typeof pageModel>[0] = {}): PageModel {
  const groupCount = count > 20 ? Math.ceil(count / 10) : 0;
  const components = Array.from({ length: count }, (_, index) =>
    componentModel({
      id: `c${index}`,
      name: `${NAMES[index % NAMES.length]?.[0] ?? 'Service'} ${1 + Math.floor(index / NAMES.length)}`,
      groupId: groupCount > 0 ? `g${Math.floor(index / 10)}` : null,
      troubles: [
        ...pastTroubles(index + 1),
        ...(index % 37 === 17 ? [{ state: 'major_outage', startedAgoMs: 25 * MINUTE_MS } as const] : []),
      ],
      responseTimes: responseTimes(index, 60 + (index % 9) * 30),
    }),
  );
  return pageModel({
    components,
    incidents: PAST.map((one, index) => ({ ...one, componentIds: [`c${index}`] })),
    ...init,
    definition: {
      groups: Array.from({ length: groupCount }, (_, index) => ({
        id: `g${index}`,
        name: `Region ${index + 1}`,
        order: index,
      })),
      ...init.definition,
    },
  });
}

export function empty(): PageModel {
  return pageModel({ components: [], definition: { title: 'New page' } });
}

export function oneComponent(): PageModel {
  return pageModel({ components: [componentModel({ name: 'Website', id: 'website', troubles: pastTroubles(3) })] });
}

/** Nothing was heard for two hours. */
export function stale(): PageModel {
  const components = acmeComponents().map((one) => ({
    ...one,
    state: 'unknown' as const,
    isStale: true,
    timeline: timelineWith([...pastTroubles(2), { state: 'unknown', startedAgoMs: 2 * HOUR_MS }]),
  }));
  const at = ago(2 * HOUR_MS);
  return calm({
    components,
    dataFrom: at,
    isStale: true,
    sources: [
      {
        upstreamId: 'edge',
        monitorsAt: at,
        incidentsAt: at,
        intervalMs: MINUTE_MS,
        isMonitorsStale: true,
        isIncidentsStale: true,
      },
    ],
  });
}

const LONG =
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft_internal-gateway.eu-central-1.example';

export function longNames(): PageModel {
  const components = acmeComponents({ API: { state: 'partial_outage', startedAgoMs: 3 * HOUR_MS } }).map(
    (one, index) => ({
      ...one,
      name:
        index % 2 === 0
          ? `${LONG} ${one.name}`
          : `${one.name} for customers of the old and of the new platform in every region`,
      description: index % 3 === 0 ? `${LONG} `.repeat(3) : one.description,
    }),
  );
  return outage({
    components,
    definition: { title: `${LONG} and its many friends`, description: `${LONG} `.repeat(4) },
    incidents: [incident({ title: `${LONG} ${LONG}`, updateBodies: [`${LONG}${LONG}${LONG}`, `\`${LONG}${LONG}\``] })],
  });
}

export function manyIncidents(count = 30): PageModel {
  return outage({
    incidents: Array.from({ length: count }, (_, index) =>
      incident({
        slug: `open-${index}`,
        title: `${NAMES[index % NAMES.length]?.[0] ?? ''} is not working for some customers`,
        componentIds: [index % 2 === 0 ? 'api' : 'search'],
        impact: index % 3 === 0 ? 'critical' : 'minor',
        startedAt: ago((index + 1) * 17 * MINUTE_MS),
        updateBodies: Array.from({ length: 1 + (index % 8) }, (_, at) => `Update ${at + 1}: we are working on it.`),
      }),
    ),
  });
}

/** Two of the groups are on vendors' pages, one of which is in trouble; the page is not. */
export function vendors(): PageModel {
  const pages: Readonly<Record<string, string>> = {
    delivery: 'https://status.mail.example',
    rest: 'https://status.cloud-with-a-name-as-long-as-they-come.example/acme',
  };
  const components = acmeComponents({ Payments: { state: 'major_outage', startedAgoMs: 20 * MINUTE_MS } }).map(
    (one) => {
      const page = pages[one.definition.groupId ?? ''];
      return page === undefined
        ? one
        : { ...one, definition: { ...one.definition, vendorPage: page, counts: false as const } };
    },
  );
  return calm({ components, state: 'operational' });
}

export function rightToLeft(): PageModel {
  const names = ['تطبيق الويب', 'واجهة API', 'تسجيل الدخول', 'البحث'];
  return outage({
    settings: { locale: 'ar', timezone: 'Asia/Riyadh' },
    components: acmeComponents({ API: { state: 'major_outage', startedAgoMs: 47 * MINUTE_MS } }).map((one, index) => ({
      ...one,
      name: names[index] ?? one.name,
      description: index === 0 ? 'ما تراه بعد تسجيل الدخول' : null,
    })),
    definition: {
      title: 'أكمي',
      description: 'حالة خدمات أكمي من فحوص تجري خارج شبكتنا.',
      groups: [
        { id: 'core', name: 'الأساسية', order: 0 },
        { id: 'delivery', name: 'الرسائل', order: 1 },
        { id: 'rest', name: 'خدمات أخرى', order: 2 },
      ],
    },
    incidents: [
      incident({
        title: 'واجهة API لا تستجيب',
        componentIds: ['api'],
        impact: 'critical',
        startedAt: ago(47 * MINUTE_MS),
        updateBodies: ['تفشل الطلبات برمز 502 في جميع المناطق. نحن نحقق في الأمر.'],
      }),
    ],
  });
}

/** A page of a given number of past incidents, evenly over the last 300 days, for weights and speeds. */
export function longHistory(count: number, componentCount = 50): PageModel {
  return manyComponents(componentCount, {
    incidents: Array.from({ length: count }, (_, index) => {
      const startedAt = ago((1 + (index * 300) / count) * DAY_MS);
      return incident({
        slug: `i${index}`,
        title: `Incident number ${index}`,
        componentIds: [`c${index % componentCount}`],
        startedAt,
        endedAt: toEpochMs(startedAt + (5 + (index % 90)) * MINUTE_MS + SECOND_MS),
        updateBodies: ['We see errors.', 'The cause is **found**.', 'It works again.', 'Over.'],
      });
    }),
  });
}

/** A small page with something in every field. */
export function eventful(): PageModel {
  const groups = [{ id: 'core', name: 'Core', order: 0 }];
  const samples = [30, 20, 10].map((minutes) => ({ at: ago(minutes * MINUTE_MS), ms: 100 + minutes }));
  const upstreamUptime = {
    periodDays: 30,
    checksTotal: 100,
    checksUp: 99,
    uptimeRatio: 0.99,
    responseTimeAverageMs: 120,
  };
  return pageModel({
    components: [
      componentModel({
        id: 'api',
        name: 'API',
        knownDays: 40,
        groupId: 'core',
        troubles: [{ state: 'major_outage', startedAgoMs: 50 * MINUTE_MS }],
        responseTimes: samples,
        upstreamUptime,
      }),
      componentModel({
        id: 'web',
        name: 'Web',
        knownDays: 20,
        description: 'What you see',
        target: 'https://w.example/',
      }),
      { ...componentModel({ id: 'mail', name: 'Mail', knownDays: 20 }), isStale: true, state: 'unknown' },
    ],
    incidents: [
      incident({
        slug: 'open',
        startedAt: ago(50 * MINUTE_MS),
        aliases: ['open-once'],
        components: [{ id: 'api', state: 'major_outage' }],
        updateBodies: ['Requests **fail**.', 'We know why.'],
      }),
      incident({ slug: 'auto', componentIds: ['web'], isAutomatic: true, endedAt: ago(HOUR_MS) }),
      incident({ slug: 'lasting', componentIds: ['web'], startedAt: ago(30 * DAY_MS), status: 'monitoring' }),
      incident({ slug: 'old', componentIds: ['web', 'mail'], startedAt: ago(33 * DAY_MS), endedAt: ago(32 * DAY_MS) }),
      incident({ slug: 'ancient', startedAt: ago(95 * DAY_MS), endedAt: ago(94 * DAY_MS) }),
    ],
    maintenances: [
      maintenance({ slug: 'coming' }),
      maintenance({
        slug: 'running',
        componentIds: ['web'],
        status: 'in_progress',
        startsAt: ago(80 * MINUTE_MS),
        endsAt: ago(-HOUR_MS),
        sequence: 2,
        changedAt: ago(2 * DAY_MS),
      }),
      maintenance({
        slug: 'over',
        status: 'completed',
        startsAt: ago(34 * DAY_MS),
        endsAt: ago(33 * DAY_MS),
        windows: [62, 34].map((days) => ({ from: ago(days * DAY_MS), to: ago((days - 1) * DAY_MS) })),
      }),
    ],
    announcements: [announcement({ to: ago(-DAY_MS), pages: ['acme'] })],
    definition: { description: 'How we are doing', groups, emailDomains: ['acme.example'], icon: '/icon.png' },
    settings: { cssVariables: { '--pharos-radius': '3px' }, accentColor: '#123456', showTargets: true },
    since: ago(50 * MINUTE_MS),
    log: {
      size: 12,
      root: 'AAAA',
      days: '',
      witnesses: [{ url: 'https://w.example/', word: 'differs', faults: ['Another past.'] }],
      corrected: [{ component: 'api', day: dayOf(ago(3 * DAY_MS), 'UTC'), at: ago(2 * HOUR_MS) }],
    },
    dataFrom: ago(2 * HOUR_MS),
    isStale: true,
  });
}

/** A page on which much went wrong: incidents over eighty days, each an outage of its component, and some that go on. */
export function troubledWorld(
  componentCount = 50,
  incidentCount = 150,
  init: Parameters<typeof pageModel>[0] = {},
): PageModel {
  const next = randomOf(7);
  const TITLES = ['Elevated error rates', 'Slow responses', 'Deliveries delayed', 'Sign-in fails for some', 'Timeouts'];
  const falls = Array.from({ length: incidentCount }, (_, index) => ({
    index,
    component: Math.floor(next() * componentCount),
    startedAgoMs: index < 3 ? (index + 1) * 19 * MINUTE_MS : (1 + next() * 79) * DAY_MS,
    forMs: (4 + next() * next() * 300) * MINUTE_MS,
    state: (['degraded', 'partial_outage', 'major_outage'] as const)[Math.floor(next() * 3)] ?? 'degraded',
  }));
  const base = manyComponents(componentCount);
  return manyComponents(componentCount, {
    components: base.components.map((component, at) =>
      componentModel({
        id: component.definition.id,
        name: component.name,
        groupId: component.definition.groupId,
        troubles: falls
          .filter((fall) => fall.component === at)
          .map(({ state, startedAgoMs, forMs, index }) => ({ state, startedAgoMs, ...(index < 3 ? {} : { forMs }) })),
        responseTimes: component.responseTimes,
      }),
    ),
    incidents: falls
      .map(({ index, component, startedAgoMs, forMs, state }) => {
        const startedAt = ago(startedAgoMs);
        const name = base.components[component]?.name ?? '';
        return incident({
          slug: `${index.toString(36)}${Math.floor(next() * 2 ** 30).toString(36)}`,
          title: `${TITLES[index % TITLES.length]}: ${name}`,
          componentIds: [`c${component}`],
          impact: state === 'degraded' ? 'minor' : state === 'major_outage' ? 'critical' : 'major',
          startedAt,
          ...(index < 3 ? { status: 'identified' as const } : { endedAt: toEpochMs(startedAt + forMs) }),
          updateBodies: [
            `We see errors with ${name} and are looking into it.`,
            'A deploy at the edge raised latency. We are rolling it back.',
            'Error rates are back to normal. We keep watching.',
            `${name} has been stable for an hour.`,
          ].slice(0, index < 3 ? 2 : 4),
        });
      })
      .toSorted((a, b) => b.startedAt - a.startedAt),
    ...init,
  });
}
