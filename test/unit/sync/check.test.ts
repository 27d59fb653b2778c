import { describe, expect, it } from 'vitest';
import {
  type Learned,
  type MonitorObservation,
  NOTHING_LEARNED,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../src/model/observation.ts';
import { checkLearned, type LastKnown, MONITORS_MAX } from '../../../src/sync/pass/check.ts';

const NOTHING_KNOWN: LastKnown = { monitors: new Map(), pages: [], heldHash: null };

function monitors(count: number, from = 0): MonitorObservation[] {
  return Array.from({ length: count }, (_, index) => ({
    id: toMonitorId('edge', from + index),
    name: `m${from + index}`,
    description: null,
    kind: 'http',
    target: null,
    state: 'operational',
    isPublic: null,
    createdAt: null,
  }));
}

function page(id: string, slug = id): PageDefinition {
  return {
    id,
    slug,
    title: id,
    description: null,
    homepageUrl: null,
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: [],
    components: [],
  };
}

function learned(parts: Partial<Learned>): Learned {
  const total = parts.monitors?.length ?? 0;
  return { ...NOTHING_LEARNED, itemsTotal: total, ...parts };
}

function dropped(count: number): Problem[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'dropped',
    place: `monitors[${index}]`,
    message: 'bad',
  }));
}

const knownMonitors = (count: number, heldHash: string | null = null): LastKnown => ({
  monitors: new Map(monitors(count).map((monitor) => [monitor.id, monitor])),
  pages: [],
  heldHash,
});

describe('what a pass learned is refused', () => {
  it('above one percent of unreadable items, not at it', () => {
    const atIt = learned({ monitors: monitors(199), itemsTotal: 200, problems: dropped(2) });
    const above = learned({ monitors: monitors(198), itemsTotal: 200, problems: dropped(3) });
    expect(checkLearned(atIt, NOTHING_KNOWN)).toEqual({ kind: 'taken' });
    expect(checkLearned(above, NOTHING_KNOWN)).toMatchObject({
      kind: 'refused',
      reason: '3 of 200 items are unreadable, such as monitors[0] (bad)',
    });
  });

  it('not for words that are unknown, however many', () => {
    const words = monitors(10).map(({ id }): Problem => ({ kind: 'word', place: id, message: 'unknown word' }));
    expect(checkLearned(learned({ monitors: monitors(10), problems: words }), NOTHING_KNOWN).kind).toBe('taken');
  });

  it('for one gate that cannot be read among thousands of items', () => {
    const problems: Problem[] = [{ kind: 'gate', place: 'pages[0].access_type', message: 'a number' }];
    const verdict = checkLearned(learned({ monitors: monitors(5_000), problems }), NOTHING_KNOWN);
    expect(verdict).toMatchObject({ kind: 'refused', reason: expect.stringContaining('pages[0].access_type') });
  });

  it('when two pages have one address: one could take the gate of the other', () => {
    const pages = [page('a', 'acme'), page('b', 'acme')];
    expect(checkLearned(learned({ pages }), NOTHING_KNOWN).kind).toBe('refused');
  });

  it('above the most monitors that are taken', () => {
    expect(checkLearned(learned({ monitors: monitors(MONITORS_MAX) }), NOTHING_KNOWN).kind).toBe('taken');
    expect(checkLearned(learned({ monitors: monitors(MONITORS_MAX + 1) }), NOTHING_KNOWN).kind).toBe('refused');
  });
});

describe('what a pass learned is held', () => {
  it('when more than half of the monitors are gone, not when half are', () => {
    expect(checkLearned(learned({ monitors: monitors(50) }), knownMonitors(100)).kind).toBe('taken');
    expect(checkLearned(learned({ monitors: monitors(49) }), knownMonitors(100))).toMatchObject({
      kind: 'held',
      reason: expect.stringContaining('51 of 100 monitors'),
    });
    expect(checkLearned(learned({ monitors: [] }), knownMonitors(1)).kind).toBe('held');
  });

  it('when other monitors take their place: it is another upstream', () => {
    expect(checkLearned(learned({ monitors: monitors(100, 1_000) }), knownMonitors(100)).kind).toBe('held');
  });

  it('until the same is seen again, in whatever order', () => {
    const first = checkLearned(learned({ monitors: monitors(10) }), knownMonitors(100));
    const hash = first.kind === 'held' ? first.hash : '';
    const again = learned({ monitors: monitors(10).toReversed() });
    expect(checkLearned(again, knownMonitors(100, hash)).kind).toBe('taken');
    expect(checkLearned(learned({ monitors: monitors(11) }), knownMonitors(100, hash)).kind).toBe('held');
  });

  it('when most pages are gone: a page once published does not disappear at one answer', () => {
    const known = { ...NOTHING_KNOWN, pages: [page('a'), page('b'), page('c')] };
    expect(checkLearned(learned({ pages: [page('a')] }), known).kind).toBe('held');
    expect(checkLearned(learned({ pages: [page('a'), page('b')] }), known).kind).toBe('taken');
  });

  it('not for parts that could not be read this time', () => {
    const known = { ...knownMonitors(100), pages: [page('a')] };
    expect(checkLearned(learned({ stale: ['monitors', 'pages'] }), known).kind).toBe('taken');
  });
});
