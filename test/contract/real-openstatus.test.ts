import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EpochMs, MINUTE_MS, toIso } from '../../src/model/time.ts';
import { createSiteMemory, type SiteMemory } from '../../src/publish/definitions/site-memory.ts';
import type { SiteState, SiteStateInputs } from '../../src/publish/definitions/site-state.ts';
import { loadPageInputs } from '../../src/publish/page-inputs.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { uptimeService } from '../../src/sync/connectors/uptime-service/connector.ts';
import { createHttp, type Http } from '../../src/sync/http/http.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import type { UpstreamReport } from '../../src/sync/pass/requester.ts';
import { bindUpstream } from '../../src/sync/upstream.ts';
import { pageModel } from '../../src/views/model/page-model.ts';
import { v2Documents } from '../../src/views/v2/documents.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { OPENSTATUS_STEPS } from '../helpers/openstatus-steps.ts';
import { type Exchange, type Replay, replayKey, startReplay } from '../helpers/replay.ts';

const STATUS: Readonly<Record<string, string>> = {
  success: 'operational',
  degraded: 'degraded_performance',
  error: 'major_outage',
  info: 'under_maintenance',
};
const SPOKEN: Readonly<Record<string, string>> = { tr: 'en', hi: 'en', ko: 'en' };

/** What looks otherwise here, on purpose: `page/name: there, here`. docs/upstreams/uptime-service.md says why. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  '04-a-monitor-is-slow': ['acme/Website: operational, degraded_performance'],
  '07-report-partly-and-the-website-too': ['acme/API: degraded_performance, partial_outage'],
  '20-maintenance-runs-the-monitor-fails-in-it': ['acme/Database: major_outage, under_maintenance'],
  '24-and-gone': ['acme/Website: operational, under_maintenance', 'acme/maintenance Oops: gone, here once more'],
};
/** Its monitor is not active; until step 27 takes it off the page. */
const PAUSED = 'acme/Batch: operational, under_maintenance';

let folder: string;
let store: Store;
let http: Http;
let replay: Replay;
let memory: SiteMemory;
const told: Exchange[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-real-'));
  store = createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);
  http = createHttp();
  memory = createSiteMemory(store);
  replay = await startReplay({ exchanges: told, port: 0 });
});

