import { describe, expect, it } from 'vitest';
import { type EpochMs, MINUTE_MS, type SourceFreshness, toIso } from '../../../src/model/index.ts';
import { type NowFacts, nowDocument } from '../../../src/views/json/state-json.ts';
import { AS_OF, ago } from '../../helpers/page-model.ts';

const source = (upstreamId: string, monitorsAt: EpochMs | null): SourceFreshness => ({
  upstreamId,
  monitorsAt,
  incidentsAt: null,
  intervalMs: MINUTE_MS,
  isMonitorsStale: false,
  isIncidentsStale: false,
});
const facts = (...upstreams: string[]): NowFacts => ({ state: 'degraded', staleAfter: AS_OF, upstreams });
const checkedAt = (of: NowFacts, ...sources: SourceFreshness[]) => nowDocument(of, { release: 7, sources }).checkedAt;

describe('api/now.json', () => {
  it('says what is served and until when it may be believed', () => {
    expect(nowDocument(facts('a'), { release: 7, sources: [source('a', ago(20_000))] })).toEqual({
      checkedAt: toIso(ago(20_000)),
      staleAfter: toIso(AS_OF),
      state: 'degraded',
      release: 7,
    });
  });

  it('is as old as the upstream of the page that was silent for longest', () => {
    const others = [source('a', ago(20_000)), source('b', ago(40_000)), source('other', ago(900_000))];
    expect(checkedAt(facts('a', 'b'), ...others)).toBe(toIso(ago(40_000)));
  });

  it('says nothing where an upstream never answered, is configured no more, or there is none', () => {
    expect(checkedAt(facts('a', 'b'), source('a', ago(0)), source('b', null))).toBeNull();
    expect(checkedAt(facts('a', 'b'), source('a', ago(0)))).toBeNull();
    expect(checkedAt(facts(), source('a', ago(0)))).toBeNull();
  });
});
