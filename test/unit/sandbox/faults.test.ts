import { describe, expect, it } from 'vitest';
import { json } from '../../sandbox/exchange.ts';
import { spoil } from '../../sandbox/fault-bodies.ts';
import { createFaults, type FaultName, shifted } from '../../sandbox/faults.ts';

const LIST = json(200, {
  items: [
    { id: 1, status: 'up', tags: ['a'] },
    { id: 2, status: 'down', tags: [] },
  ],
  count: 2,
});

const FIELDS = { idField: 'id', words: { status: ['up', 'down'], accessType: ['public'] } };
const NAMES = ['uptime', 'openstatus', 'backup'];

function bodyWith(name: FaultName, more: object = {}): unknown {
  return JSON.parse(spoil(LIST, { name, ...more }, FIELDS).body);
}

describe('the fault book', () => {
  it('meets only the upstream and the paths it was set for', () => {
    const faults = createFaults(NAMES);
    faults.set('uptime', { name: '500', path: '/v1' });
    expect(faults.take('uptime', '/v1/whoami')?.fault.name).toBe('500');
    expect(faults.take('uptime', '/rpc/x')).toBeNull();
    expect(faults.take('openstatus', '/v1/whoami')).toBeNull();
  });

  it('stops after so many requests and counts them', () => {
    const faults = createFaults(NAMES);
    faults.set('uptime', { name: 'down', times: 2 });
    const steps = [1, 2, 3].map(() => faults.take('uptime', '/')?.step ?? null);
    expect(steps).toEqual([0, 1, null]);
  });

  it('is taken back one by one and all at once', () => {
    const faults = createFaults(NAMES);
    faults.set('uptime', 'down');
    faults.set('backup', '401');
    faults.set('uptime', null);
    expect([faults.get('uptime'), faults.get('backup')?.name]).toEqual([null, '401']);
    faults.clear();
    expect(faults.get('backup')).toBeNull();
  });
});

it('refuses an upstream that there is none of, and names those there are', () => {
  expect(() => createFaults(NAMES).set('openstats', 'down')).toThrow('uptime, openstatus, backup');
});

describe('a spoilt body', () => {
  it('loses its lists, and only them', () => {
    expect(bodyWith('missing-arrays')).toEqual({ count: 2 });
  });

  it('repeats a record, with other contents unless told to repeat it as it is', () => {
    expect(bodyWith('duplicate-ids')).toMatchObject({
      items: [{ id: 1 }, { id: 2 }, { id: 1, name: 'Somebody else' }],
    });
    expect(bodyWith('duplicate-ids', { isConflicting: false })).toMatchObject({
      items: [{ id: 1 }, { id: 2 }, { id: 1, status: 'up', tags: ['a'] }],
    });
  });

  it('has the wrong type in every field of every record, or of every so many-th', () => {
    const wrong = { id: 'not a number', status: { not: 'text' }, tags: { not: 'a list' } };
    expect(bodyWith('wrong-types')).toEqual({ items: [wrong, wrong], count: 2 });
    expect(bodyWith('wrong-types', { every: 2 })).toMatchObject({ items: [wrong, { id: 2 }] });
  });

  it('says words that nobody knows', () => {
    expect(bodyWith('unknown-words')).toMatchObject({ items: [{ status: 'frobnicated' }, { status: 'frobnicated' }] });
    expect(bodyWith('unknown-words', { every: 2 })).toMatchObject({
      items: [{ status: 'frobnicated' }, { status: 'down' }],
    });
  });

  it('writes numbers as text', () => {
    expect(bodyWith('numbers-as-strings')).toMatchObject({ items: [{ id: '1' }, { id: '2' }] });
  });

  it('empties lists', () => {
    expect(bodyWith('empty-lists')).toEqual({ items: [], count: 2 });
  });

  it('has another access type where a page has one', () => {
    const page = json(200, { statusPage: { id: '1', accessType: 'PAGE_ACCESS_TYPE_PUBLIC' } });
    expect(JSON.parse(spoil(page, { name: 'unknown-words' }, FIELDS).body)).toEqual({
      statusPage: { id: '1', accessType: 'frobnicated' },
    });
  });

  it('carries Retry-After as it is given, or not at all', () => {
    const header = (retryAfter?: string | null): string | undefined =>
      spoil(LIST, { name: '429', ...(retryAfter === undefined ? {} : { retryAfter }) }, FIELDS).headers['retry-after'];
    expect([header(), header('Sat, 21 Nov 2026 10:00:00 GMT'), header('soon'), header(null)]).toEqual([
      '30',
      'Sat, 21 Nov 2026 10:00:00 GMT',
      'soon',
      undefined,
    ]);
  });
});

describe('a list that moves under its reader', () => {
  const items = Array.from({ length: 20 }, (_, index) => index);

  it('grows at the top by one with each request', () => {
    expect(shifted(items, { direction: 'insert', step: 0 })[0]).toBe(10);
    expect(shifted(items, { direction: 'insert', step: 1 })[0]).toBe(9);
    expect(shifted(items, { direction: 'insert', step: 99 })).toEqual(items);
  });

  it('loses its first record with each request', () => {
    expect(shifted(items, { direction: 'delete', step: 3 })[0]).toBe(3);
  });
});
