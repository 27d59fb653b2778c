/** The `pharos.yaml` that points at a running sandbox, and the environment it takes its secrets from. */

import { stringify } from 'yaml';
import type { Credentials } from './credentials.ts';
import type { UpstreamName } from './exchange.ts';
import type { World, WorldPage } from './world.ts';

export interface ConfigTextOptions {
  /** Which upstreams it names. Default: `server-monitor`, `openstatus`, `backup`, `journeys`. */
  readonly include?: readonly UpstreamName[];
  /** False leaves `pages` out: definitions then come from the upstreams. Default true. */
  readonly hasPages?: boolean;
}

/** The real wire of the uptime service is the one that tells of reports, maintenances and days before the first pass. */
const INCLUDED_DEFAULT: readonly UpstreamName[] = ['server-monitor', 'openstatus', 'backup', 'journeys'];

/** Upstream ids in the configuration; monitors are named by them. Both wires of one service are one upstream, `svc`. */
function upstreamIdIn(name: UpstreamName, include: readonly UpstreamName[]): string {
  if (name === 'openstatus') return include.includes('uptime') ? 'real' : 'svc';
  return {
    'server-monitor': 'edge',
    uptime: 'svc',
    backup: 'backups',
    journeys: 'crm',
    payroll: 'payroll',
    terraform: 'iac',
  }[name];
}

/** The names of the variables and their values, for `export NAME=value`. */
export function environmentOf(credentials: Credentials): Readonly<Record<string, string>> {
  return {
    EDGE_KEY: credentials.serverMonitor.apiKey,
    SVC_KEY: credentials.uptime.read.token,
    BACKUP_PASSWORD: credentials.backup.password,
    CRM_TOKEN: credentials.journeysToken,
    PAYROLL_TOKEN: credentials.payrollToken,
    IAC_TOKEN: credentials.terraformToken,
    PARTNERS_PASSWORD: credentials.pagePassword,
    PHAROS_TOKEN: credentials.operatorToken,
  };
}

/** The text to paste. Secrets stand in it as `${NAME}` only. */
export function configTextOf(url: string, world: World, options: ConfigTextOptions = {}): string {
  const { include = INCLUDED_DEFAULT, hasPages = true } = options;
  const upstreams = upstreamEntries(url).filter(({ name }) => include.includes(name));
  return stringify(
    {
      site: { url: 'http://127.0.0.1:4321', name: 'Acme', home: 'acme', timezone: 'Europe/Berlin', locale: 'en' },
      upstreams: upstreams.map(({ name, options: entry }) => ({ id: upstreamIdIn(name, include), ...entry })),
      ...(hasPages ? { pages: world.pages.map((page) => pageEntry(page, include)) } : {}),
      operators: { token: '${PHAROS_TOKEN}' },
    },
    { lineWidth: 0 },
  );
}

interface UpstreamEntry {
  readonly name: UpstreamName;
  readonly options: Readonly<Record<string, unknown>>;
}

function upstreamEntries(url: string): readonly UpstreamEntry[] {
  const uptime = { kind: 'uptime-service', apiKey: '${SVC_KEY}' };
  const wire = (prefix: string): Record<string, string> => ({
    rpcUrl: `${url}/${prefix}/rpc`,
    restUrl: `${url}/${prefix}/v1`,
  });
  return [
    {
      name: 'server-monitor',
      options: { kind: 'server-monitor', baseUrl: `${url}/server-monitor`, apiKey: '${EDGE_KEY}', auth: 'x-api-key' },
    },
    { name: 'uptime', options: { ...uptime, ...wire('uptime') } },
    { name: 'openstatus', options: { ...uptime, preset: 'openstatus', ...wire('openstatus') } },
    {
      name: 'backup',
      options: {
        kind: 'backup-control-plane',
        baseUrl: `${url}/backup/api`,
        email: 'pharos@acme.example',
        password: '${BACKUP_PASSWORD}',
        tenants: ['acme'],
      },
    },
    {
      name: 'journeys',
      options: {
        kind: 'customer-journeys',
        tenantBaseUrl: `${url}/journeys`,
        headers: { Authorization: 'Bearer ${CRM_TOKEN}' },
      },
    },
    {
      name: 'terraform',
      options: {
        kind: 'terraform',
        url: `${url}/terraform/state`,
        headers: { Authorization: 'Bearer ${IAC_TOKEN}' },
      },
    },
  ];
}

/**
 * Shown as the server monitor sees them; the others as the uptime service does, which has a word for slow and knows of
 * the maintenances of services 1, 2, 5 and 7.
 */
const SEEN_BY_SERVER_MONITOR: ReadonlySet<number> = new Set([3, 4, 8, 9]);

function pageEntry(page: WorldPage, include: readonly UpstreamName[]): Record<string, unknown> {
  const uptime = include.includes('uptime') ? 'uptime' : 'openstatus';
  const hasUptime = include.includes(uptime);
  const hasServerMonitor = include.includes('server-monitor');
  const monitorOf = (serviceId: number): string => {
    const isEdge = hasServerMonitor && (SEEN_BY_SERVER_MONITOR.has(serviceId) || !hasUptime);
    return `${upstreamIdIn(isEdge ? 'server-monitor' : uptime, include)}/${serviceId}`;
  };
  const components = page.components.map(({ serviceId, name, description, groupId, order }) => ({
    type: serviceId === null ? 'static' : 'monitor',
    ...(serviceId === null ? {} : { monitor: monitorOf(serviceId) }),
    name,
    ...(description === null ? {} : { description }),
    ...(groupId === null ? {} : { group_id: groupKey(page, groupId) }),
    order,
  }));
  return {
    slug: page.slug,
    // Only the real wire of the service lists pages.
    ...(include.includes('openstatus') ? { from: upstreamIdIn('openstatus', include) } : {}),
    title: page.title,
    ...(page.description === null ? {} : { description: page.description }),
    access_type: page.accessType,
    ...(page.accessType === 'password' ? { password: '${PARTNERS_PASSWORD}' } : {}),
    ...(page.accessType === 'email-domain' ? { auth_email_domains: page.emailDomains } : {}),
    ...(page.groups.length === 0
      ? {}
      : { groups: page.groups.map(({ id, name }) => ({ id: groupKey(page, id), name })) }),
    components,
  };
}

function groupKey(page: WorldPage, groupId: number): string {
  return (page.groups.find(({ id }) => id === groupId)?.name ?? 'group').toLowerCase();
}
