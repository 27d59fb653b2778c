import { expect, it } from 'vitest';
import { applyChange, newPost } from '../../../src/incidents/change-post.ts';
import type { WritingPage } from '../../../src/incidents/writing-page.ts';
import { DAY_MS, toEpochMs } from '../../../src/model/time.ts';
import { findFaults } from '../../../src/sync/connectors/markdown/project.ts';
import type { WrittenPost } from '../../../src/sync/connectors/markdown/written.ts';

const START = toEpochMs(Date.parse('2026-11-20T08:00:00Z'));
const after = (days: number) => toEpochMs(START + days * DAY_MS);
const pageWith = (...ids: string[]) =>
  ({
    page: { definition: { id: 'config/acme' } },
    model: { definition: { id: 'config/acme' }, components: ids.map((id) => ({ definition: { id } })) },
  }) as unknown as WritingPage;
const writing = pageWith('api', 'web');
const draft = newPost(
  { name: 'Slow', published: false, components: { api: 'major_outage', web: 'partial_outage' } },
  { writing, now: START },
);
const faults = (document: WrittenPost) => findFaults({ ...document, name: 'x' }, 'UTC');

it('says a draft that is too old for notices when it is published, and otherwise keeps its time', () => {
  const published = (days: number) => applyChange(draft, { published: true }, { writing, now: after(days) });
  expect(published(3).updates.map(({ at }) => at)).toEqual([after(3)]);
  expect(published(0.5).updates).toEqual(draft.updates);
  expect(published(3).post).toMatchObject({ started: '2026-11-20T08:00:00.000Z', draft: false });
  const past = { backfilled: true, backfill_date: '2026-11-01', published: false };
  const old = newPost({ name: 'Past', ...past }, { writing, now: START });
  expect(applyChange(old, { published: true }, { writing, now: after(3) }).updates).toEqual(old.updates);
});

it('keeps a draft valid whose only update is replaced again and again', () => {
  const replace = (document: WrittenPost, days: number, change: object) =>
    applyChange({ ...document, updates: [] }, { status: 'identified', ...change }, { writing, now: after(days) });
  const twice = replace(replace(draft, 1, { components: { web: 'major_outage' } }), 2, { body: 'We look.' });
  const late = applyChange(twice, { published: true }, { writing, now: after(4) });
  expect([faults(twice), faults(late)]).toEqual([[], []]);
  expect(late.post).toMatchObject({
    impacts: [
      { at: draft.post.type === 'incident' ? draft.post.started : '' },
      { at: late.updates.map(({ at }) => new Date(at).toISOString())[0] },
    ],
  });
});

it('keeps components that left the page, with their state', () => {
  const change = { body: 'Still.', status: 'identified' as const, component_ids: ['web'] };
  const { post } = applyChange(draft, change, { writing: pageWith('web'), now: after(0.1) });
  expect(post).toMatchObject({
    components: ['config/acme/api', 'config/acme/web'],
    impacts: [{ components: { 'config/acme/api': 'major_outage' } }],
  });
  const { post: named } = applyChange(draft, change, { writing, now: after(0.1) });
  expect(named).toMatchObject({ components: ['config/acme/web'] });
});
