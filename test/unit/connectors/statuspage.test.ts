import { describe, expect, it } from 'vitest';
import type { Incident, Learned } from '../../../src/model/observation.ts';
import { HOUR_MS, toEpochMs } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { statuspage } from '../../../src/sync/connectors/statuspage/connector.ts';
import { contextOf, drive, failure, NOW, type Respond } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const component = (id: string, status = 'operational', more: Row = {}): Row => ({
  id,
  name: `Part ${id}`,
  status,
  ...more,
});
const AT = '2026-11-21T08:00:00.000Z';
const incident = (id: string, more: Row = {}): Row => ({
  id,
  name: `Trouble ${id}`,
  status: 'investigating',
  impact: 'minor',
  created_at: AT,
  started_at: AT,
  resolved_at: null,
  incident_updates: [],
  components: [],
  ...more,
});
const over = { status: 'resolved', resolved_at: '2026-11-21T08:30:00.000Z' };

interface Page {
  readonly components?: readonly Row[];
  readonly open?: readonly Row[];
  /** Default: what is open. */
  readonly incidents?: readonly Row[];
  readonly maintenances?: readonly Row[];
}

const serve =
  ({ components = [component('a')], open = [], incidents = open, maintenances = [] }: Page): Respond =>
  ({ url }) =>
    url.endsWith('/summary.json')
      ? { page: { name: 'Vendor' }, components, incidents: open, scheduled_maintenances: maintenances }
      : url.endsWith('/incidents.json')
        ? { incidents }
        : { scheduled_maintenances: maintenances };

function pull(respond: Respond, memory: Partial<PullMemory> = {}, options: Row = {}) {
  const parsed = statuspage.optionsSchema.parse({ url: 'https://status.vendor.test/', ...options });
  return drive<Learned>(statuspage.pull(parsed, contextOf(memory)), respond);
}
const states = ({ result }: { result: Learned }) => result.monitors.map(({ id, state }) => `${id} ${state}`);

describe('"operational" inside an open critical incident', () => {
  const page = (more: Row): Respond =>
    serve({
      components: [component('a'), component('b'), component('c', 'major_outage')],
      open: [incident('i', more)],
    });

  it('is not shown as operational where the incident names the component', async () => {
    const driven = await pull(page({ impact: 'critical', components: [component('a'), component('c')] }));
    expect(states(driven)).toEqual(['up/a unknown', 'up/b operational', 'up/c major_outage']);
  });

  it('is shown of no component where the incident names none', async () => {
    const driven = await pull(page({ impact: 'critical' }));
    expect(states(driven)).toEqual(['up/a unknown', 'up/b unknown', 'up/c major_outage']);
  });

  it('is believed again once it is over, and inside lesser ones', async () => {
    for (const more of [{ impact: 'critical', ...over }, { impact: 'major' }, { impact: 'minor' }, { impact: 'none' }])
      expect(states(await pull(page(more)))).toEqual(['up/a operational', 'up/b operational', 'up/c major_outage']);
  });

  it('is in doubt where the impact cannot be read', async () => {
    for (const more of [{ impact: 'catastrophic' }, { impact: null }, { impact: 7 }])
      expect(states(await pull(page(more)))).toEqual(['up/a unknown', 'up/b unknown', 'up/c major_outage']);
  });
});

describe('the components that are taken', () => {
  const components = [
    component('g', 'operational', { name: 'Eu', group: true }),
    component('a', 'operational', { name: 'API', group_id: 'g' }),
    component('b', 'operational', { name: 'API' }),
    component('c', 'operational', { name: 'Web' }),
  ];

  it('are all but groups; two of one name carry their group', async () => {
    const { result } = await pull(serve({ components }));
    expect(result.monitors.map(({ name }) => name)).toEqual(['Eu - API', 'API', 'Web']);
  });

  it('are named alone, with their group, or by id, and one that is not there is told', async () => {
    const { result } = await pull(serve({ components }), {}, { components: ['Eu - API', 'c', 'Nothing'] });
    expect(result.monitors.map(({ id }) => id)).toEqual(['up/a', 'up/c']);
    expect(result.problems).toMatchObject([{ kind: 'note', message: 'there is no component named "Nothing"' }]);
  });

  it('bring the incidents that name them or nothing, not those of others', async () => {
    const incidents = [
      incident('1', { components: [component('b')] }),
      incident('2'),
      incident('3', { components: [component('c')] }),
    ];
    const { result } = await pull(serve({ components, open: incidents }), {}, { components: ['Web'] });
    expect(result.incidents.map(({ id, monitors }) => `${id} ${monitors}`)).toEqual(['up/2 up/c', 'up/3 up/c']);
    // What is of others is known to be there, and so not taken back.
    expect(result.complete.find(({ part }) => part === 'incidents')?.ids).toEqual(expect.arrayContaining(['up/1']));
  });
});

