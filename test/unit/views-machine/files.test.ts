import { describe, expect, it } from 'vitest';
import type { PageModel } from '../../../src/model/index.ts';
import type { LogSummary } from '../../../src/model/page.ts';
import { fileEntry, fileKeys } from '../../../src/publish/files/file-entry.ts';
import { machineFiles, pageFiles } from '../../../src/publish/files/files.ts';
import { pageFacts } from '../../../src/publish/files/page-facts.ts';
import { sitemapView } from '../../../src/views/site/crawlers.ts';
import { filesWithBadges } from '../../helpers/page-files.ts';
import { ago, componentModel, withOneDown } from '../../helpers/page-model.ts';
import { calm, eventful, longHistory, manyComponents, outage } from '../../helpers/page-scenes.ts';
import { HOSTILE_TEXTS, hostilePage, SECRETS } from './hostile.ts';

const noHtml = { render: () => Promise.reject(new Error('no HTML here')) };
const keysOf = (model: PageModel) => new Map(pageFiles(model).map((entry) => [entry.path, fileKeys('1')(entry)]));

/** Paths whose key differs between two models, or which only one of them has. */
function changedPaths(before: PageModel, after: PageModel): string[] {
  const [old, young] = [keysOf(before), keysOf(after)];
  return [...new Set([...old.keys(), ...young.keys()])].filter((path) => old.get(path) !== young.get(path)).toSorted();
}

describe('the files of a page', () => {
  it('have each path once, below the page, none of them climbing out', () => {
    for (const model of [calm(), outage(), manyComponents(50), longHistory(300, 10)]) {
      const paths = filesWithBadges(model).map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      for (const path of paths) expect(path).toMatch(/^(?!\/)(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._~/-]+$/);
    }
  });

  it('have the addresses of the contract', () => {
    const paths = pageFiles(calm()).map(({ path }) => path);
    for (const path of [
      'index.html',
      'history/index.html',
      'history/2026-10/index.html',
      'incidents/slow-search/index.html',
      'feed.atom',
      'feed.rss',
      'feed.json',
      'maintenance.ics',
      'components/api/feed.atom',
      'components/api/maintenance.ics',
      'api/v2/summary.json',
      'api/v2/scheduled-maintenances/active.json',
      'api/uptime.json',
      'api/state.json',
      'reports/2026-10/report.csv',
      'reports/2026-10/report.json',
      'og.png',
      'favicon.svg',
      'sitemap.xml',
      'robots.txt',
      'llms.txt',
    ])
      expect(paths).toContain(path);
  });

  it('are all there that the sitemap sends robots to', async () => {
    for (const model of [outage(), longHistory(60, 3)]) {
      const entries = pageFiles(model);
      const paths = new Set(entries.map(({ path }) => path));
      for (const { loc } of sitemapView(model).urls)
        expect(paths).toContain(`${decodeURI(loc).slice(model.settings.url.length)}index.html`);
    }
  });

  it('have badges when they are asked for: all kinds for the page, two for each part, the operator’s own', async () => {
    const named = [{ name: 'mine', kind: 'uptime-7d', label: 'Week' } as const];
    const entries = filesWithBadges(outage(), { badge: { options: { locale: 'en' }, named } });
    const find = (path: string) => entries.find((entry) => entry.path === path);
    for (const path of [
      'badges/card.png',
      'groups/core/badges/status-dark.svg',
      'components/api/badges/uptime-90d.json',
    ])
      expect(find(path)?.path).toBe(path);
    expect(find('components/api/badges/card.svg')).toBeUndefined();
    expect(String((await find('components/api/badges/status.svg')?.draw(noHtml))?.body)).toContain('outage');
    expect(JSON.parse(String((await find('badges/mine.json')?.draw(noHtml))?.body))).toMatchObject({ label: 'Week' });
  });

  it('of a gated page tell nobody else of it', () => {
    for (const access of ['password', 'email-domain'] as const) {
      const paths = pageFiles(calm({ definition: { access } })).map(({ path }) => path);
      expect(paths).toContain('robots.txt');
      for (const path of ['og.png', 'sitemap.xml', 'llms.txt']) expect(paths).not.toContain(path);
    }
  });

  it('compute nothing before it is asked for, their inputs once, and let go of them when they are drawn', async () => {
    let asked = 0;
    const draw = async ({ at }: { at: number }) => ({ body: `${at}`, csp: null });
    const kind = { name: 'x', contentType: 'text/plain', draw };
    const entry = fileEntry(kind, 'x', {
      inputs: () => {
        asked += 1;
        return { at: asked };
      },
    });
    expect(asked).toBe(0);
    expect(entry.fingerprint).toBe(entry.fingerprint);
    expect(asked).toBe(1);
    expect([await entry.draw(noHtml), await entry.draw(noHtml)]).toEqual([
      { body: '1', csp: null },
      { body: '2', csp: null },
    ]);
  });
});

