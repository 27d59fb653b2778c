import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { customerJourneys } from '../../../src/sync/connectors/customer-journeys/connector.ts';
import { contextOf, drive, failure, type Respond } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;
const journey = (id: number, more: Row = {}): Row => ({
  id,
  name: `Journey ${id}`,
  status: 'active',
  segment_id: null,
  ...more,
});

function pull(respond: Respond, headers: Row = { Authorization: 'Bearer x' }) {
  const options = customerJourneys.optionsSchema.parse({ tenantBaseUrl: 'https://crm.test/', headers });
  return drive<Learned>(customerJourneys.pull(options, contextOf()), respond);
}
const pageOf = (url: string): number => Number(new URL(url).searchParams.get('page'));
const pages =
  (...lists: Row[][]): Respond =>
  ({ url }) => ({ data: lists[pageOf(url) - 1] ?? [] });
const ids = ({ result }: { result: Learned }) => result.monitors.map(({ id }) => id);

describe('a listing without a documented end', () => {
  it('is over at an empty page', async () => {
    const driven = await pull(pages([journey(1)]));
    expect(ids(driven)).toEqual(['up/1']);
    expect(driven.questions.map(({ url }) => pageOf(url))).toEqual([1, 2]);
  });

  it('is over at a page that holds nothing new', async () => {
    const driven = await pull(({ url }) => ({ data: pageOf(url) === 1 ? [journey(2), journey(1)] : [journey(3)] }));
    expect(ids(driven)).toEqual(['up/1', 'up/2', 'up/3']);
    // Page 3 repeats page 2; page 1 is looked at again since there was more than one.
    expect(driven.questions.map(({ url }) => pageOf(url))).toEqual([1, 2, 3, 1]);
  });

  it('ends at a ceiling, and says so', async () => {
    const driven = await pull(({ url }) => ({ data: [journey(pageOf(url))] }));
    expect(driven.result.monitors.length).toBe(100);
    expect(driven.result.problems).toMatchObject([
      { kind: 'note', message: 'more than 100 pages; the rest was left out' },
    ]);
  });

  it('loses no journey that moves to the front while it is read, and counts none twice', async () => {
    let isEdited = false;
    const driven = await pull(({ url }) => {
      const order = isEdited ? [5, 1, 2, 3, 4] : [1, 2, 3, 4, 5];
      const page = pageOf(url);
      if (page === 2) isEdited = true;
      return { data: order.slice((page - 1) * 2, page * 2).map((id) => journey(id)) };
    });
    expect(ids(driven)).toEqual(['up/1', 'up/2', 'up/3', 'up/4', 'up/5']);
    expect(driven.result.problems).toEqual([]);
  });

  it('fails as a whole when one page does', async () => {
    await expect(
      pull(({ url }) => (pageOf(url) === 2 ? failure('UPSTREAM_FAILED') : { data: [journey(1)] })),
    ).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
    });
  });

  it('is asked for as JSON, with the configured headers', async () => {
    const { questions } = await pull(pages(), { 'X-Tenant': 'acme', Accept: 'text/html' });
    expect(questions[0]?.headers).toMatchObject({ 'x-tenant': 'acme', accept: 'application/json' });
    expect(Object.keys(questions[0]?.headers ?? {}).filter((name) => name.toLowerCase() === 'accept')).toEqual([
      'accept',
    ]);
  });
});

describe('a journey', () => {
  it.each([
    ['active', 'operational'],
    ['draft', 'paused'],
    ['Active', 'paused'],
    ['anything', 'paused'],
    [null, 'unknown'],
    [1, 'unknown'],
  ])('of status %s is %s', async (status, state) => {
    const { result } = await pull(pages([journey(1, { status })]));
    expect(result.monitors.map((one) => one.state)).toEqual([state]);
  });

  it.each([
    [{ segment_id: 4, segment: { id: 4, name: 'Regulars' } }, 'Regulars'],
    [{ segment_id: 4 }, 'Segment 4'],
    [{ segment_id: 4, segment: 'Regulars' }, 'Segment 4'],
    [{ segment_id: null, description: 'Secret goals' }, null],
    [{ segment_id: { not: 'an id' } }, null],
  ])('with %j is described as %s', async (fields, description) => {
    const { result } = await pull(pages([journey(1, fields)]));
    expect(result.monitors.map((one) => one.description)).toEqual([description]);
  });

  it('keeps neither rules nor targets nor goals', async () => {
    const fields = {
      description: 'Secret goals',
      trigger_rules: [{ event: 'secret.event' }],
      export_targets: [{ template: 'secret-template' }],
    };
    const { result } = await pull(pages([journey(1, fields)]));
    expect(JSON.stringify(result)).not.toMatch(/secret/i);
  });
});
