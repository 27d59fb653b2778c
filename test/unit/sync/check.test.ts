import { describe, expect, it } from 'vitest';
import {
  type Learned,
  type MonitorObservation,
  NOTHING_LEARNED,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../src/model/observation.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { judge, type LastKnown, MONITORS_MAX } from '../../../src/sync/pass/snapshot.ts';

const NOTHING_KNOWN: LastKnown = { monitors: new Map(), pages: [], held: null };
const MINUTE = 60_000;

function verdictOf(answer: Learned, known: LastKnown, at = 0) {
  return judge(answer, known, { at: toEpochMs(at), intervalMs: MINUTE });
}

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

const knownMonitors = (count: number, held: string | null = null): LastKnown => ({
  monitors: new Map(monitors(count).map((monitor) => [monitor.id, monitor])),
  pages: [],
  held,
});

describe('what a pass learned is taken', () => {
  it('whatever share of its items is unreadable: each is unknown by itself', () => {
    const answer = learned({ monitors: monitors(6), itemsTotal: 6, problems: dropped(1) });
    expect(verdictOf(answer, NOTHING_KNOWN)).toEqual({ kind: 'taken', learned: answer });
    expect(verdictOf(learned({ monitors: monitors(6), problems: dropped(6) }), knownMonitors(6)).kind).toBe('taken');
  });

  it('with the page closed whose access is in doubt, and the others as they are', () => {
    const pages = [page('iac/a'), page('iac/b')];
    const problems: Problem[] = [{ kind: 'gate', page: 'iac/a', place: 'pages[0].access_type', message: 'a number' }];
    const verdict = verdictOf(learned({ pages, problems }), NOTHING_KNOWN);
    expect(verdict.kind).toBe('taken');
    expect(verdict.learned.pages.map(({ access }) => access)).toEqual(['closed', 'public']);
  });
});

describe('what a pass learned is refused', () => {
  it('above the most monitors that are taken', () => {
    expect(verdictOf(learned({ monitors: monitors(MONITORS_MAX) }), NOTHING_KNOWN).kind).toBe('taken');
    expect(verdictOf(learned({ monitors: monitors(MONITORS_MAX + 1) }), NOTHING_KNOWN).kind).toBe('refused');
  });
});

describe('what a pass learned is held', () => {
  it('when more than half of the monitors are gone, not when half are', () => {
    expect(verdictOf(learned({ monitors: monitors(50) }), knownMonitors(100)).kind).toBe('taken');
    expect(verdictOf(learned({ monitors: monitors(49) }), knownMonitors(100))).toMatchObject({
      kind: 'held',
      reason: expect.stringContaining('51 of 100 monitors'),
    });
    expect(verdictOf(learned({ monitors: [] }), knownMonitors(1)).kind).toBe('held');
  });

  it('when other monitors take their place: it is another upstream', () => {
    expect(verdictOf(learned({ monitors: monitors(100, 1_000) }), knownMonitors(100)).kind).toBe('held');
  });

  it('until the same is seen again an interval later, in whatever order', () => {
    const gone = learned({ monitors: monitors(10) });
    const first = verdictOf(gone, knownMonitors(100), 1_000);
    const held = first.kind === 'held' ? first.held : '';
    const again = learned({ monitors: monitors(10).toReversed() });
    // Two rebuilds within seconds are one look; the time counts from the first.
    expect(verdictOf(again, knownMonitors(100, held), 6_000)).toMatchObject({ kind: 'held', held });
    expect(verdictOf(again, knownMonitors(100, held), 0).kind).toBe('held');
    expect(verdictOf(again, knownMonitors(100, held), 1_000 + 0.9 * MINUTE).kind).toBe('taken');
    expect(verdictOf(learned({ monitors: monitors(11) }), knownMonitors(100, held), 5 * MINUTE).kind).toBe('held');
  });

  it('when most pages are gone: a page once published does not disappear at one answer', () => {
    const known = { ...NOTHING_KNOWN, pages: [page('a'), page('b'), page('c')] };
    expect(verdictOf(learned({ pages: [page('a')] }), known).kind).toBe('held');
    expect(verdictOf(learned({ pages: [page('a'), page('b')] }), known).kind).toBe('taken');
  });

  it('not for parts that could not be read this time', () => {
    const known = { ...knownMonitors(100), pages: [page('a')] };
    expect(verdictOf(learned({ stale: ['monitors', 'pages'] }), known).kind).toBe('taken');
  });
});
