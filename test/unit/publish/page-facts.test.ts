/** The parts of a model that files are made from hold all that the files show: a view of a part is that of the whole. */

import { describe, expect, it } from 'vitest';
import { BADGE_KINDS, galleryChoices } from '../../../src/badges/kinds.ts';
import type { ComponentModel, PageModel } from '../../../src/model/index.ts';
import type { FileEntry } from '../../../src/publish/files/file-entry.ts';
import { pageFiles } from '../../../src/publish/files/files.ts';
import { badgeGalleryView } from '../../../src/views/badges/badge-gallery.ts';
import { componentView } from '../../../src/views/component/component.ts';
import { historyView } from '../../../src/views/history/history.ts';
import { uptimeCalendarView } from '../../../src/views/history/uptime-calendar.ts';
import { incidentView, maintenanceView } from '../../../src/views/incident/incident.ts';
import { componentsWithNews, lastHeartbeat, modelAt } from '../../../src/views/model/page-model.ts';
import { reportView } from '../../../src/views/report/report.ts';
import { partBadges } from '../../helpers/every-page.ts';
import { type Scene, sceneChanges, sceneOf } from '../../helpers/page-fields.ts';
import { componentModel, pageModel, withMonths } from '../../helpers/page-model.ts';
import { calm, eventful, longHistory, outage } from '../../helpers/page-scenes.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);

/** The view that an entry draws. */
async function viewOf(entry: FileEntry): Promise<unknown> {
  let view: unknown;
  await entry.draw({
    render: async (_kind, drawn) => {
      view = drawn;
      return { body: '', csp: null };
    },
  });
  return view;
}

const correctionsOf = ({ log }: PageModel, { definition }: ComponentModel) =>
  (log?.corrected ?? []).filter(({ component }) => component === definition.id);

/** Views of the whole model, in the order of the page's files. */
function wholeViews(model: PageModel): Readonly<Record<string, readonly unknown[]>> {
  const heartbeat = lastHeartbeat(model);
  const atHeartbeat = modelAt(model, heartbeat);
  const withNews = componentsWithNews(model, heartbeat);
  const { months } = withMonths(model);
  const past = withMonths(atHeartbeat);
  return {
    incident: model.incidents.flatMap((one) => [one.slug, ...one.aliases].map(() => incidentView(model, one))),
    maintenance: model.maintenances.map((one) =>
      maintenanceView(one.status === 'completed' ? model : atHeartbeat, one),
    ),
    component: model.components.map((one, index) =>
      withNews.has(one.definition.id)
        ? componentView(model, one, { badges: partBadges(model.settings.locale), corrected: correctionsOf(model, one) })
        : componentView(atHeartbeat, atHeartbeat.components[index] ?? one, {
            badges: partBadges(model.settings.locale),
            corrected: correctionsOf(model, one),
          }),
    ),
    history: [null, ...months].map((month) => historyView(withMonths(model), month)),
    'uptime-calendar': [uptimeCalendarView(atHeartbeat)],
    report: past.months.map((month) => reportView(past, month)),
  };
}

async function expectAlike({ name, data }: { readonly name: string; readonly data: Scene }): Promise<void> {
  const entries = pageFiles(data.model, { badge: data.badge });
  for (const [kind, views] of Object.entries(wholeViews(data.model))) {
    const drawn = await Promise.all(entries.filter((entry) => entry.kind.name === kind).map(viewOf));
    expect([name, kind, drawn]).toEqual([name, kind, views]);
  }
}

describe('a view of a part of a page', () => {
  it.each([
    ['a calm page', calm],
    ['an outage', outage],
    ['a long history', () => longHistory(120, 5)],
    ['a page with everything', eventful],
  ])('is that of the whole page: %s', async (name, make) => {
    await expectAlike({ name, data: sceneOf(make()) });
  });

  it('stays that of the whole page whatever field of it changes', async () => {
    const places = Math.max(1, Math.round(SCALE));
    const values = Math.min(3, Math.ceil(SCALE));
    for (const change of sceneChanges(sceneOf(eventful()), { places, values, seed: 5 })) await expectAlike(change);
  });

  it('colours the day of a component without news by what goes on at the heartbeat, however short', async () => {
    const { asOf } = pageModel();
    const startedAgoMs = asOf - lastHeartbeat(pageModel()) + 10_000;
    const component = componentModel({ troubles: [{ state: 'major_outage', startedAgoMs }] });
    const { model, badge } = sceneOf(pageModel({ components: [component] }));
    const [entry] = pageFiles(model, { badge }).filter(({ kind }) => kind.name === 'component');
    if (entry === undefined) throw new Error('the component has no page');
    expect(componentsWithNews(model, lastHeartbeat(model))).toEqual(new Set());
    expect(await viewOf(entry)).toMatchObject({ state: 'major_outage', bar: { letters: expect.stringMatching(/m$/) } });
  });

  it('has the names of all badges of the page', async () => {
    const { model, badge } = sceneOf(eventful());
    const [entry] = pageFiles(model, { badge }).filter(({ kind }) => kind.name === 'badge-gallery');
    if (entry === undefined) throw new Error('the page has no gallery');
    const kinds = [...BADGE_KINDS, 'mine'];
    expect(await viewOf(entry)).toEqual(badgeGalleryView(model, galleryChoices(kinds, model.settings.locale)));
  });
});