describe('an incident that is open no more', () => {
  const story = async () => {
    const [known] = (await pull(serve({ open: [incident('i')] }))).result.incidents;
    if (known === undefined) throw new Error('no incident');
    return known;
  };
  const memoryOf = (known: Incident): Partial<PullMemory> => ({
    isBackfilled: true,
    openIncidents: new Set(['i']),
    openStories: new Map([['i', known]]),
    detailFetchedAt: new Map([['a', NOW]]),
  });

  it('is looked for among those of the past, with its own end and words', async () => {
    const { questions, result } = await pull(serve({ incidents: [incident('i', over)] }), memoryOf(await story()));
    expect(questions.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
      'summary list',
      'list incidents detail',
      'list maintenances detail',
    ]);
    expect(result.incidents).toMatchObject([{ id: 'up/i', status: 'resolved', endedAt: Date.parse(over.resolved_at) }]);
  });

  it('is over as of now while that list cannot be read', async () => {
    const known = await story();
    for (const past of [failure('UPSTREAM_FAILED'), 'skipped']) {
      const { result } = await pull(
        (question, index) => (question.name === 'summary' ? serve({})(question, index) : past),
        memoryOf(known),
      );
      expect(result.incidents).toEqual([{ ...known, status: 'resolved', endedAt: NOW }]);
      expect(result.complete).toEqual([]);
    }
  });

  it('is not over while it may be among those that cannot be read', async () => {
    const memory = memoryOf(await story());
    for (const item of [{ id: 'i' }, { name: 'no id' }, null]) {
      const { result } = await pull(serve({ open: [item as Row] }), memory);
      expect([result.incidents, result.stale]).toEqual([[], ['incidents']]);
    }
  });

  it('with a status that nobody knows is not over', async () => {
    const { result } = await pull(
      serve({ open: [incident('i', { status: 'pondering', resolved_at: over.resolved_at })] }),
    );
    expect(result.incidents).toMatchObject([{ status: 'investigating', endedAt: null }]);
  });
});

describe('asking', () => {
  it('is one question that must be answered, each conditional and without a key', async () => {
    const { questions } = await pull(serve({}), { isBackfilled: true });
    expect(questions.map(({ priority }) => priority)).toEqual(['list', 'detail', 'detail']);
    expect(
      questions.every(({ isConditional, headers }) => isConditional === true && Object.keys(headers).length === 0),
    ).toBe(true);
  });

  it('reads the past again after an hour, also where it failed, and at once where it had to wait', async () => {
    const readAt = (ago: number): Partial<PullMemory> => ({
      isBackfilled: true,
      detailFetchedAt: new Map([['a', toEpochMs(NOW - ago)]]),
    });
    expect((await pull(serve({}), readAt(HOUR_MS - 1))).questions.length).toBe(1);
    expect((await pull(serve({}), readAt(HOUR_MS))).questions.length).toBe(3);
    const remembered = async (past: unknown) =>
      (
        await pull((question, index) => (question.name === 'summary' ? serve({})(question, index) : past))
      ).result.details.map(({ id, fetchedAt }) => `${id} ${fetchedAt - NOW}`);
    expect(await remembered(failure('UPSTREAM_REFUSED'))).toEqual(['up/a 0']);
    expect(await remembered('skipped')).toEqual([]);
  });

  it('reads a full list as far back as its oldest, and a short one as everything there is', async () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        incident(`i${index}`, { ...over, started_at: new Date(Date.parse(AT) - index * 60_000).toISOString() }),
      );
    const sinceOf = async (count: number) =>
      (await pull(serve({ incidents: list(count) }))).result.complete.find(({ part }) => part === 'incidents')?.since;
    expect(await sinceOf(49)).toBeNull();
    expect(await sinceOf(50)).toBe(Date.parse(AT) - 49 * 60_000 + 1);
  });
});
