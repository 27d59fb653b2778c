import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isStatusError } from '../../src/errors.ts';
import { type Learned, type PageDefinition, toMonitorId } from '../../src/model/observation.ts';
import { dayOf } from '../../src/model/time.ts';
import type { Probe } from '../../src/sync/connector.ts';
import { uptimeService } from '../../src/sync/connectors/uptime-service/connector.ts';
import {
  projectDays,
  projectDetail,
  projectMonitors,
  projectPage,
} from '../../src/sync/connectors/uptime-service/project.ts';
import {
  componentPlaces,
  projectMaintenances,
  projectOutages,
  projectReports,
} from '../../src/sync/connectors/uptime-service/project-reports.ts';
import {
  ChannelAnswerSchema,
  ChannelSchema,
  ChannelsAnswerSchema,
  DailySummarySchema,
  MonitorSummarySchema,
  OutagesAnswerSchema,
  OverviewSchema,
  PageAnswerSchema,
  PageSummarySchema,
  PagesAnswerSchema,
  RecordedMonitorsSchema,
  ReportAnswerSchema,
  ReportsAnswerSchema,
  stripPrefix,
} from '../../src/sync/connectors/uptime-service/schema.ts';
import { createHttp, type Http } from '../../src/sync/http/http.ts';
import type { HttpQuestion } from '../../src/sync/http/http-faults.ts';
import { contextOf, drive, NOW, probeOf } from '../helpers/drive.ts';
import { type Exchange, loadExchanges, replayKey, startReplay } from '../helpers/replay.ts';
import { keyOf, loadCases } from '../helpers/upstream-cases.ts';

type Makes = (payload: unknown) => unknown;

const states = (payload: unknown) =>
  projectMonitors([RecordedMonitorsSchema.parse(payload)], 'up', []).monitors.map(({ id, state }) => `${id} ${state}`);
const monitors: Makes = states;
/** A monitor read alone is the same record as in the list. */
const monitor: Makes = (payload) => {
  const [kind = '', record] = Object.entries((payload as { monitor: Record<string, unknown> }).monitor)[0] ?? [];
  return states({ [`${kind}Monitors`]: [record] });
};
const pageIds: Makes = (payload) =>
  PagesAnswerSchema.parse(payload).statusPages.map((item) => PageSummarySchema.parse(item).id);
const ORIGIN = { upstreamId: 'up', isRecorded: true };
const shown = (page: PageDefinition | null) =>
  page === null ? null : [page.slug, page.access, page.published, page.components.length, page.groups.length];
const page: Makes = (payload) => {
  const { statusPage } = PageAnswerSchema.parse(payload);
  const nothing = { components: [], groups: [], statusReports: [], maintenances: [], configuration: null };
  return shown(projectPage({ statusPage, ...nothing }, ORIGIN, []));
};
const overview: Makes = (payload) => {
  const content = OverviewSchema.parse(payload);
  const definition = projectPage(content, ORIGIN, []);
  const places = componentPlaces(definition === null ? [] : [definition], 'up');
  const facts = { upstreamId: 'up', places, problems: [] };
  const items = content.statusReports.map((item) => ({ item, pageId: '1' }));
  const incidents = projectReports(items, facts);
  const maintenances = projectMaintenances(content.maintenances, '1', facts);
  return [shown(definition), incidents.map(({ id }) => id), maintenances.map(({ id }) => id)];
};
const reports = (items: readonly unknown[]) =>
  projectReports(
    items.map((item) => ({ item, pageId: null })),
    { upstreamId: 'up', places: new Map(), problems: [] },
  ).map(({ id, status, updates }) => `${id} ${status} ${updates.length}`);
/** Of a channel neither its address nor its headers are read. */
const channels: Makes = (payload) => {
  const one = ChannelAnswerSchema.safeParse(payload).data?.notification;
  const items = one === undefined ? ChannelsAnswerSchema.parse(payload).notifications : [one];
  return items
    .map((item) => ChannelSchema.parse(item))
    .map(
      ({ id, name, provider, monitorIds = null }) =>
        `${id} ${name} ${stripPrefix(provider, 'NOTIFICATION_PROVIDER_')} ${monitorIds}`,
    );
};
const whoami = async (payload: unknown): Promise<readonly string[]> => {
  const options = uptimeService.optionsSchema.parse({
    rpcUrl: 'https://up.test/rpc',
    preset: 'openstatus',
    apiKey: 'k',
  });
  const { result } = await drive<Probe>(probeOf(uptimeService, options, contextOf()), ({ name }) =>
    name === 'whoami' ? payload : {},
  );
  return [result.summary, ...result.warnings];
};
const REFUSED = 'UPSTREAM_REFUSED';
/** Answers that are never asked for; whatever they hold cannot come in. */
const NOT_ASKED = 'not asked';

