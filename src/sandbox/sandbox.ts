/**
 * The sandbox of the first run: a server monitor over real HTTP on loopback, posts in a folder of its own, and the
 * configuration that reads both.
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type EpochMs, toIso } from '../model/time.ts';
import { type WrittenFile, writtenFile } from '../sync/connectors/markdown/written.ts';
import { createServerMonitor } from './server-monitor.ts';
import { noiseHex, SERVICES_OF_ALL_PAGES, type WorldPage } from './services.ts';
import { createWorld, type World, type WorldMaintenance, type WorldReport } from './world.ts';

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

const SEED = 1;
/** With the page of forty components, of which about one in two failed once in ninety days. */
const LARGE_WORLD = { services: SERVICES_OF_ALL_PAGES, extraOutages: 20 };

/**
 * Starts the server on a port (0: any that is free) and writes the posts; resolves once it listens.
 *
 * @param log  gets one line per request, without its secrets
 */
export async function startSandbox(port: number, now: () => EpochMs, log?: (line: string) => void) {
  const world = createWorld({ seed: SEED, startedAt: now(), ...LARGE_WORLD });
  const { secret, pagePassword } = createSecrets(SEED);
  const answer = createServerMonitor({ world, apiKey: secret('edge') });
  const server = createServer(({ method = 'GET', url = '/', headers }, response) => {
    const { pathname: path, searchParams: query } = new URL(url, 'http://sandbox');
    const { status, headers: sent, body } = answer({ method, path, query, headers, now: now() });
    log?.(`${method} ${path} ${status}`);
    response.writeHead(status, sent).end(body);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = mkdtempSync(join(tmpdir(), 'pharos-sandbox-'));
  for (const { name, text } of postFiles(world)) writeFileSync(join(folder, name), text);
  return {
    /** `http://127.0.0.1:4444`, without a slash at the end. */
    url,
    /** The `pharos.yaml` to paste. Secrets stand in it as `${NAME}` only. */
    configText: () => configText(world, url, folder),
    /** The variables that it takes its secrets from. */
    environment: () => ({
      EDGE_KEY: secret('edge'),
      PARTNERS_PASSWORD: pagePassword,
      PHAROS_TOKEN: secret('operator'),
    }),
    stop: () =>
      new Promise<void>((resolve) => {
        rmSync(folder, { recursive: true, force: true });
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Every secret of a sandbox. They open nothing else, and are the same for the same seed. */
export function createSecrets(seed: number) {
  return {
    secret: (name: string) => `sandbox-${name}-${noiseHex(16, seed, 'secret', name)}`,
    /** Of the page `partners`; a person types it. */
    pagePassword: `partners-${noiseHex(6, seed, 'page password')}`,
  };
}

export const SITE_ENTRY = {
  url: 'http://127.0.0.1:4321',
  name: 'Acme',
  home: 'acme',
  timezone: 'Europe/Berlin',
  locale: 'en',
};

function configText(world: World, url: string, folder: string): string {
  return stringify(
    {
      site: SITE_ENTRY,
      upstreams: [
        {
          id: 'edge',
          kind: 'server-monitor',
          baseUrl: url,
          apiKey: '${EDGE_KEY}',
          auth: 'x-api-key',
          // The past of all services is read at once.
          limits: { perMinute: 600, perHour: 20_000 },
        },
        { id: 'posts', kind: 'markdown', path: folder },
      ],
      pages: world.pages.map((page) => pageEntry(page, (serviceId) => `edge/${serviceId}`)),
      operators: { token: '${PHAROS_TOKEN}' },
    },
    { lineWidth: 0 },
  );
}

/** The entry of a page in `pages`; a component whose service no monitor shows is left out. */
export function pageEntry(
  page: WorldPage,
  monitorOf: (serviceId: number) => string | null,
): Readonly<Record<string, unknown>> {
  const groupKeys = new Map(page.groups.map(({ id, name }) => [id, name.toLowerCase()]));
  const components = page.components.flatMap(({ serviceId, name, description, groupId, order }) => {
    const monitor = monitorOf(serviceId);
    if (monitor === null) return [];
    return {
      type: 'monitor',
      monitor,
      name,
      ...(description === null ? {} : { description }),
      ...(groupId === null ? {} : { group_id: groupKeys.get(groupId) }),
      order,
    };
  });
  return {
    slug: page.slug,
    title: page.title,
    ...(page.description === null ? {} : { description: page.description }),
    access_type: page.accessType,
    ...(page.accessType === 'password' ? { password: '${PARTNERS_PASSWORD}' } : {}),
    ...(page.accessType === 'email-domain' ? { auth_email_domains: page.emailDomains } : {}),
    ...(page.groups.length === 0
      ? {}
      : { groups: page.groups.map(({ id, name }) => ({ id: groupKeys.get(id), name })) }),
    components,
  };
}

const STATES = {
  degraded_performance: { impact: 'minor', state: 'degraded' },
  partial_outage: { impact: 'major', state: 'partial_outage' },
  major_outage: { impact: 'critical', state: 'major_outage' },
} as const;

/** What people wrote in this world, as files. An update that is dated later appears when it is due. */
function postFiles({ reports, maintenances }: World) {
  return [
    ...reports.map((report) => writtenFile(`incident-${report.id}`, toIncident(report))),
    ...maintenances.map((one) => writtenFile(`maintenance-${one.id}`, toMaintenance(one))),
  ];
}

function toIncident({ title, serviceIds, impact, updates }: WorldReport): WrittenFile {
  const [first, ...later] = updates;
  return {
    post: {
      type: 'incident',
      title,
      ...STATES[impact],
      started: toIso(first.at),
      monitors: serviceIds.map((id) => `edge/${id}`),
    },
    opening: first.message,
    updates: later.map(({ at, status, message }) => ({ at, status, body: message })),
  };
}

function toMaintenance({ title, message, serviceIds, from, to }: WorldMaintenance): WrittenFile {
  return {
    post: {
      type: 'maintenance',
      title,
      starts: toIso(from),
      ends: toIso(to),
      monitors: serviceIds.map((id) => `edge/${id}`),
    },
    opening: message,
    updates: [],
  };
}
