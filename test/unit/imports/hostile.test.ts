import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createConfigSchema } from '../../../src/config/rules.ts';
import { cstateSite } from '../../../src/imports/cstate/site.ts';
import { importFiles } from '../../../src/imports/files.ts';
import { gatusConfig } from '../../../src/imports/gatus/config.ts';
import { gatusSite } from '../../../src/imports/gatus/site.ts';
import type { ImportContext, ImportedSite } from '../../../src/imports/site.ts';
import { statuspageSite } from '../../../src/imports/statuspage/site.ts';
import { issuesFromApi, issuesFromFile, upptimeSite } from '../../../src/imports/upptime/site.ts';
import { kumaSite } from '../../../src/imports/uptime-kuma/site.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import { projectPosts } from '../../../src/sync/connectors/markdown/project.ts';
import { createRandom, type Random, spoilBytes, spoilValue } from '../../helpers/mutate.ts';

const now = toEpochMs(Date.parse('2026-11-21T09:00:00Z'));
const context: ImportContext = { page: 'acme', zone: 'Europe/Berlin', now };
const ConfigSchema = createConfigSchema(CONNECTORS);
const WORLDS = Math.max(50, 100 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1));

const EVENT = {
  ...{ id: 'i1', name: 'Trouble', status: 'resolved', impact: 'major', created_at: '2026-11-02T10:00:00Z' },
  ...{ started_at: null, resolved_at: '2026-11-02T12:00:00Z', scheduled_for: null, scheduled_until: null },
  incident_updates: [
    {
      ...{ id: 'u1', status: 'resolved', body: 'a<br>b', created_at: '2026-11-02T12:00:00Z', display_at: null },
      affected_components: [{ code: 'c1', new_status: 'major_outage' }],
    },
  ],
  components: [{ id: 'c1', name: 'Api' }],
};
const STATUSPAGE = {
  page: { name: 'Acme' },
  components: [
    { id: 'g1', name: 'Ports', group: true, group_id: null, position: 1 },
    { id: 'c1', name: 'Api', group: false, group_id: 'g1', position: 2, description: 'x' },
  ],
  incidents: [EVENT],
  scheduled_maintenances: [
    {
      ...EVENT,
      id: 'm1',
      status: 'scheduled',
      scheduled_for: '2026-12-02T10:00:00Z',
      scheduled_until: '2026-12-02T12:00:00Z',
    },
  ],
};
const ISSUE = {
  ...{ number: 3, title: 'Shop is down', body: 'x', labels: [{ name: 'status' }, { name: 'shop' }] },
  ...{ created_at: '2023-05-01T10:00:00Z', closed_at: '2023-05-01T10:20:00Z' },
};
const UPPTIME = {
  config: {
    owner: 'a',
    repo: 'b',
    sites: [{ name: 'Shop' }, { name: 'Blog', slug: 'blog' }],
    'status-website': { name: 'x' },
  },
  issues: [
    ISSUE,
    {
      ...ISSUE,
      number: 4,
      labels: ['maintenance'],
      body: '<!--\nstart: 2024-02-24T13:00:00Z\nend: 2024-02-24T14:00:00Z\n-->',
    },
  ],
  comments: [{ issue_url: 'https://x/issues/3', body: 'y', created_at: '2023-05-01T10:10:00Z' }],
};
const KUMA = {
  incidents: [
    {
      id: 1,
      title: 'Fog',
      content: 'x',
      style: 'danger',
      createdDate: '2024-05-01 10:00:00',
      pin: 0,
      active: 0,
      lastUpdatedDate: null,
    },
  ],
  maintenances: [
    {
      id: 1,
      title: 'Once',
      description: '',
      strategy: 'single',
      timezone: 'UTC',
      startDate: '2026-12-01 02:00',
      endDate: '2026-12-01 03:00',
      weekdays: [],
      daysOfMonth: [],
    },
    {
      id: 2,
      title: 'Nights',
      description: 'x',
      strategy: 'recurring-weekday',
      timezone: 'Europe/Berlin',
      startDate: null,
      endDate: '2027-01-01 00:00:00',
      startTime: '23:00',
      endTime: '01:00',
      weekdays: [1, 7],
      daysOfMonth: [],
      monitors: [11],
    },
    {
      id: 3,
      title: 'Days',
      description: 'x',
      strategy: 'recurring-day-of-month',
      timezone: null,
      startDate: null,
      endDate: null,
      startTime: '23:00',
      endTime: '01:00',
      weekdays: [],
      daysOfMonth: [1, 'lastDay1'],
    },
    {
      id: 4,
      title: 'Every',
      description: 'x',
      strategy: 'recurring-interval',
      intervalDay: 2,
      timezone: 'UTC',
      startDate: null,
      endDate: null,
      startTime: '01:00',
      endTime: '02:00',
      weekdays: [],
      daysOfMonth: [],
    },
  ],
};
const GATUS = {
  endpoints: [{ name: 'Front door', group: 'Core', 'maintenance-windows': [{ start: '04:00', duration: '20m' }] }],
  announcements: [{ timestamp: '2026-11-20T10:00:00Z', type: 'outage', message: 'Fog', archived: true }],
  maintenance: { start: '23:30', duration: '1h30m', timezone: 'Europe/Berlin', every: ['Saturday'] },
  ui: { title: 'x' },
};
const CSTATE = {
  config: {
    title: 'x',
    timeZone: 'Europe/Berlin',
    params: { categories: [{ name: 'C' }], systems: [{ name: 'API', category: 'C' }] },
  },
  issue: {
    title: 'y',
    date: '2024-01-01 10:00:00',
    resolved: true,
    resolvedWhen: '2024-01-01 11:00:00',
    severity: 'down',
    affected: ['API'],
  },
  body: '*Resolved* - a {{< track "2024-01-01 11:00:00" >}}\n\n---\n\nb',
};

