import { describe, expect, it } from 'vitest';
import { toPageKey } from '../../../src/model/slugs.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/model/time.ts';
import { noticeIn, pageNews } from '../../../src/notify/news.ts';
import { ago, componentModel, incident, maintenance, pageModel } from '../../helpers/page-model.ts';

const ACME = { key: toPageKey('acme', 1), gate: 1 };
const api = componentModel({ id: 'api', name: 'API' });
const web = componentModel({ id: 'web', name: 'Website' });

describe('what a page has to tell', () => {
  it('is told in each of its languages, under one id, and in the default where a language is none of them', () => {
    const story = incident({ updateBodies: ['Looking.'] });
    const model = pageModel({ components: [api], incidents: [story] });
    const updates = story.updates.map((update) => ({ ...update, body: 'Wir schauen.' }));
    const german = {
      ...model,
      settings: { ...model.settings, locale: 'de', url: `${model.settings.url}de/` },
      incidents: [{ ...story, title: 'Anfragen schlagen fehl', updates }],
    };
    const [told] = pageNews({ ...model, others: [german] }, ACME, model.sources).notices;
    if (told === undefined) throw new Error('nothing is told');
    const said = noticeIn(told, 'de');
    expect(said).toMatchObject({
      id: told.notice.id,
      page: { language: 'de', url: 'https://status.acme.example/acme/de/' },
      subject: { title: 'Anfragen schlagen fehl', url: 'https://status.acme.example/acme/de/incidents/inc-1/' },
      text: 'Wir schauen.',
    });
    expect(noticeIn(told, 'fr')).toBe(told.notice);
    expect(noticeIn(told, undefined)).toBe(told.notice);
    expect(pageNews(model, ACME, model.sources).notices[0]).not.toHaveProperty('others');
  });

  it('is opened, updated, resolved, and each update once under an id that stays', () => {
    const story = incident({
      updateBodies: ['Looking.', 'Found it.', 'Watching.', 'Over.'],
      status: 'resolved',
      endedAt: ago(HOUR_MS),
    });
    const model = pageModel({ components: [api, web], incidents: [story] });
    const { notices } = pageNews(model, ACME, model.sources);
    expect(notices.map(({ notice }) => notice.event)).toEqual([
      'incident_opened',
      'incident_updated',
      'incident_updated',
      'incident_resolved',
    ]);
    expect(notices[0]?.notice).toMatchObject({
      page: { slug: 'acme', title: 'Acme', url: 'https://status.acme.example/acme/' },
      subject: {
        title: 'Requests are failing',
        url: 'https://status.acme.example/acme/incidents/inc-1/',
        impact: 'major',
      },
      components: ['API'],
      text: 'Looking.',
    });
    const renamed = pageModel({ components: [api, web], incidents: [{ ...story, title: 'Another title' }] });
    const ids = (of: typeof notices): string[] => of.map(({ notice }) => notice.id);
    expect(ids(pageNews(renamed, ACME, model.sources).notices)).toEqual(ids(notices));
    expect(new Set(ids(notices)).size).toBe(4);
    expect(new Set(notices.map(({ notice }) => notice.subject.id)).size).toBe(1);
  });

  it('is resolved once: a postmortem, or more words about the end, only add to it', () => {
    const updates = (['investigating', 'resolved', 'postmortem', 'resolved'] as const).map((status, index) => ({
      id: `u${index}`,
      at: ago((5 - index) * HOUR_MS),
      status,
      body: '',
    }));
    const over = incident({ status: 'resolved', updates, endedAt: ago(4 * HOUR_MS) });
    const events = (story: typeof over) =>
      pageNews(pageModel({ incidents: [story] }), ACME, []).notices.map(({ notice }) => notice.event);
    expect(events(over)).toEqual(['incident_opened', 'incident_resolved', 'incident_updated', 'incident_updated']);
    const reopened = [...updates.slice(0, 2), { ...updates[0], id: 'again', at: ago(2 * HOUR_MS) }, updates[3]];
    expect(events({ ...over, updates: reopened } as typeof over)).toEqual([
      'incident_opened',
      'incident_resolved',
      'incident_updated',
      'incident_resolved',
    ]);
  });

  it('is maintenance that somebody begins early as begun, and not as announced for that instant', () => {
    const startsAt = ago(HOUR_MS);
    const silent = (began: string) => {
      const updates = [
        { id: `scheduled-${startsAt}`, at: ago(2 * HOUR_MS), status: 'scheduled', body: 'Disks.' },
        { id: began, at: startsAt, status: 'in_progress', body: 'We begin.' },
      ] as const;
      const model = pageModel({ maintenances: [maintenance({ status: 'in_progress', startsAt, updates })] });
      return pageNews(model, ACME, model.sources).notices.map(({ isSilent }) => isSilent);
    };
    expect(silent('2026-11-29T06:00:00.000Z-0')).toEqual([true, false]);
    expect(silent(`began-${startsAt}`)).toEqual([false, false]);
  });

  it('is maintenance announced, started and completed', () => {
    const updates = (['scheduled', 'in_progress', 'completed'] as const).map((status, index) => ({
      id: status,
      at: ago((3 - index) * HOUR_MS),
      status,
      body: '',
    }));
    const model = pageModel({ maintenances: [maintenance({ status: 'completed', updates })] });
    const events = pageNews(model, ACME, []).notices.map(({ notice }) => notice.event);
    expect(events).toEqual(['maintenance_announced', 'maintenance_started', 'maintenance_completed']);
  });

  it('is nothing older than a day', () => {
    const old = incident({ startedAt: ago(DAY_MS + MINUTE_MS), updateBodies: ['Long ago.'] });
    const mixed = incident({ slug: 'mixed', startedAt: ago(DAY_MS + MINUTE_MS), updateBodies: ['Then.', 'Now.'] });
    const { notices } = pageNews(pageModel({ incidents: [old, mixed] }), ACME, []);
    expect(notices.map(({ notice }) => [notice.event, notice.text])).toEqual([['incident_updated', 'Now.']]);
  });

  it('names no component that the page does not show, whatever the story is about', () => {
    const story = incident({ componentIds: ['api', 'secret-vault'] });
    const { notices } = pageNews(pageModel({ components: [api], incidents: [story] }), ACME, []);
    expect(notices[0]?.notice.components).toEqual(['API']);
    expect(JSON.stringify(notices.map(({ notice }) => notice))).not.toContain('secret-vault');
  });

  it('keeps hostile text on one line in titles, and without markup in what is said', () => {
    const story = incident({
      title: 'One\r\nBcc: everybody@mail.example\u0000',
      updateBodies: ['**Bold** <script>alert(1)</script>\nsame paragraph\n\n- [a link](https://docs.example/x)\n- two'],
    });
    const [first] = pageNews(pageModel({ incidents: [story] }), ACME, []).notices;
    expect(first?.notice.subject.title).toBe('One Bcc: everybody@mail.example');
    expect(first?.notice.text).toBe(
      'Bold <script>alert(1)</script>\nsame paragraph\n\n- a link (https://docs.example/x)\n- two',
    );
  });

  it('remembers which list it came from, and what its writer wants to be silent', () => {
    const story = incident({
      updates: [{ id: 'u', at: ago(MINUTE_MS), status: 'investigating', body: 'x', notify: false }],
    });
    const automatic = incident({ slug: 'auto', id: 'auto', isAutomatic: true, startedAt: ago(HOUR_MS) });
    const model = pageModel({ incidents: [story, automatic] });
    const { notices, origins } = pageNews(model, ACME, model.sources);
    expect(origins).toEqual(['page:config/acme', 'monitors:edge', 'incidents:edge']);
    expect(notices.map(({ origin, isSilent }) => [origin, isSilent])).toEqual([
      ['monitors:edge', false],
      ['incidents:edge', true],
    ]);
  });
});