const FULL = ['up/1 operational', 'up/2 paused', 'up/3 operational', 'up/4 paused'];
const ACME = ['acme-status', 'public', true, 3, 2];
const ON_ACME = [['up/report-1'], ['up/maintenance-1', 'up/maintenance-2']];
const MAY_WRITE = 'this key can write; a read-only key is enough';

/** Each recorded exchange, and what is made of it. */
const TABLE: Readonly<Record<string, typeof REFUSED | typeof NOT_ASKED | readonly [Makes, unknown]>> = {
  '001-whoami-write': [
    whoami,
    ['workspace "Acme Ops", plan scale, key 1 with write scope; 0 status pages; no notification channels', MAY_WRITE],
  ],
  '002-listmonitors-write': [monitors, []],
  '003-whoami-read': [
    whoami,
    ['workspace "Acme Ops", plan scale, key 2 with read scope; 0 status pages; no notification channels'],
  ],
  '004-listmonitors-read': [monitors, []],
  '005-whoami-None': REFUSED,
  '006-listmonitors-None': REFUSED,
  '008-listmonitors-bad': REFUSED,
  '012-listmonitors-garbage': REFUSED,
  '013-whoami-expired': REFUSED,
  '014-listmonitors-expired': REFUSED,
  '015-health': NOT_ASKED,
  '020-create-http-readkey-403': REFUSED,
  '024-listmonitors-full': [monitors, FULL],
  '025-listmonitors-page': [monitors, ['up/2 paused', 'up/3 operational']],
  '026-listmonitors-beyond': [monitors, []],
  '027-listmonitors-limit101': REFUSED,
  '028-listmonitors-badjson': REFUSED,
  '030-listmonitors-lowercase-method-404': REFUSED,
  '032-listmonitors-put-405': REFUSED,
  '033-listmonitors-connect-get': [monitors, FULL],
  '053-list-pages': [pageIds, ['5', '4', '3', '2', '1']],
  '054-list-pages-paged': [pageIds, ['4']],
  '055-get-page': [page, ['acme-status', 'public', true, 0, 0]],
  '056-get-page-password-readkey': [page, ['acme-partners', 'password', true, 0, 0]],
  '057-get-page-404': REFUSED,
  '060-get-page-other-workspace': REFUSED,
  '064-get-report': [
    (payload) => reports([ReportAnswerSchema.parse(payload).statusReport]),
    ['up/report-1 identified 2'],
  ],
  '065-list-reports': [
    (payload) => reports(ReportsAnswerSchema.parse(payload).statusReports),
    ['up/report-1 identified 0', 'up/report-2 resolved 0'],
  ],
  '066-list-reports-filter': [
    (payload) => reports(ReportsAnswerSchema.parse(payload).statusReports),
    ['up/report-2 resolved 0'],
  ],
  '072-list-maintenances': NOT_ASKED,
  '073-get-maintenance': NOT_ASKED,
  '074-content-by-id': [overview, [['acme-status', 'public', true, 3, 2], ...ON_ACME]],
  '075-content-by-slug-unpublished': REFUSED,
  '077-content-by-slug-published': [overview, [ACME, ...ON_ACME]],
  '078-content-by-slug-other-workspace-key': [overview, [ACME, ...ON_ACME]],
  '079-content-by-slug-acme-partners': REFUSED,
  '080-content-by-slug-acme-staff': REFUSED,
  '083-overall-by-id': NOT_ASKED,
  '085-overview': [overview, [ACME, ...ON_ACME]],
  '086-daily-summary': [
    (payload) => {
      const days = projectDays(DailySummarySchema.parse(payload).components, dayOf(NOW, 'UTC'), []);
      return [...days].map(([id, list]) => [id, list.map(({ day, operational }) => `${day} ${operational}`)]);
    },
    [
      ['1', ['2026-11-19 288', '2026-11-20 288', '2026-11-21 288']],
      ['3', ['2026-11-19 288', '2026-11-20 288', '2026-11-21 288']],
    ],
  ],
  '087-get-monitor-http': [monitor, ['up/1 major_outage']],
  '088-get-monitor-tcp': [monitor, ['up/3 operational']],
  '089-get-monitor-dns': [monitor, ['up/4 paused']],
  '090-get-monitor-404': REFUSED,
  '092-monitor-status': NOT_ASKED,
  '093-monitor-summary': [
    (payload) => {
      const summary = MonitorSummarySchema.parse(payload);
      return projectDetail(toMonitorId('up', '1'), NOW, { summary, days: [] }).uptime;
    },
    { periodDays: 7, checksTotal: 288, checksUp: 285, uptimeRatio: null, responseTimeAverageMs: null },
  ],
  '103-list-notifications': [channels, ['1 Ops hook webhook null']],
  '104-get-notification': [channels, ['1 Ops hook webhook 1,3']],
  '115-v1-monitor_1': NOT_ASKED,
  '120-v1-monitor_1_summary': NOT_ASKED,
  '121-v1-page': REFUSED,
  '122-v1-page_1': NOT_ASKED,
  '126-v1-status_report': NOT_ASKED,
  '127-v1-status_report_1': NOT_ASKED,
  '128-v1-status_report_update_1': NOT_ASKED,
  '129-v1-maintenance': NOT_ASKED,
  '130-v1-maintenance_1': NOT_ASKED,
  '131-v1-incident': [
    (payload) => {
      const incidents = projectOutages(OutagesAnswerSchema.parse(payload), { upstreamId: 'up', monitors: [] }, []);
      return incidents.map(({ id, monitors: about, endedAt }) => [id, about, endedAt]);
    },
    [['up/incident-1', ['up/1'], null]],
  ],
  '132-v1-incident_1': NOT_ASKED,
  '138-v1-delete-apikey-readkey': REFUSED,
  '139-v1-delete-apikey-writekey': REFUSED,
};

