/** The workspace in which the story takes place: monitors, pages, what stands on them, and figures of the days before. */

import { writeFileSync } from 'node:fs';
import { call, makeKey, sql } from './drive.mjs';

const LIMITS = {
  monitors: 100,
  'status-pages': 50,
  'page-components': 100,
  'notification-channels': 50,
  'sms-limit': 100,
  'max-regions': 28,
  periodicity: ['30s', '1m', '5m', '10m', '30m', '1h'],
};
const FEATURES = [
  ...['custom-domain', 'i18n', 'password-protection', 'email-domain-protection', 'ip-restriction', 'no-index'],
  ...[
    'custom-theme',
    'pagerduty',
    'opsgenie',
    'grafana-oncall',
    'whatsapp',
    'sms',
    'private-locations',
    'status-subscribers',
  ],
];

export async function makeWorkspace() {
  const limits = JSON.stringify({ ...LIMITS, ...Object.fromEntries(FEATURES.map((name) => [name, true])) });
  await sql(`insert into workspace (id, slug, name, plan, limits) values (1, 'acme', 'Acme', 'team', '${limits}')`);
  await sql(`insert into user (id, email, first_name, last_name) values (1, 'ops@example.test', 'Ops', 'Acme')`);
  await makeKey('write', 1);
  await makeKey('read', 2);
}

const COMMON = {
  periodicity: 'PERIODICITY_1M',
  timeout: '45000',
  retry: '3',
  regions: ['REGION_FLY_AMS'],
  active: true,
};

async function monitor(kind, fields) {
  return (await call('Monitor', `Create${kind}Monitor`, { monitor: { ...COMMON, ...fields } })).monitor.id;
}
const http = (name, more = {}) =>
  monitor('HTTP', { name, url: `https://${name}.example.test`, method: 'HTTP_METHOD_GET', ...more });

export async function makeMonitors() {
  const api = await http('internal-api');
  const web = await http('internal-web', { public: true, description: 'Our own words about it' });
  const batch = await http('internal-batch', { active: false });
  const database = await monitor('TCP', { name: 'internal-db', uri: 'db.example.test:5432' });
  const dns = await monitor('DNS', { name: 'internal-dns', uri: 'example.test' });
  await http('not-on-a-page');
  return { api, web, batch, database, dns };
}

/** Twelve days that were good, but for the numbers of slow and failed checks of `bad`, by how many days ago. */
function daysBefore(bad) {
  return Array.from({ length: 12 }, (_, index) => {
    const [degraded = 0, error = 0] = bad[index] ?? [];
    const day = new Date(Date.parse('2026-11-20T00:00:00Z') - index * 86_400_000).toISOString().slice(0, 10);
    return { day: `${day} 00:00:00`, count: 1440, ok: 1440 - degraded - error, degraded, error };
  });
}

export function writeDays({ api, web, database, dns }) {
  const latencies = { p50Latency: 120, p75Latency: 150, p90Latency: 180, p95Latency: 200, p99Latency: 400 };
  const counts = { count: 10_000, success: 9_900, degraded: 50, error: 50, ok: 9_900 };
  const days = {
    [api]: daysBefore({ 3: [0, 120], 7: [60, 0] }),
    [web]: daysBefore({}),
    [database]: daysBefore({ 10: [0, 1440] }),
    [dns]: daysBefore({}),
  };
  const metrics = { [api]: [{ ...counts, ...latencies, lastTimestamp: Date.parse('2026-11-21T07:59:00Z') }] };
  writeFileSync(process.env.DAYS, JSON.stringify({ days, metrics }));
}

export async function makePage(fields) {
  return (await call('StatusPage', 'CreateStatusPage', fields)).statusPage.id;
}
async function place(pageId, monitorId, name, order, groupId) {
  const fields = { pageId, monitorId, name, order, ...(groupId === undefined ? {} : { groupId }) };
  return (await call('StatusPage', 'AddMonitorComponent', fields)).component.id;
}
export async function placeStatic(pageId, name, order) {
  return (await call('StatusPage', 'AddStaticComponent', { pageId, name, order })).component.id;
}
async function makeGroup(pageId, name, defaultOpen) {
  return (await call('StatusPage', 'CreateComponentGroup', { pageId, name, defaultOpen })).group.id;
}

/** How a page is drawn is set in the dashboard, and by no interface. */
export async function configure(page, configuration) {
  await sql(`update page set configuration = '${JSON.stringify(configuration)}' where id = ${page}`);
}

export async function makePages(monitors) {
  const acme = await makePage({
    title: 'Acme',
    slug: 'acme',
    description: 'All of Acme',
    homepageUrl: 'https://acme.example.test',
    contactUrl: 'https://acme.example.test/help',
    icon: 'https://acme.example.test/icon.png',
  });
  const german = { defaultLocale: 'LOCALE_DE', locales: ['LOCALE_DE', 'LOCALE_EN'] };
  const quiet = await makePage({
    title: 'Ruhig',
    slug: 'quiet',
    ...german,
    allowIndex: false,
    theme: 'PAGE_THEME_DARK',
  });
  const manual = await makePage({ title: 'By hand', slug: 'manual', defaultLocale: 'LOCALE_TR' });
  const staff = await makePage({
    title: 'Staff',
    slug: 'staff',
    accessType: 'PAGE_ACCESS_TYPE_PASSWORD_PROTECTED',
    password: 'sesame',
  });
  const domains = { accessType: 'PAGE_ACCESS_TYPE_AUTHENTICATED', authEmailDomains: ['partner.example.test'] };
  const partners = await makePage({ title: 'Partners', slug: 'partners', ...domains });
  const ranges = { accessType: 'PAGE_ACCESS_TYPE_IP_RESTRICTED', allowedIpRanges: '10.0.0.0/8' };
  const office = await makePage({ title: 'Office', slug: 'office', ...ranges });
  const empty = await makePage({ title: 'Nothing on it', slug: 'empty' });
  const core = await makeGroup(acme, 'Core', true);
  const edge = await makeGroup(acme, 'Edge', false);
  const components = {
    desk: await placeStatic(acme, 'Support desk', 0),
    database: await place(acme, monitors.database, 'Database', 1, core),
    api: await place(acme, monitors.api, 'API', 2, core),
    web: await place(acme, monitors.web, 'Website', 3),
    dns: await place(acme, monitors.dns, 'DNS', 4, edge),
    batch: await place(acme, monitors.batch, 'Batch', 5),
  };
  await call('StatusPage', 'UpdateComponent', { id: components.database, groupOrder: 2 });
  await call('StatusPage', 'UpdateComponent', { id: components.api, groupOrder: 1 });
  await place(quiet, monitors.api, 'API', 1);
  await place(manual, monitors.api, 'API', 1);
  const byHand = await place(manual, monitors.web, 'Website', 2);
  await configure(manual, { value: 'manual', type: 'manual', uptime: false, days: 30 });
  for (const page of [staff, partners, office]) await place(page, monitors.api, 'API', 1);
  return { acme, quiet, manual, partners, empty, core, edge, components, byHand };
}