describe('keys', () => {
  it('are the same for an equal model', () => {
    expect(changedPaths(outage(), structuredClone(outage()))).toEqual([]);
  });

  it('change only where it shows when one component goes down on a page with a long history', () => {
    const model = longHistory(300, 10);
    expect(changedPaths(model, withOneDown(model))).toEqual([
      'api/state.json',
      'api/uptime.json',
      'api/v2/components.json',
      'api/v2/incidents.json',
      'api/v2/status.json',
      'api/v2/summary.json',
      'build.json',
      'components/c0/index.html',
      'embed/index.html',
      'favicon.svg',
      'index.html',
      'llms.txt',
      'og.png',
      'uptime/index.html',
    ]);
  });

  it('change for one incident only where it is listed when its record is edited', () => {
    const model = longHistory(300, 10);
    const edited = {
      ...model,
      incidents: model.incidents.map((one) => (one.slug === 'i200' ? { ...one, title: 'Edited' } : one)),
    };
    expect(changedPaths(model, edited).filter((path) => path.endsWith('index.html'))).toEqual([
      'components/c0/index.html',
      'history/2026-05/index.html',
      'incidents/i200/index.html',
      'reports/2026-05/index.html',
      'uptime/index.html',
    ]);
  });
});

describe('what is published', () => {
  it('holds no upstream, no target and no id of ours, in any file that machines read', async () => {
    for (const text of HOSTILE_TEXTS.slice(0, 3))
      for (const entry of machineFiles(pageFacts(hostilePage(text)))) {
        const body = Buffer.from((await entry.draw(noHtml)).body).toString('latin1');
        for (const secret of SECRETS) expect([entry.path, body.includes(secret)]).toEqual([entry.path, false]);
      }
  });

  it('has no other keys than these in any JSON', async () => {
    const keys = new Set<string>();
    const collect = (value: unknown): void => {
      if (Array.isArray(value)) for (const one of value) collect(one);
      else if (typeof value === 'object' && value !== null)
        for (const [key, one] of Object.entries(value)) {
          keys.add(key);
          collect(one);
        }
    };
    const shown = componentModel({ target: 'https://10.0.0.7/', upstreamUptime: UPSTREAM_UPTIME, groupId: 'core' });
    const log = eventful().log as LogSummary;
    const corrected = log.corrected.map((one) => ({ ...one, component: shown.definition.id }));
    const model = outage({
      components: [shown, ...outage().components],
      settings: { showTargets: true },
      log: { ...log, corrected },
    });
    for (const entry of machineFiles(pageFacts(model)))
      if (entry.path.endsWith('.json')) collect(JSON.parse(String((await entry.draw(noHtml)).body)));
    expect([...keys].toSorted()).toEqual(PUBLIC_KEYS);
  });

  it('is the same bytes for the same model, whichever entry is drawn first', async () => {
    const drawAll = async (model: PageModel, isBackwards: boolean) => {
      const entries = machineFiles(pageFacts(model));
      const order = isBackwards ? entries.toReversed() : entries;
      const drawn = new Map<string, string>();
      for (const entry of order) drawn.set(entry.path, Buffer.from((await entry.draw(noHtml)).body).toString('hex'));
      return drawn;
    };
    const [first, second] = [await drawAll(outage(), false), await drawAll(structuredClone(outage()), true)];
    expect(second.size).toBe(first.size);
    for (const [path, bytes] of first) expect([path, second.get(path) === bytes]).toEqual([path, true]);
  });
});

const UPSTREAM_UPTIME = {
  ...{ periodDays: 30, checksTotal: 10, checksUp: 9, uptimeRatio: 0.9, responseTimeAverageMs: 4 },
  places: [{ place: 'fra', at: ago(0), state: 'operational', responseTimeMs: 4 }],
} as const;

/** The allow-list. What is added here is published to everybody. */
const PUBLIC_KEYS = (
  '24h 30d 365d 7d 90d affected_components announcements as_of at authors blip_floor_seconds body ' +
  'certificate_expires_at checks code components content_html corrected_at corrections counted_seconds counts coverage coverage_ratio ' +
  'created_at custom_tweet date_modified date_published day day_seconds days degraded deliver_notifications ' +
  'description display_at ended_at ends_at feed_url formula formula_version from group group_id groups ' +
  'home_page_url id impact incident_count incident_id incident_updates incidents incidents_at incidents_stale ' +
  'indicator interval_seconds is_over items language locale maintenance maintenances major_outage monitoring_at ' +
  'monitors_at monitors_stale month name new_status old_status only_show_if_degraded open_incidents operational ' +
  'page page_id partial_outage paused period_days periods pharos place places position provenance ' +
  'reminder_intervals resolved_at response_time_average_ms response_time_ms scheduled_for ' +
  'scheduled_maintenances scheduled_until seconds sentence shortlink showcase since snapshots source_id sources ' +
  'stale stale_after start_date started_at state state_text status summary tags text time_zone title to ' +
  'tweet_id unknown updated_at upstream uptime uptime_basis uptime_formula uptime_ratio ' +
  'uptime_ratio_with_maintenance url utc utc_days v2_id version versions'
).split(' ');