let http: Http;
const exchanges = await loadExchanges();

beforeAll(() => {
  http = createHttp();
});

afterAll(() => http.close());

/** The recorded request over real HTTP, through the same door as every question; the same request had several answers. */
async function askAgain(exchange: Exchange): Promise<{ payload: unknown }> {
  const { method, path, key, body } = exchange.request;
  const replay = await startReplay({ exchanges: [exchange], port: 0 });
  try {
    const question = {
      method: method as HttpQuestion['method'],
      url: `${replay.url}${path}`,
      headers: key === null ? {} : { 'x-openstatus-key': replayKey(key) },
      ...(body === '' ? {} : { body: body === 'not json' ? body : (JSON.parse(body) as unknown) }),
    };
    return await http.request(question, { now: () => NOW });
  } finally {
    await replay.stop();
  }
}

describe('the recorded exchanges with a real uptime service', () => {
  it('are all in the table', () => {
    expect(Object.keys(TABLE).toSorted()).toEqual(exchanges.map(({ name }) => name).toSorted());
    expect(exchanges.length).toBe(61);
  });

  it.each(exchanges.map((exchange) => [exchange.name, exchange] as const))('%s', async (name, exchange) => {
    const row = TABLE[name];
    if (row === REFUSED) {
      const error: unknown = await askAgain(exchange).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(isStatusError(error) && error.code).toBe(REFUSED);
      expect(isStatusError(error) && error.context['status']).toBe(exchange.response.status);
      return;
    }
    const { payload } = await askAgain(exchange);
    if (Array.isArray(row)) {
      const [makes, expected] = row as readonly [Makes, unknown];
      expect(await makes(payload)).toEqual(expected);
      return;
    }
    const [recorded] = loadCases('uptime-service').filter(({ name: one }) => one === 'ok-recorded');
    const options = uptimeService.optionsSchema.parse(recorded?.options);
    const { questions } = await drive<Learned>(uptimeService.pull(options, contextOf()), (question) => {
      const key = keyOf(question, recorded?.answers ?? {});
      return key === null ? null : recorded?.answers[key];
    });
    const asked = questions.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
    expect(asked).not.toContain(`${exchange.request.method} ${exchange.request.path}`);
  });

  it('leaves no password and no channel secret in what is parsed', () => {
    const holders = exchanges.filter(({ response }) => /hunter2|"s3"|Bearer t/.test(response.body));
    expect(holders.map(({ name }) => name.slice(0, 3))).toEqual(['024', '025', '033', '056', '088', '104']);
    const kept = holders.flatMap(({ name, response }) => {
      const row = TABLE[name];
      const payload: unknown = JSON.parse(response.body);
      if (!Array.isArray(row)) return [];
      const lists = RecordedMonitorsSchema.safeParse(payload).data;
      return [row[0](payload), lists === undefined ? null : projectMonitors([lists], 'up', [])];
    });
    expect(JSON.stringify(kept)).not.toMatch(/hunter2|"s3"|Bearer t/);
    const partners = exchanges.find(({ name }) => name.startsWith('056'));
    expect(PageAnswerSchema.parse(JSON.parse(partners?.response.body ?? '')).statusPage).not.toHaveProperty('password');
  });
});
