import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { toPageKey } from '../../../src/model/slugs.ts';
import { type EpochMs, MINUTE_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import { markdown } from '../../../src/sync/connectors/markdown/connector.ts';
import { PostSchema } from '../../../src/sync/connectors/markdown/schema.ts';
import {
  parseWritten,
  projectWritten,
  type WrittenPost,
  writtenFile,
  writtenText,
} from '../../../src/sync/connectors/markdown/written.ts';
import { contextOf, drive, NOW } from '../../helpers/drive.ts';

const START = toEpochMs(NOW - 60 * MINUTE_MS);
const at = (minutes: number) => toEpochMs(START + minutes * MINUTE_MS);

const ONE: WrittenPost = {
  post: PostSchema.parse({
    type: 'incident',
    title: 'T',
    state: 'none',
    started: toIso(START),
    components: ['config/acme/api', 'config/acme/web'],
    pages: ['config/acme'],
    impacts: [
      { at: toIso(START), components: { 'config/acme/api': 'major_outage' } },
      { at: toIso(at(10)), components: { 'config/acme/web': 'degraded' } },
      { at: toIso(at(20)), components: { 'config/acme/api': 'operational' } },
    ],
  }),
  opening: '',
  updates: [
    { at: START, status: 'investigating', body: 'One' },
    { at: at(10), status: 'identified', body: 'Two' },
    { at: at(20), status: null, body: 'Three' },
  ],
};

const OWNER = { page: toPageKey('acme', 1), isPrivate: false };

function written(post: WrittenPost, drafts = false): Pick<Learned, 'incidents' | 'maintenances' | 'announcements'> {
  return projectWritten([{ id: 'x', document: writtenText(post), ...OWNER }], { now: NOW, drafts });
}
async function exported(post: WrittenPost): Promise<Learned> {
  const options = markdown.optionsSchema.parse({ path: '/srv/posts', drafts: true });
  return (await drive(markdown.pull(options, contextOf()), () => [writtenFile('x', post)])).result;
}

describe('posts written in the store', () => {
  it('declare of each component what was said last, with every update', () => {
    const [incident] = written(ONE).incidents;
    expect(incident?.components).toEqual([
      { id: 'config/acme/api', state: 'major_outage' },
      { id: 'config/acme/web', state: null },
    ]);
    expect(incident?.updates.map(({ impacts }) => impacts?.map(({ state }) => state))).toEqual([
      ['major_outage', null],
      ['major_outage', 'degraded'],
      ['operational', 'degraded'],
    ]);
  });

  it('have happened, even if the clock was set back since they were written', () => {
    const back = (now: EpochMs) =>
      projectWritten([{ id: 'x', document: writtenText(ONE), ...OWNER }], { now, drafts: false }).incidents[0];
    const resolved = { at: at(30), status: 'resolved' as const, body: 'Four' };
    const over = { ...ONE, updates: [...ONE.updates, resolved] };
    const [ended] = projectWritten([{ id: 'x', document: writtenText(over), ...OWNER }], {
      now: at(-1),
      drafts: false,
    }).incidents;

    const { startedAt, status, updates = [] } = back(at(15)) ?? {};
    expect([startedAt, status]).toEqual([START, 'identified']);
    expect(updates.map((one) => one.at)).toEqual([START, at(10), at(15)]);
    expect(updates.map(({ id }) => id)).toEqual(written(ONE).incidents[0]?.updates.map(({ id }) => id));
    expect(back(at(-1))?.updates.map((one) => one.at - at(-1))).toEqual([-2, -1, 0]);
    expect(back(at(-1))).toMatchObject({ status: 'identified', startedAt: at(-1) - 2, endedAt: null });
    expect(ended).toMatchObject({ status: 'resolved', startedAt: at(-1) - 3, endedAt: at(-1) });
  });

  it('are kept from everything while they are drafts', () => {
    const draft: WrittenPost = { ...ONE, post: { ...ONE.post, draft: true } };
    expect(written(draft).incidents).toEqual([]);
    expect(written(draft, true).incidents).toHaveLength(1);
  });

  it('that cannot be read are told, and end nothing', () => {
    const learned = projectWritten([{ id: 'x', document: '{}', ...OWNER }], { now: NOW, drafts: false });
    expect(learned.problems).toHaveLength(1);
    expect([learned.complete, learned.stale]).toEqual([[], ['incidents', 'maintenances', 'pages']]);
  });

  it('say the same when they are exported as Markdown, whatever their text', async () => {
    const line = fc.oneof(
      fc.constant('## 2026-11-21T08:10:00Z resolved'),
      fc.constant('---'),
      fc.constant('# Heading'),
      fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, ' ')),
    );
    const body = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n').trim());
    const status = fc.constantFrom('investigating', 'identified', 'resolved', null);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(body, status), { minLength: 1, maxLength: 4 }),
        fc.string(),
        async (said, title) => {
          const post: WrittenPost = {
            ...ONE,
            post: { ...ONE.post, title: `T${title}`.slice(0, 200) },
            updates: [0, 10, 20, 30].map((minutes, index) => {
              const [text, word] = said[index] ?? ['', null];
              return { at: at(minutes), status: word, body: text };
            }),
          } as WrittenPost;
          const plain = (learned: Pick<Learned, 'incidents'>) =>
            JSON.parse(
              JSON.stringify(learned.incidents.map(({ id: _, owner: __, ...incident }) => incident)).replaceAll(
                '\\\\## 20',
                '## 20',
              ),
            );
          expect(plain(await exported(post))).toEqual(plain(written(post)));
        },
      ),
      { numRuns: Math.round(60 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1)) },
    );
  });

  it('come back from the store as they went', () => {
    expect(parseWritten(writtenText(ONE))).toEqual(ONE);
    expect(parseWritten('not JSON')).toBe(null);
  });
});
