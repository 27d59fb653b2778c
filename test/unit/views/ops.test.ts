import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { opsView } from '../../../src/views/operators/ops.ts';
import type { OpsFacts, RunFacts } from '../../../src/views/operators/ops-facts.ts';
import { OPS_NOW, opsFacts } from '../../helpers/ops-facts.ts';

const ago = (seconds: number) => toEpochMs(OPS_NOW - seconds * 1_000);
const view = (facts: Partial<OpsFacts> = {}) => opsView(opsFacts(facts), { formToken: 'form', notice: null });
const run = (minutes: number, facts: Partial<RunFacts> = {}): RunFacts => ({
  id: `run-${minutes}`,
  trigger: 'schedule',
  startedAt: ago(60 * minutes),
  endedAt: ago(60 * minutes - 1),
  hasFailed: false,
  outcome: 'no change',
  ...facts,
});

describe('the operators’ page in words', () => {
  it('makes one row of runs that say the same one after the other, and of no others', () => {
    const failed = { hasFailed: true, outcome: 'svc failed (UPSTREAM_FAILED)' };
    const { runs } = view({
      runs: [
        run(0, { startedAt: null, endedAt: null, outcome: '' }),
        run(1, { endedAt: null, outcome: '' }),
        run(2),
        run(3),
        run(4),
        run(5, failed),
        run(6, failed),
        run(7, { trigger: 'hook' }),
        run(8),
      ],
    });
    expect(runs.map(({ id, outcome, times, state }) => [id, outcome, times, state])).toEqual([
      ['run-0', 'queued', null, 'maintenance'],
      ['run-1', 'in progress', null, 'maintenance'],
      ['run-2', 'no change', '3 times since 09:26:00', 'operational'],
      ['run-5', 'svc failed (UPSTREAM_FAILED)', '2 times since 09:24:00', 'degraded'],
      ['run-7', 'no change', null, 'operational'],
      ['run-8', 'no change', null, 'operational'],
    ]);
  });

  it('tells instants of today to the second and others with their day', () => {
    const { runs } = view({ runs: [run(1), run(24 * 60, { outcome: 'changed: 1 monitor' })] });
    expect(runs.map(({ started }) => started?.text)).toEqual(['09:29:00', 'Nov 20, 09:30']);
  });

  it('names a few pages that are not published and counts many', () => {
    expect(view().attention).toContain('Page staff is not published yet.');
    const many = view({ pagesTotal: 200, unpublishedTotal: 80 });
    expect(many.attention).toContain('80 pages are not published yet.');
    expect(many.attention.join()).not.toContain('staff');
    expect(many.pagesHidden).toBe(198);
  });

  it('asks for a look at folders and buckets that are not up to date', () => {
    const { attention } = view({ targets: [{ place: 's3://pages/', message: 'no response in time.' }] });
    expect(attention).toContain('Output s3://pages/ is not up to date: no response in time.');
  });

  it('lists what the last pass of an upstream left out, and asks nobody to look at it', () => {
    const [edge] = opsFacts().upstreams;
    if (edge === undefined) throw new Error('there is none');
    const many = view({
      upstreams: [edge, { ...edge, id: 'iac', notes: ['a: left out', 'b: left out'] }, { ...edge, notes: [] }],
    });
    expect(many.upstreams.map(({ notes }) => notes)).toEqual([
      { title: '1 note from the last pass', items: ['pages.1: left out: its own colours'] },
      { title: '2 notes from the last pass', items: ['a: left out', 'b: left out'] },
      null,
    ]);
    expect(many.attention.join()).not.toContain('left out');
    const cut = view({
      upstreams: [{ ...edge, notes: Array.from({ length: 20 }, (_, index) => `${index}: left out`) }],
    });
    expect(cut.upstreams[0]?.notes?.title).toBe('At least 20 notes from the last pass');
  });

  it('says that all is well only when nothing needs a look', () => {
    const [edge] = opsFacts().upstreams;
    const [acme] = opsFacts().pages;
    const well = { upstreams: edge ? [edge] : [], pages: acme ? [acme] : [], pagesTotal: 1, unpublishedTotal: 0 };
    const calm = {
      ...well,
      problems: [],
      exports: [],
      mail: { isNeeded: false, isConfigured: false, isPrinted: false, waiting: 0 },
    };
    expect(view(calm).sentence).toBe('All good: the upstream is up to date, the page is published.');
    expect(view(calm).shell.state).toBe('operational');
    expect(view({ ...calm, unpublishedTotal: 7 }).sentence).toBe('1 thing needs attention.');
  });

  it('gives no time without words for an upstream that never answered, one out of quota and one that refused', () => {
    const [edge] = opsFacts().upstreams;
    if (edge === undefined) throw new Error('there is none');
    const { upstreams } = view({
      upstreams: [
        { ...edge, heardAt: null, monitorsTotal: null, isStale: true },
        {
          ...edge,
          quota: [{ lengthMs: 75_000, max: 60, left: 0 }],
          circuit: { kind: 'open', why: 'waiting', until: ago(-1_800) },
        },
        { ...edge, circuit: { kind: 'open', why: 'refused', until: ago(-3_600) } },
        {
          ...edge,
          places: [
            { place: 'ams', at: ago(30) },
            { place: 'fra', at: ago(90) },
          ],
        },
      ],
    });
    expect(upstreams.map(({ places }) => places)).toEqual([null, null, null, 'ams (09:29:30), fra (09:28:30)']);
    expect(upstreams.slice(0, 3).map(({ age, quota, circuit, state }) => [age, quota, circuit, state])).toEqual([
      [
        'never answered, synced every 1 min',
        '57 of 60 left this minute, 420 of 1,000 left this hour',
        'Queried on schedule',
        'unknown',
      ],
      [
        '12 s old, synced every 1 min, 12 monitors',
        '0 of 60 left this minute',
        'Back-off until 10:00:00: it asked us to wait',
        'degraded',
      ],
      [
        '12 s old, synced every 1 min, 12 monitors',
        '57 of 60 left this minute, 420 of 1,000 left this hour',
        'Back-off until 10:30:00 or until its options change: it rejected the key',
        'degraded',
      ],
    ]);
  });
});
