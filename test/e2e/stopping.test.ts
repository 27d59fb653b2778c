import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { eventually, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

/** Far more than it takes on a busy machine; what does not end by then never does. */
const PATIENCE_MS = 30_000;

describe('a running server that is told to stop', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    const config = sandbox.configText({ include: ['server-monitor'] });
    writeFileSync(join(folder.path, 'pharos.yaml'), `${config}schedule: "0 0 1 * *"\n`);
  });
  afterAll(async () => {
    await sandbox?.stop();
    folder.remove();
  });

  it.each([
    ['start', 0],
    ['start', 100],
    ['start', 400],
    ['serve', 0],
    ['serve', 50],
  ])('ends although it is reading its configuration again (%s, %d ms after SIGHUP)', async (command, afterMs) => {
    const pharos = await startPharos([command, '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
    await eventually(
      () => fetch(`${pharos.url}/-/fresh`),
      ({ status }) => status === 200,
    );
    process.kill(pharos.pid, 'SIGHUP');
    await new Promise((later) => setTimeout(later, afterMs));
    const watch = setTimeout(pharos.kill, PATIENCE_MS);
    const status = await pharos.stop();
    clearTimeout(watch);
    expect({ status, errors: pharos.stderr().match(/"level":50.*/g) }).toEqual({ status: 0, errors: null });
  });
});
