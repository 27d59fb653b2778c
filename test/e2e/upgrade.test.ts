/** Data folders of earlier versions, as they were left, under this one. `scripts/data-folder.ts` makes one of each version. */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { currentNumber, releaseFolders, SITE_SLUG } from '../../src/publish/releases/folders.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures/upgrade');
const ENV = { EDGE_KEY: 'never asked', PHAROS_TOKEN: '0123456789abcdef'.repeat(3), PW: 'a long password' };
const OPERATOR = { authorization: `Bearer ${ENV.PHAROS_TOKEN}` };

/** A working folder with one of them. */
function dataFolder(date: string): string {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  copyFileSync(join(FIXTURES, date, 'pharos.yaml'), join(folder.path, 'pharos.yaml'));
  mkdirSync(join(folder.path, 'posts'));
  execFileSync('tar', ['-xJf', join(FIXTURES, date, 'data.tar.xz'), '-C', folder.path]);
  return folder.path;
}

describe.each(readdirSync(FIXTURES))('a data folder of %s', (date) => {
  it('starts, is upgraded, published, served and rolled back', async () => {
    const cwd = dataFolder(date);
    const folders = releaseFolders(join(cwd, 'data'));
    const before = currentNumber(folders, 'acme') ?? Number.NaN;
    const pharos = await startWarm(['start', '--host', '127.0.0.1', '--port', '0'], { cwd, env: ENV });
    onTestFinished(pharos.kill);
    await eventually(
      async () => currentNumber(folders, 'acme') ?? before,
      (number) => number > before,
    );
    const statusOf = async (path: string, headers = {}): Promise<number> =>
      (await fetch(`${pharos.url}${path}`, { headers })).status;
    for (const path of ['/acme/', '/acme/history/', '/acme/feed.rss', '/acme/api/v2/summary.json', '/'])
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    expect(await statusOf('/priv/')).not.toBe(200);
    // Its runs were reported by the other version.
    expect(await statusOf('/-/metrics', OPERATOR)).toBe(200);
    const back = await runWarm(['rollback', 'acme', String(before)], { cwd, env: ENV });
    expect(back).toMatchObject({ status: 0, stdout: expect.stringContaining(`Release ${before} of acme`) });
    expect(await statusOf('/acme/')).toBe(200);
    expect(await pharos.stop()).toBe(0);
    expect(pharos.stderr()).not.toMatch(/"level":(?:50|60)/);
  });

  it('is sound to check, diff and doctor, which change nothing', async () => {
    const cwd = dataFolder(date);
    for (const command of [['check', '--offline'], ['diff'], ['doctor', '--no-network']]) {
      const { status, stdout } = await runWarm(command, { cwd, env: ENV });
      expect({ command, status, stdout }).toMatchObject({ status: 0, stdout: expect.not.stringContaining('✗') });
    }
    expect(readdirSync(join(cwd, 'data')).filter((name) => name.includes('version-'))).toEqual([]);
  });

  it('is said to be damaged where it is, and starts nevertheless', async () => {
    const cwd = dataFolder(date);
    const folders = releaseFolders(join(cwd, 'data'));
    const number = currentNumber(folders, 'acme');
    const site = currentNumber(folders, SITE_SLUG);
    writeFileSync(join(cwd, `data/releases/acme/${number}/manifest.json`), '{"format":');
    writeFileSync(join(cwd, `data/releases/${SITE_SLUG}/${site}/data.json`), '[]');
    for (const command of [['check', '--offline'], ['diff'], ['doctor', '--no-network']]) {
      const { stdout } = await runWarm(command, { cwd, env: ENV });
      expect({ command, stdout }).toMatchObject({ stdout: expect.stringContaining(`release ${number}`) });
      expect({ command, stdout }).toMatchObject({ stdout: expect.stringContaining(`release ${site}`) });
    }
    const pharos = await startWarm(['start', '--host', '127.0.0.1', '--port', '0'], { cwd, env: ENV });
    onTestFinished(pharos.kill);
    await eventually(
      () => fetch(`${pharos.url}/acme/`),
      ({ status }) => status === 200,
    );
    expect(await pharos.stop()).toBe(0);
  });
});
