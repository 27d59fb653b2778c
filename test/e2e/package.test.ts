/** What `npm pack` makes, installed as npm would without asking anybody: the packages that are here already stand in. */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { ROOT } from '../helpers/documents.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';

const PACKED_BYTES_MAX = 3_000_000;
const INSTALLED_BYTES_MAX = 200_000_000;
const folder = temporaryFolder();
const installed = join(folder.path, 'node_modules');
const bin = join(installed, 'pharos', 'bin', 'pharos.js');
let tarball: string;
let files: readonly string[];

beforeAll(() => {
  execFileSync('npm', ['pack', '--pack-destination', folder.path], { cwd: ROOT, stdio: 'pipe' });
  tarball = join(folder.path, `pharos-${packageJson.version}.tgz`);
  mkdirSync(join(installed, 'pharos'), { recursive: true });
  execFileSync('tar', ['xzf', tarball, '-C', join(installed, 'pharos'), '--strip-components=1']);
  files = readdirSync(join(installed, 'pharos'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(installed, 'pharos', path)).isFile(),
  );
  // Those that it names and no other, so that one it forgot to name is missed.
  for (const name of Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies })) link(name);
});

afterAll(folder.remove);

function link(name: string): void {
  if (!existsSync(join(ROOT, 'node_modules', name)) || existsSync(join(installed, name))) return;
  mkdirSync(dirname(join(installed, name)), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), join(installed, name));
}

/** Whether a path of the lock is a package that Node comes in. */
function isNode(path: string): boolean {
  return Object.hasOwn(packageJson.optionalDependencies, path.slice('node_modules/'.length));
}

/** What a package takes on a disk, without packages of its own. */
function diskBytes(path: string): number {
  return readdirSync(path, { withFileTypes: true }).reduce((bytes, entry) => {
    if (entry.name === 'node_modules' && path.startsWith(join(ROOT, 'node_modules'))) return bytes;
    const below = join(path, entry.name);
    return bytes + (entry.isDirectory() ? diskBytes(below) : 512 * (statSync(below).blocks ?? 0));
  }, 0);
}

/** A folder with nothing in it, below what was installed. */
function emptyFolder(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
}