const SOURCES: Readonly<Record<string, (random: Random) => ImportedSite>> = {
  statuspage: (random) => statuspageSite([{ name: 'a.json', value: spoilValue(STATUSPAGE, random) }], context),
  cstate: (random) => {
    const { config, issue, body } = (spoilValue(CSTATE, random) ?? {}) as Partial<typeof CSTATE>;
    const text = spoilBytes(
      `---\n${stringify(issue ?? null)}---\n${typeof body === 'string' ? body : ''}`,
      random,
    ).toString('utf8');
    const files = [
      { path: 'config.yml', text: stringify(config ?? null) },
      { path: 'content/issues/a.md', text },
    ];
    return cstateSite(files, context);
  },
  upptime: (random) => {
    const { config, issues, comments } = (spoilValue(UPPTIME, random) ?? {}) as Record<string, unknown>;
    const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
    const read = random() < 0.5 ? issuesFromApi(list(issues), list(comments)) : issuesFromFile(issues);
    return upptimeSite([{ path: '.upptimerc.yml', text: stringify(config ?? null) }], read, context);
  },
  'uptime-kuma': (random) => {
    const { incidents, maintenances } = (spoilValue(KUMA, random) ?? {}) as Record<string, unknown>;
    const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
    const page = { slug: 'main', title: 'x', description: null, url: null, notes: [] };
    const groups = [{ id: '1', name: 'G', monitors: [{ id: '11', name: 'Crane' }] }];
    return kumaSite({ ...page, groups, incidents: list(incidents), maintenances: list(maintenances) }, context);
  },
  gatus: (random) => gatusSite([gatusConfig('a.yaml', spoilValue(GATUS, random))], context),
};

describe('what was spoiled', () => {
  it.each(Object.entries(SOURCES))('of %s never stops an import, and what is written can be read', (_name, siteOf) => {
    let posts = 0;
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const options = { ...context, upstreamId: 'posts', folder: './posts' };
      const files = importFiles(siteOf(createRandom(seed)), options);
      posts += files.posts.length;
      const read = projectPosts(files.posts, { upstreamId: 'posts', zone: 'UTC', now });
      expect([seed, read.problems]).toEqual([seed, []]);
      const parsed = ConfigSchema.safeParse({ site: { url: 'https://s.example' }, ...files.config });
      expect([seed, parsed.error?.issues]).toEqual([seed, undefined]);
      for (const { place, message } of files.notes)
        expect([seed, place === '' || message === '']).toEqual([seed, false]);
    }
    expect(posts).toBeGreaterThan(WORLDS / 5);
  });
});