afterAll(async () => {
  await replay.stop();
  await http.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

let upstream: ReturnType<typeof bindUpstream> | null = null;

async function pass(now: EpochMs): Promise<UpstreamReport> {
  upstream ??= bindUpstream(uptimeService as never, {
    id: 'os',
    options: uptimeService.optionsSchema.parse({
      rpcUrl: replay.rpcUrl,
      preset: 'openstatus',
      apiKey: replayKey('read'),
    }),
    limits: null,
    intervalMs: MINUTE_MS,
  });
  const deps = { store, http, now: () => now, random: () => 0.5, sleep: async () => undefined };
  const { upstreams } = await runPass([upstream], deps, { isManual: true, isHinted: false });
  const [report] = upstreams;
  if (report === undefined) throw new Error('no report');
  return report;
}

const INPUTS: SiteStateInputs = {
  site: { url: 'https://status.example', name: 'Example', home: null, timezone: 'UTC', locale: 'en', historyDays: 400 },
  pages: [],
  intervalMs: new Map([['os', MINUTE_MS]]),
  definesPages: new Set(['os']),
};

async function pageOf(state: SiteState, slug: string) {
  const page = state.resolved.pages.find((one) => one.definition.slug === slug);
  if (page === undefined) return null;
  const inputs = await loadPageInputs(store, state, page);
  const model = pageModel({ ...inputs, asOf: state.now });
  return { page, model, documents: v2Documents(model) };
}

function rowsOf({ summary }: ReturnType<typeof v2Documents>): string[] {
  return summary().components.map(({ name, group, status }) => (group ? `# ${name}` : `${name}: ${status}`));
}

describe('a real openstatus, step by step', () => {
  it('was driven through its own interface', () => {
    expect(OPENSTATUS_STEPS.length).toBeGreaterThan(30);
  });

  it.each(OPENSTATUS_STEPS.map((step) => [step.name, step] as const))('%s', async (name, step) => {
    told.push(...step.exchanges);
    const report = await pass(step.at);
    expect(report.kind).toBe(name.includes('key-is-revoked') ? 'failed' : 'ok');
    const state = await memory.refresh(INPUTS, step.at);
    const otherwise: string[] = [];
    for (const [slug, shown] of step.shown) {
      const found = await pageOf(state, slug);
      // Its password is not ours to keep, and there is no gate by address: such pages stay closed and are told.
      if (shown === null || shown.access === 'password' || shown.access === 'ip-restriction') {
        expect(found, slug).toBeNull();
        expect(state.resolved.problems.some((problem) => problem.slug === slug)).toBe(shown !== null);
        continue;
      }
      if (found === null) throw new Error(`${slug} is not there`);
      const { page, model, documents } = found;
      expect([slug, page.definition.title, page.definition.access]).toEqual([slug, shown.title, shown.access]);
      expect(page.settings).toMatchObject({
        locale: SPOKEN[shown.locale] ?? shown.locale,
        allowIndex: shown.allowIndex,
        showUptime: shown.showUptime,
      });
      const ours = rowsOf(documents);
      const theirs = shown.rows.map(([row, status]) => (row.startsWith('# ') ? row : `${row}: ${STATUS[status]}`));
      expect(ours.map((row) => row.split(':')[0])).toEqual(theirs.map((row) => row.split(':')[0]));
      otherwise.push(
        ...theirs.flatMap((row, at) => (row === ours[at] ? [] : [`${slug}/${row}, ${ours[at]?.split(': ')[1]}`])),
      );
      const unfolded = page.definition.groups
        .filter(({ defaultOpen }) => defaultOpen === true)
        .map((group) => `# ${group.name}`);
      expect(unfolded.toSorted()).toEqual(
        shown.rows
          .filter(([, , isOpen]) => isOpen)
          .map(([row]) => row)
          .toSorted(),
      );
      const reports = model.incidents
        .filter(({ id }) => id.includes('/report-'))
        .map((one) => [one.title, one.status, ...one.updates.map(({ body }) => body)]);
      expect(reports.toSorted()).toEqual([...shown.reports].toSorted());
      const open = model.incidents.filter(
        ({ id, status }) => id.includes('/report-') && !/monitoring|resolved/.test(status),
      );
      const openThere = shown.open.flatMap(([type, title]) => (type === 'report' ? [title] : []));
      expect(open.map(({ title }) => title).toSorted()).toEqual(openThere.toSorted());
      const windows = model.maintenances.map(({ title, startsAt, endsAt, updates }) =>
        [title, toIso(startsAt), toIso(endsAt), updates[0]?.body].join(' | '),
      );
      const windowsThere = shown.maintenances.map((window) => window.join(' | '));
      expect(windowsThere.filter((window) => !windows.includes(window))).toEqual([]);
      const more = windows.filter((window) => !windowsThere.includes(window));
      otherwise.push(...more.map((window) => `${slug}/maintenance ${window.split(' | ')[0]}: gone, here once more`));
    }
    expect(otherwise.filter((one) => one !== PAUSED)).toEqual(OTHERWISE[name] ?? []);
    expect(otherwise.includes(PAUSED)).toBe(step.shown.has('acme') && name < '27');
    expect(replay.unmatched).toEqual([]);
  });

  it('left no password and no address of a channel behind', async () => {
    const answers = told.map(({ response }) => response.body).join('');
    const tables = await store.database.all("SELECT name FROM sqlite_master WHERE type = 'table'");
    const rows = await Promise.all(tables.map(({ name }) => store.database.all(`SELECT * FROM "${String(name)}"`)));
    const kept = JSON.stringify(rows);
    expect(kept).toContain('Acme Corp');
    for (const secret of ['sesame', 'slack.example.test', 'x-secret', '+14155551234']) {
      expect(answers).toContain(secret);
      expect(kept).not.toContain(secret);
    }
  });
});
