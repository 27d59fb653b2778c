import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgres, type PostgresDatabase } from '../../src/store/postgres/postgres.ts';
import { type CuttingProxy, startCuttingProxy } from '../helpers/cutting-proxy.ts';
import { eventually } from '../helpers/pharos.ts';
import { postgresPrograms, type RealPostgres, startRealPostgres } from '../helpers/real-postgres.ts';

const PROGRAMS = postgresPrograms();

describe.skipIf(PROGRAMS === null)('what nodes announce (skipped where initdb and postgres are not found)', () => {
  let server: RealPostgres;
  let way: CuttingProxy;
  let speaking: PostgresDatabase;
  let listening: PostgresDatabase;

  beforeAll(async () => {
    server = await startRealPostgres(PROGRAMS ?? '');
    const url = new URL(server.url);
    way = await startCuttingProxy({ host: url.hostname, port: Number(url.port) });
    speaking = openPostgres(server.url);
    url.port = String(way.port);
    listening = openPostgres(url.href);
  });
  afterAll(async () => {
    await speaking?.close();
    await listening?.close();
    await way?.close();
    await server?.stop();
  });

  it('is heard at once, once it is committed, and again after the way was lost', async () => {
    let heard = 0;
    const end = listening.listen(() => {
      heard += 1;
    });
    const hears = (count: number) =>
      eventually(
        async () => heard,
        (value) => value >= count,
      );
    // Once for what may have been missed before.
    expect(await hears(1)).toBe(1);
    const undone = speaking.transaction(async (tx) => {
      await tx.announce();
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    const at = performance.now();
    await speaking.transaction((tx) => tx.announce());
    expect(await hears(2)).toBe(2);
    expect(performance.now() - at).toBeLessThan(1_000);

    way.cut();
    await speaking.transaction((tx) => tx.announce());
    await wait(200);
    expect(heard).toBe(2);
    way.heal();
    // Connected again, it is told to look, and hears as before.
    expect(await hears(3)).toBe(3);
    await speaking.transaction((tx) => tx.announce());
    expect(await hears(4)).toBe(4);
    await end();
    await speaking.transaction((tx) => tx.announce());
    await wait(200);
    expect(heard).toBe(4);
  });
});
