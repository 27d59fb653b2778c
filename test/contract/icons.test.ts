import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StatusError } from '../../src/errors.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { DAY_MS, HOUR_MS, toEpochMs } from '../../src/model/time.ts';
import { iconKey } from '../../src/publish/definitions/site-state.ts';
import { createIconKeeper, type IconKeeper, type WantedIcon } from '../../src/publish/icons/icon-keeper.ts';
import type { Database } from '../../src/store/database.ts';
import {
  BEGIN_TIMEOUT_MS,
  DATABASES,
  startDatabases,
  type TestDatabase,
  type TestDatabases,
} from '../helpers/databases.ts';
import { GIF, PNG } from '../helpers/pictures.ts';

const T0 = Date.UTC(2026, 10, 21, 9);
const at = (ms: number) => toEpochMs(T0 + ms);
const [PAGE, ANOTHER] = [toPageKey('acme', 1), toPageKey('acme', 2)];
const ACME: WantedIcon = { page: PAGE, address: 'https://acme.example/icon.png', isTrusted: false };
const OTHER: WantedIcon = { page: PAGE, address: 'https://other.example/icon.png', isTrusted: true };
const keyOf = ({ page, address }: WantedIcon): string => iconKey(page, address);
const asFetched = ({ address, isTrusted }: WantedIcon) => ({ address, isTrusted });

describe.each(DATABASES)('icons of pages over %s', (kind) => {
  let databases: TestDatabases;
  let database: TestDatabase;
  let asked: Omit<WantedIcon, 'page'>[];
  let answers: Map<string, Uint8Array | StatusError>;
  let errors: unknown[];

  const keeperOver = (opened: Database): IconKeeper =>
    createIconKeeper({
      database: opened,
      onError: (error) => errors.push(error),
      fetchBytes: async (icon) => {
        asked.push(icon);
        const answer =
          answers.get(icon.address) ?? new StatusError({ code: 'UPSTREAM_REFUSED', message: 'status 404' });
        if (answer instanceof StatusError) throw answer;
        return answer;
      },
    });
  const kinds = async (keeper: IconKeeper) =>
    [...(await keeper.known())].map(([address, icon]) => [address, icon.kind === 'picture' ? 'picture' : icon.reason]);

  beforeAll(async () => {
    databases = await startDatabases(kind);
  }, BEGIN_TIMEOUT_MS);
  afterAll(() => databases.stop());
  beforeEach(async () => {
    database = await databases.fresh();
    asked = [];
    errors = [];
    answers = new Map([[ACME.address, PNG]]);
  });
  afterEach(() => database.drop());

  it('are asked for once a day, each once however many pages want it', async () => {
    const keeper = keeperOver(database.open());
    await keeper.refresh([ACME, { ...ACME, page: ANOTHER }, OTHER], at(0));
    expect(asked).toEqual([ACME, OTHER].map(asFetched));
    expect(await kinds(keeper)).toEqual([
      [keyOf(ACME), 'picture'],
      [keyOf(OTHER), 'status 404'],
      [iconKey(ANOTHER, ACME.address), 'picture'],
    ]);
    await keeper.refresh([ACME], at(DAY_MS - 1));
    expect(asked.length).toBe(2);
    await keeper.refresh([ACME], at(DAY_MS));
    expect(asked.length).toBe(3);
    expect(errors).toEqual([]);
  });

  it('are of the page that wanted them: another has the same address asked for as it may', async () => {
    const keeper = keeperOver(database.open());
    await keeper.refresh([{ ...ACME, isTrusted: true }], at(0));
    expect(await kinds(keeper)).toEqual([[keyOf(ACME), 'picture']]);
    answers.delete(ACME.address);
    const next = { ...ACME, page: ANOTHER };
    await keeper.refresh([next], at(1));
    expect(asked).toEqual([{ address: ACME.address, isTrusted: true }, asFetched(ACME)]);
    expect(await kinds(keeper)).toEqual([
      [keyOf(ACME), 'picture'],
      [keyOf(next), 'status 404'],
    ]);
  });

  it('that were not taken are asked for again after an hour', async () => {
    const keeper = keeperOver(database.open());
    await keeper.refresh([OTHER], at(0));
    await keeper.refresh([OTHER], at(HOUR_MS - 1));
    expect(asked.length).toBe(1);
    answers.set(OTHER.address, Buffer.from('no picture'));
    await keeper.refresh([OTHER], at(HOUR_MS));
    expect(await kinds(keeper)).toEqual([[keyOf(OTHER), 'it is not a PNG, JPEG, GIF or SVG image']]);
    answers.set(OTHER.address, GIF);
    await keeper.refresh([OTHER], at(2 * HOUR_MS));
    expect(await kinds(keeper)).toEqual([[keyOf(OTHER), 'picture']]);
  });

  it('stay as they were when a later answer is not taken', async () => {
    const keeper = keeperOver(database.open());
    await keeper.refresh([ACME], at(0));
    const before = await keeper.known();
    answers.delete(ACME.address);
    await keeper.refresh([ACME], at(DAY_MS));
    expect(await keeper.known()).toBe(before);
    await keeper.refresh([ACME], at(DAY_MS + HOUR_MS));
    expect(asked.length).toBe(3);
  });

  it('are known to every process, and after a restart', async () => {
    const [one, other] = [keeperOver(database.open()), keeperOver(database.open())];
    expect(await kinds(other)).toEqual([]);
    await one.refresh([ACME], at(0));
    expect(await kinds(other)).toEqual([[keyOf(ACME), 'picture']]);
    await other.refresh([ACME], at(1));
    expect(await kinds(keeperOver(database.open()))).toEqual([[keyOf(ACME), 'picture']]);
    expect(asked.length).toBe(1);
  });

  it('are the same object until one of them changes', async () => {
    const keeper = keeperOver(database.open());
    await keeper.refresh([ACME], at(0));
    const before = await keeper.known();
    await keeper.refresh([ACME], at(DAY_MS));
    expect(await keeper.known()).toBe(before);
    answers.set(ACME.address, GIF);
    await keeper.refresh([ACME], at(2 * DAY_MS));
    expect(await keeper.known()).not.toBe(before);
  });

  it('that no page wants any more are forgotten in time', async () => {
    const keeper = keeperOver(database.open());
    await keeper.refresh([ACME, OTHER], at(0));
    await keeper.refresh([ACME], at(31 * DAY_MS));
    expect(await kinds(keeper)).toEqual([[keyOf(ACME), 'picture']]);
  });

  it('cost nothing but themselves when something is wrong with us', async () => {
    const opened = database.open();
    const keeper = createIconKeeper({
      database: { ...opened, transaction: () => Promise.reject(new Error('disk full')) },
      onError: (error) => errors.push(error),
      fetchBytes: async () => PNG,
    });
    await keeper.refresh([ACME], at(0));
    expect(String(errors[0])).toContain('disk full');
  });
});
