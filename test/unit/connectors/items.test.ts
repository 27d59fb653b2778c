import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type MonitorObservation, type Problem, toMonitorId } from '../../../src/model/observation.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import {
  compareIds,
  detailsDue,
  idIn,
  itemKey,
  losesOpen,
  projectMonitorLists,
  uniqueMonitors,
} from '../../../src/sync/connectors/items.ts';
import { contextOf, NOW } from '../../helpers/drive.ts';

const monitor = (id: string, more: Partial<MonitorObservation> = {}): MonitorObservation => ({
  id: toMonitorId('up', id),
  name: id,
  description: null,
  kind: 'http',
  target: null,
  state: 'operational',
  isPublic: true,
  createdAt: null,
  ...more,
});

describe('monitors that share an id', () => {
  it('are one when they agree', () => {
    const problems: Problem[] = [];
    const monitors = uniqueMonitors([monitor('1'), monitor('1')], problems);
    expect(monitors).toEqual([monitor('1')]);
    expect(problems).toEqual([{ kind: 'note', place: 'up/1', message: 'the id occurs 2 times' }]);
  });

  it('are unknown and not public when they do not, whatever their order', () => {
    const variants = [monitor('1', { name: 'B' }), monitor('1', { name: 'A', state: 'major_outage' })];
    const problems: Problem[] = [];
    const one = uniqueMonitors(variants, problems);
    expect(one).toMatchObject([{ state: 'unknown', isPublic: false }]);
    expect(problems).toMatchObject([{ kind: 'dropped' }]);
    expect(uniqueMonitors(variants.toReversed(), [])).toEqual(one);
    const private_ = [monitor('1', { isPublic: null }), monitor('1', { isPublic: null, name: 'x' })];
    expect(uniqueMonitors(private_, [])[0]?.isPublic).toBeNull();
  });
});

describe('items of a list', () => {
  it('are known by the field that the connector declares, and by nothing inherited', () => {
    expect([idIn({ key: 'a', id: 'b' }, 'key'), idIn({ key: 7 }, 'key')]).toEqual(['a', '7']);
    for (const item of [{ id: 'b' }, { key: '' }, { key: {} }, null, 'key', ['key']])
      expect(idIn(item, 'key')).toBeNull();
    expect(idIn({}, 'constructor')).toBeNull();
    expect(itemKey({ id: 'b' }, 'key')).toBe('{"id":"b"}');
  });

  it('are salvaged by that field when they cannot be read otherwise', () => {
    const problems: Problem[] = [];
    const list = {
      place: 'checks',
      kind: 'check',
      items: [
        { key: 'a', up: true },
        { key: 'b', up: 'perhaps', name: 'Bee' },
        { id: 'c', up: 'perhaps' },
      ],
      schema: z.object({ key: z.string(), up: z.boolean() }),
      idField: 'key',
      project: () => ({ state: 'operational' as const }),
    };
    const monitors = projectMonitorLists({ upstreamId: 'up', problems }, [list]);
    expect(monitors.map(({ id, name, state }) => [id, name, state])).toEqual([
      ['up/a', 'a', 'operational'],
      ['up/b', 'Bee', 'unknown'],
    ]);
    expect(problems.map(({ kind, place }) => [kind, place])).toEqual([
      ['dropped', 'checks[1].up'],
      ['dropped', 'checks[2].key'],
    ]);
  });

  it('may hide an open incident when one of them has no id, or the id of one that was not read', () => {
    const open = new Set(['1']);
    const loses = (items: readonly unknown[]) => losesOpen(items, { taken: new Set(['2']), open });
    expect([loses([{ id: 2 }, { id: 3 }]), loses([{ id: 1 }]), loses([{ key: 2 }])]).toEqual([false, true, true]);
  });
});

describe('details', () => {
  it('are due for those fetched longest ago, never for those fetched just now', () => {
    const ages = Object.entries({ '2': 60_000, '3': 10_000, '4': 90_000 });
    const memory = { detailFetchedAt: new Map(ages.map(([id, ageMs]) => [id, toEpochMs(NOW - ageMs)])) };
    const monitors = ['1', '2', '3', '4'].map((id) => monitor(id));
    expect(detailsDue(monitors, contextOf(memory), 30_000)).toEqual(['1', '4', '2']);
  });
});

describe('the order of ids', () => {
  it('is by number where there are numbers', () => {
    const ids = [
      'up/10',
      'up/2',
      'up/a10',
      'up/a9',
      'up/1',
      'up',
      'up/99999999999999999999',
      'up/99999999999999999998',
    ];
    expect(ids.toSorted(compareIds)).toEqual([
      'up',
      'up/1',
      'up/2',
      'up/10',
      'up/99999999999999999998',
      'up/99999999999999999999',
      'up/a9',
      'up/a10',
    ]);
  });

  it('is an order: every pair one way, and the same whatever it begins with', () => {
    const ids = fc.array(fc.string({ maxLength: 6, unit: fc.constantFrom('a', 'b', '0', '1', '9', '/') }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(ids, (list) => {
        for (const a of list)
          for (const b of list) expect(Math.sign(compareIds(a, b)) + Math.sign(compareIds(b, a))).toBe(0);
        expect(list.toReversed().toSorted(compareIds).map(normal)).toEqual(list.toSorted(compareIds).map(normal));
      }),
      { seed: 5 },
    );
  });

  /** `01` and `1` stand at one place. */
  const normal = (id: string): string => id.replaceAll(/0*(\d)/g, '$1');
});
