import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { eventually, type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

interface Uptime {
  readonly components: readonly {
    readonly name: string;
    readonly days: { readonly seconds: Record<string, readonly number[]> };
  }[];
}

const CALM_MS = 4_000;
const CALM_MS_MAX = 40_000;

/** What is read once it has stayed the same for a while. */
async function calmed<T>(read: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + CALM_MS_MAX;
  let known = await read();
  for (let since = performance.now(); performance.now() - since < CALM_MS && performance.now() < deadline; ) {
    await wait(200);
    const next = await read();
    if (!isDeepStrictEqual(next, known)) since = performance.now();
    known = next;
  }
  return known;
}

it('brings history back from a copy made while it ran, into a folder that was empty, with no upstream there', async () => {
  const folder = temporaryFolder();
  const sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()) });
  const started: RunningPharos[] = [];
  try {
    const env = sandbox.environment();
    const config = `${sandbox.configText()}schedule: "* * * * * *"\n`;
    const start = async (place: string): Promise<RunningPharos> => {
      const pharos = await startWarm(['start', '--port', '0'], { cwd: join(folder.path, place), env });
      started.push(pharos);
      return pharos;
    };
    const pastOf = async ({ url }: RunningPharos): Promise<Map<string, string>> => {
      const { components } = (await (await fetch(`${url}/acme/api/uptime.json`)).json()) as Uptime;
      // Today goes on, and ends otherwise in each of the two.
      return new Map(
        components.map(({ name, days }) => [
          name,
          JSON.stringify(Object.entries(days.seconds).map(([state, figures]) => [state, figures.slice(0, -1)])),
        ]),
      );
    };
    for (const place of ['first', 'second']) {
      mkdirSync(join(folder.path, place, 'data'), { recursive: true });
      writeFileSync(join(folder.path, place, 'pharos.yaml'), config);
    }
    const first = await start('first');
    await untilFresh(first);
    // The past that upstreams are asked for after the first states arrives in pieces.
    const withPast = (past: Map<string, string>): number =>
      [...past.values()].filter((days) => days.includes('86400')).length;
    await eventually(
      () => pastOf(first),
      (past) => withPast(past) > 3,
    );
    const arrived = await calmed(() => pastOf(first));
    const backup = await runWarm(['backup', 'copy.db'], { cwd: join(folder.path, 'first'), env });
    expect([backup.status, backup.stderr]).toEqual([0, '']);
    const past = await pastOf(first);
    expect(past).toEqual(arrived);
    expect(past.size).toBeGreaterThan(3);
    await first.stop();
    await sandbox.stop();

    renameSync(join(folder.path, 'first', 'copy.db'), join(folder.path, 'second', 'data', 'pharos.db'));
    const second = await start('second');
    const page = async (): Promise<number> => (await fetch(`${second.url}/acme/`)).status;
    expect(await eventually(page, (status) => status === 200)).toBe(200);
    expect(await pastOf(second)).toEqual(past);
  } finally {
    await Promise.all(started.map((pharos) => pharos.stop()));
    await sandbox.stop().catch(() => undefined);
    folder.remove();
  }
});
