/** A page that is closed while it is being published is not on the public side afterwards. */

import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPagePublisher, type PagePublisherDeps } from '../../../src/publish/page-release.ts';
import { DISK } from '../../../src/publish/releases/disk.ts';
import {
  filesFolder,
  type ReleaseFolders,
  releaseFolder,
  releaseFolders,
} from '../../../src/publish/releases/folders.ts';
import type { Manifest } from '../../../src/publish/releases/manifest.ts';

let root: string;
let folders: ReleaseFolders;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pharos-switch-'));
  folders = releaseFolders(root);
});
afterEach(() => rmSync(root, { recursive: true }));

/** A release as it is on disk before the switch. */
function written(number: number, access: Manifest['access'] = 'public'): Manifest {
  mkdirSync(filesFolder(folders, 'acme', number), { recursive: true });
  writeFileSync(join(filesFolder(folders, 'acme', number), 'index.html'), 'x');
  return {
    ...{ format: 3, slug: 'acme', number, access, asOf: 0, eventKey: '', customDomain: null, completes: null },
    ...{ files: {}, folders: {}, dataSha256: '' },
  };
}

/** Switches while the access rules answer one after the other; what happens inside the fence is up to `during`. */
async function switchWhile(manifest: Manifest, answers: boolean[], during = (): void => undefined): Promise<void> {
  const deps = { folders, disk: DISK, mayServe: async () => answers.shift(), onSwitched: () => undefined };
  const fence = {
    pass: async (task: () => Promise<void>) => {
      during();
      await task();
    },
  };
  const onto = { number: manifest.number === 1 ? null : manifest.number - 1 };
  await createPagePublisher(deps as unknown as PagePublisherDeps).switchTo(manifest, onto, fence);
  expect(answers).toEqual([]);
}

const publicLink = (): string => join(folders.publicSite, 'acme');

describe('a switch', () => {
  it('serves a release as long as the page is open', async () => {
    await switchWhile(written(1), [true, true]);
    expect(readlinkSync(publicLink())).toMatch(/releases\/acme\/1\/files$/);
  });

  it('takes the public link away again if the page was closed in between', async () => {
    await switchWhile(written(1), [true, true]);
    await switchWhile(written(2), [true, false]);
    expect(existsSync(publicLink())).toBe(false);
    // The release itself is kept: nobody can reach it, and the page may be opened again.
    expect(existsSync(releaseFolder(folders, 'acme', 2))).toBe(true);
  });

  it('does not happen if the page was closed before, and discards the release', async () => {
    await switchWhile(written(1), [true, true]);
    await expect(switchWhile(written(2), [false])).rejects.toThrow('access rules changed');
    expect(readlinkSync(publicLink())).toMatch(/releases\/acme\/1\/files$/);
    expect(existsSync(releaseFolder(folders, 'acme', 2))).toBe(false);
  });

  it('does not happen if another release was switched to in between', async () => {
    await switchWhile(written(1), [true, true]);
    const other = (): void => {
      written(3);
      rmSync(publicLink());
      DISK.symlink(filesFolder(folders, 'acme', 3), publicLink());
    };
    await expect(switchWhile(written(2), [true], other)).rejects.toThrow('release 3 is now being served');
    expect(existsSync(releaseFolder(folders, 'acme', 2))).toBe(false);
  });

  it.each([
    ['its access rules changed while it was being rendered', 'The next run tries again.'],
    ['no space left on device', 'Check disk space and permissions of the data folder.'],
  ])('that fails because %s says: %s', async (reason, remedy) => {
    const fail = async (): Promise<boolean> => {
      if (reason.startsWith('its')) return false;
      throw Object.assign(new Error(reason), { code: 'ENOSPC' });
    };
    const deps = { folders, disk: DISK, mayServe: fail } as unknown as PagePublisherDeps;
    const planned = { page: { definition: { slug: 'acme' } } } as never;
    const workers = { prepare: async () => ({ manifest: written(1) }) } as never;
    const publishing = createPagePublisher(deps).publish(planned, (use) => use(null as never), workers);
    await expect(publishing).rejects.toThrow(`${reason}. The previous release stays online. ${remedy}`);
  });

  it('of a private page makes no public link, whatever it was before', async () => {
    await switchWhile(written(1), [true, true]);
    await switchWhile(written(2, 'password'), [true]);
    expect(existsSync(publicLink())).toBe(false);
    expect(readlinkSync(join(folders.privateSite, 'acme'))).toMatch(/releases\/acme\/2\/files$/);
  });
});
