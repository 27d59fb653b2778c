import { describe, expect, it } from 'vitest';
import { staleness, unreadiness } from '../../../src/app/serving/listen.ts';
import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import type { SiteState } from '../../../src/publish/definitions/site-state.ts';

const T0 = toEpochMs(Date.UTC(2026, 10, 1));
const past = (ms: number): EpochMs => toEpochMs(T0 + ms);
const published = new Set<string>();

/** Two pages, of which none is published, and an upstream that answered at T0. */
function stateAt(now: EpochMs): SiteState {
  const pages = ['acme', 'beta'].map((slug) => ({ definition: { slug } }));
  const source = { upstreamId: 'edge', monitorsAt: T0, incidentsAt: T0, intervalMs: MINUTE_MS };
  const fresh = { ...source, isMonitorsStale: false, isIncidentsStale: false };
  return { now, resolved: { pages }, sources: [fresh], announcements: [] } as unknown as SiteState;
}

describe('whether a node can serve visitors', () => {
  const facts = { published, state: stateAt(T0), isStopping: false, hasPublished: true };

  it('depends on the first publish, and on what could not be published then no more', () => {
    expect(unreadiness({ ...facts, hasPublished: false })).toEqual([
      'page acme is not published yet',
      'page beta is not published yet',
    ]);
    expect(unreadiness(facts)).toEqual([]);
  });

  it('is not given before any page is known', () => {
    const nothing = { ...stateAt(T0), resolved: { pages: [] } } as unknown as SiteState;
    expect(unreadiness({ ...facts, state: nothing, hasPublished: false })).toEqual(['no page is known yet']);
    expect(unreadiness({ ...facts, state: nothing })).toEqual([]);
  });

  it('depends on no upstream and on no database that was there once', () => {
    expect(unreadiness({ ...facts, state: null })).toEqual(['the database has not been read yet']);
    const monthOld = { ...facts, state: stateAt(past(-30 * 24 * 60 * MINUTE_MS)) };
    expect(unreadiness(monthOld)).toEqual([]);
    expect(unreadiness({ ...facts, isStopping: true })).toEqual(['the server is stopping']);
  });
});

describe('whether what is served is fresh', () => {
  const facts = { published, state: stateAt(T0), isStopping: false, hasPublished: true };
  const unpublished = ['page acme is not published yet', 'page beta is not published yet'];

  it('is told by the clock, also while the store or the disk cannot be read', () => {
    expect(staleness(facts, past(9 * SECOND_MS))).toEqual(unpublished);
    expect(staleness(facts, past(31 * SECOND_MS))).toEqual(['the database has not answered for 31 s', ...unpublished]);
    expect(staleness({ ...facts, diskSilentMs: 11_000 }, T0)).toEqual([
      'the disk has not answered for 11 s',
      ...unpublished,
    ]);
    const read = { ...facts, state: stateAt(past(2 * MINUTE_MS + 1)) };
    expect(staleness(read, past(2 * MINUTE_MS))).toEqual(unpublished);
    expect(staleness(read, past(2 * MINUTE_MS + 1))).toEqual([...unpublished, 'upstream edge is stale']);
    expect(staleness({ ...facts, state: null }, T0)).toEqual(['the database has not been read yet']);
  });

  it('is not after the clock was set back, until the next pass', () => {
    const state = stateAt(T0);
    const sources = state.sources.map((source) => ({ ...source, isAhead: true as const }));
    expect(staleness({ ...facts, state: { ...state, sources } }, T0)).toContainEqual(
      expect.stringMatching(/^upstream edge .*clock .* set back$/),
    );
  });
});