describe('the package', () => {
  it('is small, and holds compiled code with its maps, the sources of pages and no tests', () => {
    expect(statSync(tarball).size).toBeLessThan(PACKED_BYTES_MAX);
    expect(files.filter((path) => /(^|\/)tests?\/|^scripts\/|\.test\./.test(path))).toEqual([]);
    const sources = files.filter((path) => /\.(?:astro|ts)$/.test(path) && !path.endsWith('.d.ts'));
    const ofPages =
      /^src\/(?:components|layouts|looks|model|pages|views|publish\/draw)\/|^src\/(?:errors|schema\/nearest)\.ts$/;
    expect(sources.filter((path) => !ofPages.test(path))).toEqual([]);
    const compiled = files.filter((path) => /^lib\/(?!node_modules|renderer).*\.js$/.test(path));
    expect(compiled.length).toBeGreaterThan(400);
    expect(compiled.filter((path) => !files.includes(`${path}.map`))).toEqual([]);
    const [renderer, ...others] = readdirSync(join(installed, 'pharos', 'lib', 'renderer'));
    expect([typeof renderer, others]).toEqual(['string', []]);
  });

  it('takes less than 200 MB where it is installed, besides Node', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
    };
    const shipped = Object.entries(packages).flatMap(([path, { dev, devOptional }]) =>
      path === '' || dev === true || devOptional === true || isNode(path) ? [] : join(ROOT, path),
    );
    const folders = [join(installed, 'pharos'), ...shipped.filter((path) => existsSync(path))];
    expect(folders.length).toBeGreaterThan(80);
    const sum = folders.reduce((bytes, path) => bytes + diskBytes(path), 0);
    expect(sum).toBeGreaterThan(50_000_000);
    expect(sum).toBeLessThan(INSTALLED_BYTES_MAX);
  });

  it('maps its code to the sources that it was made of', () => {
    const map = JSON.parse(readFileSync(join(installed, 'pharos', 'lib', 'badges', 'render.js.map'), 'utf8')) as {
      readonly sources: readonly string[];
      readonly mappings: string;
    };
    // By name and line: with their text the package would be a third larger.
    expect(map.sources).toEqual(['../../src/badges/render.ts']);
    expect(map.mappings.length).toBeGreaterThan(1_000);
  });

  it('asks for no script to be run when it is installed', () => {
    expect(packageJson).not.toHaveProperty('private');
    const names = Object.keys(packageJson.scripts);
    expect(names.filter((name) => ['preinstall', 'install', 'postinstall', 'prepare'].includes(name))).toEqual([]);
  });

  const older = olderNode();
  it(`runs the sandbox where there is nothing${older === null ? '' : ', handed over by an older Node'}`, async () => {
    const cwd = emptyFolder('sandbox');
    const { text, status } = await served([older ?? process.execPath, bin, 'start', '--port', '0'], cwd);
    expect(text).toContain('Acme');
    expect(status).toBe(0);
  });

  it.skipIf(older === null)(
    `says what an older Node lacks where its own is missing${older === null ? ' (skipped: there is no older Node here)' : ''}`,
    () => {
      const cwd = emptyFolder('older');
      const name = Object.keys(packageJson.optionalDependencies).find((one) => existsSync(join(installed, one)));
      rmSync(join(installed, String(name)));
      const said = (): string => {
        try {
          return execFileSync(String(older), [bin, '--version'], { cwd, encoding: 'utf8', stdio: 'pipe' });
        } catch (error) {
          return (error as { stderr: string }).stderr;
        }
      };
      expect(said()).toMatch(/^pharos needs Node 26 or newer; this is \d+\.\d+\.\d+\. Install Node 26 .*\n$/);
      link(String(name));
      expect(said()).toBe(`${packageJson.version}\n`);
    },
  );

  it('builds what a configuration says', () => {
    const cwd = emptyFolder('configured');
    mkdirSync(join(cwd, 'posts'));
    writeFileSync(
      join(cwd, 'pharos.yaml'),
      [
        'site: { url: "https://status.example.com", name: Example }',
        'upstreams: [{ id: posts, kind: markdown, path: ./posts }]',
        'pages: [{ slug: example, title: Example Services, components: [{ type: static, name: Support }] }]',
        '',
      ].join('\n'),
    );
    execFileSync(process.execPath, [bin, 'build', '--quiet', '--out', 'out'], { cwd, stdio: 'pipe' });
    expect(readFileSync(join(cwd, 'out', 'index.html'), 'utf8')).toContain('Example Services');
  });

  describe('with components of an operator’s own', () => {
    const asked = Object.entries(packageJson.peerDependencies).map(([name, version]) => `${name}@${version}`);
    let cwd: string;
    beforeAll(() => {
      cwd = emptyFolder('own');
      cpSync(join(ROOT, 'docs/look-example'), cwd, { recursive: true });
    });
    afterAll(() => {
      for (const name of Object.keys(packageJson.peerDependencies)) rmSync(join(installed, name), { force: true });
    });
    const build = () => spawnSync(process.execPath, [bin, 'build', '--quiet'], { cwd, encoding: 'utf8' });

    it('says what to install beside it where that is missing, or is another version', () => {
      const said = `Run "npm install ${asked.join(' ')}" where Pharos is installed.`;
      expect(readFileSync(join(ROOT, 'docs/components.md'), 'utf8')).toContain(`npm install ${asked.join(' ')}\n`);
      const missing = build();
      expect([missing.status === 0, missing.stderr.trim().split('\n')]).toEqual([
        false,
        [
          `Own components are built with @astrojs/node and astro, and @astrojs/node and astro is missing or of another version. ${said}`,
        ],
      ]);
      link('@astrojs/node');
      mkdirSync(join(installed, 'astro'));
      writeFileSync(join(installed, 'astro/package.json'), '{ "name": "astro", "version": "1.0.0" }');
      expect(build().stderr).toContain(`and astro is missing or of another version. ${said}`);
      rmSync(join(installed, 'astro'), { recursive: true });
    });

    it('builds them, tells the line of an error in them, and writes nothing beside itself', () => {
      for (const name of Object.keys(packageJson.peerDependencies)) link(name);
      const before = readdirSync(join(installed, 'pharos'));
      const { status, stderr } = build();
      expect([status, stderr]).toEqual([0, '']);
      expect(readFileSync(join(cwd, 'data/site/public/northwind/index.html'), 'utf8')).toContain('Northwind Trading');
      expect(readdirSync(join(installed, 'pharos')).filter((name) => !before.includes(name))).toEqual([]);
      const banner = join(cwd, 'components/Banner.astro');
      writeFileSync(banner, readFileSync(banner, 'utf8').replace('const { state, heading,', 'const { state,, heading'));
      expect(build().stderr).toContain(`${banner}:8`);
    });
  });

  it('says so where its compiled pages are missing', () => {
    const renderer = join(installed, 'pharos', 'lib', 'renderer');
    renameSync(renderer, `${renderer}-away`);
    const { status, stderr } = spawnSync(process.execPath, [bin, 'build', '--quiet'], {
      cwd: join(folder.path, 'configured'),
      encoding: 'utf8',
    });
    renameSync(`${renderer}-away`, renderer);
    expect([status === 0, stderr.split('\n').at(-2)]).toEqual([
      false,
      expect.stringMatching(/^This copy of Pharos is incomplete: it has no compiled pages in .*\. Install it again /),
    ]);
  });

  it('writes the templates that it came with, and upgrades its database', () => {
    const cwd = emptyFolder('begun');
    const run = (...args: readonly string[]): string =>
      execFileSync(process.execPath, [bin, ...args], {
        cwd,
        encoding: 'utf8',
        stdio: 'pipe',
        env: { ...process.env, PHAROS_TOKEN: '0123456789abcdef'.repeat(3) },
      });
    expect(run('init', '--yes', '--deploy', 'github-pages')).toContain('Your first page: http://127.0.0.1:4321/');
    expect(readFileSync(join(cwd, '.github', 'workflows', 'pharos.yml'), 'utf8')).toContain('npx pharos build');
    const [, schema = ''] = /\$schema=(.+)$/m.exec(readFileSync(join(cwd, 'pharos.yaml'), 'utf8')) ?? [];
    expect(existsSync(join(cwd, schema))).toBe(true);
    expect(run('store', 'migrate')).toMatch(/^Created a new database with version \d+\.\n$/);
    expect(run('check')).toContain('pharos.yaml');
  });

  it('misses nothing that it does not need', () => {
    const cwd = emptyFolder('doctor');
    const { status, stdout } = spawnSync(process.execPath, [bin, 'doctor', '--no-network', '--json'], {
      cwd,
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    expect(status).toBe(0);
  });

  it('says so where it is not compiled', () => {
    const cwd = emptyFolder('bare');
    mkdirSync(join(cwd, 'bin'));
    cpSync(bin, join(cwd, 'bin', 'pharos.js'));
    const { status, stderr } = spawnSync(process.execPath, [join(cwd, 'bin', 'pharos.js'), '--version'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^This copy of Pharos has no compiled code\. .*\n$/)]);
  });

  it('can be imported with its types in a plain TypeScript project', () => {
    const cwd = emptyFolder('typed');
    const lines = [
      "import { type BadgeFields, renderBadge } from 'pharos/badges';",
      "import { uptimeOf } from 'pharos/model';",
      "import type { BannerProps } from 'pharos/parts';",
      "const fields: BadgeFields = { label: 'build', message: 'passing', color: 'green' };",
      'const svg: string = renderBadge(fields);',
      'const heading = (banner: BannerProps): string => `${banner.state} ${banner.heading}`;',
      '// @ts-expect-error a label is a text',
      "const wrong = (): string => renderBadge({ label: 1, message: 'x' });",
      '// @ts-expect-error a heading is a text',
      'const other = (banner: BannerProps): number => banner.heading;',
      'console.log(svg, typeof uptimeOf, typeof wrong, typeof heading, typeof other);',
      '',
    ];
    for (const file of ['badge.mts', 'badge.cts']) writeFileSync(join(cwd, file), lines.join('\n'));
    const compile = join(ROOT, 'node_modules', '.bin', 'tsc');
    // Are The Types Wrong, below, tries the rules of Node 16.
    for (const [module, resolution, ...sources] of [
      ['Preserve', 'Bundler', 'badge.mts'],
      // `require` of modules: Node 20.19 and later.
      ['NodeNext', 'NodeNext', 'badge.mts', 'badge.cts'],
    ] as const) {
      const options = [
        '--strict',
        '--module',
        module,
        '--moduleResolution',
        resolution,
        '--target',
        'ES2022',
        '--types',
        '',
      ];
      execFileSync(compile, [...options, ...sources], { cwd, stdio: 'pipe' });
    }
    for (const file of ['badge.mjs', 'badge.cjs']) {
      const printed = execFileSync(older ?? process.execPath, [file], { cwd, encoding: 'utf8' });
      expect(printed).toMatch(/^<svg [\s\S]*passing[\s\S]*<\/svg> function function function function\n$/);
    }
  });

  it('has nothing that publint and Are The Types Wrong object to, but that it is modules only', async () => {
    const bytes = readFileSync(tarball);
    const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, level: 'suggestion' });
    expect(messages).toEqual([]);
    const found = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
    if (!('problems' in found)) throw new Error('the package has no types');
    expect(Object.keys(found.entrypoints)).toEqual(['./badges', './model', './parts', './package.json']);
    // Seen by TypeScript's `node16` in a file of the old kind; Node itself takes them, as the test above shows.
    expect(found.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM')).toEqual([]);
  });
});

/** Starts it, reads the first page of the sandbox once it is there, and ends it. */
async function served(command: readonly string[], cwd: string): Promise<{ text: string; status: number | null }> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  try {
    const url = await eventually(
      async () => /Pharos serves (\S+)\//.exec(said)?.[1],
      (found) => found !== undefined,
    );
    const answer = await eventually(
      async () => fetch(`${url}/acme/`),
      ({ status }) => status === 200,
    );
    const text = await answer.text();
    child.kill('SIGTERM');
    return { text, status: await ended };
  } finally {
    child.kill('SIGKILL');
  }
}

/** The machine's Node beside the one that runs this test; null: there is none that is older than Pharos needs. */
function olderNode(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
  const found = folders.map((path) => join(path, 'node')).find((path) => existsSync(path));
  if (found === undefined) return null;
  const version = execFileSync(found, ['--version'], { encoding: 'utf8' });
  return Number.parseInt(version.slice(1), 10) < 26 ? found : null;
}
