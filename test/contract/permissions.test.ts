import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { permissionFinding } from '../../src/cli/doctor/machine.ts';
import { closePages } from '../../src/publish/releases/clean.ts';
import { DISK } from '../../src/publish/releases/disk.ts';
import { type ReleaseFolders, releaseFolders } from '../../src/publish/releases/folders.ts';
import { currentManifest } from '../../src/publish/releases/manifest.ts';
import { closeGated } from '../../src/publish/releases/modes.ts';
import { rollbackTo } from '../../src/publish/releases/rollback.ts';
import { switchTo, withPublishLease } from '../../src/publish/releases/switch.ts';
import { type ReleaseFile, writeRelease } from '../../src/publish/releases/write.ts';
import { copySqlite, openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { testPageLog } from '../helpers/page-log.ts';
import { eventually, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { drawn, htmlOf, inputOf, kept, releaseNumbersFrom, wholeFiles } from '../helpers/release-inputs.ts';
import { page, passwordPage, type Site, siteFolder, T0, Visitor } from './access-fixture.ts';

/** Everything below a folder by its path, with what others than the owner may do; links have no modes of their own. */
function modesIn(root: string): Map<string, number> {
  const modes = new Map<string, number>();
  const walk = (path: string): void => {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return;
    modes.set(path.slice(root.length), stat.mode & 0o777);
    if (stat.isDirectory()) for (const name of readdirSync(path)) walk(join(path, name));
  };
  walk(root);
  return modes;
}

const others = (modes: ReadonlyMap<string, number>): string[] =>
  [...modes].filter(([, mode]) => (mode & 0o077) !== 0).map(([path]) => path);

describe.each([0o000, 0o022, 0o077])('with the umask %o', (umask) => {
  let data: string;
  let folders: ReleaseFolders;
  let nextNumber: ReturnType<typeof releaseNumbersFrom>;
  let before: number;

  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'pharos-modes-'));
    folders = releaseFolders(data);
    nextNumber = releaseNumbersFrom();
    before = process.umask(umask);
  });
  afterEach(() => {
    process.umask(before);
    rmSync(data, { recursive: true });
  });

  async function publish(files: readonly ReleaseFile[], access: 'public' | 'password', slug = 'acme') {
    const place = { disk: DISK, folders, nextNumber };
    const manifest = await writeRelease(place, inputOf(files, { access, slug }), currentManifest(folders, slug));
    await switchTo(place, { slug, number: manifest.number, isPublic: access === 'public' });
    return manifest;
  }
  const pageFolder = (slug = 'acme') => join(folders.releases, slug);
  const changed = (word: string): ReleaseFile[] =>
    wholeFiles('one').map(({ path }) => (path === 'index.html' ? drawn(path, htmlOf(word)) : kept(path)));

  it('a gated page is its owner’s only, whatever it was before', async () => {
    await publish(wholeFiles('one'), 'password');
    expect(others(modesIn(pageFolder()))).toEqual([]);
    expect(lstatSync(folders.privateSite).mode & 0o777).toBe(0o700);
    expect(lstatSync(folders.releases).mode & 0o066).toBe(0);
    await publish(changed('two'), 'public');
    await publish(changed('three'), 'password');
    expect(others(modesIn(pageFolder()))).toEqual([]);
    await publish(changed('four'), 'public');
    const standing = { isOpen: () => false, isReplaced: () => false };
    expect(await closePages({ disk: DISK, folders }, standing, () => null)).toEqual(['acme']);
    expect(lstatSync(pageFolder()).mode & 0o777).toBe(0o700);
  });

  it('a public page can be read by a web server as far as the umask lets it, and what it is drawn from cannot', async () => {
    await publish(wholeFiles('one'), 'public');
    const modes = modesIn(pageFolder());
    for (const [path, mode] of modes) {
      const isOwn = /\/(data|manifest)\.json$/.test(path);
      const wanted = isOwn ? 0o600 : lstatSync(pageFolder() + path).isDirectory() ? 0o755 : 0o644;
      expect([path, mode]).toEqual([path, wanted & ~umask]);
    }
    // From behind a gate it comes out whole, with what it shares.
    await publish(changed('two'), 'password');
    const manifest = await publish(changed('three'), 'public');
    for (const path of Object.keys(manifest.files))
      expect(lstatSync(join(folders.publicSite, 'acme', path)).mode & 0o004, path).toBe(0o004 & ~umask);
    const { database } = openSqlite(join(data, 'x.db'), T0);
    await rollbackTo(
      {
        folders,
        disk: DISK,
        database,
        log: testPageLog(database),
        now: () => T0,
        sleep: async () => undefined,
      },
      { slug: 'acme', release: 1 },
    );
    for (const path of Object.keys(manifest.files))
      expect(lstatSync(join(folders.publicSite, 'acme', path)).mode & 0o004, path).toBe(0o004 & ~umask);
  });

  it('what another version left open is closed at the start, and said by the doctor until then', async () => {
    await publish(wholeFiles('one'), 'password');
    await publish(wholeFiles('one'), 'public', 'open');
    openSqlite(join(data, 'pharos.db'), T0);
    expect(permissionFinding(data).result).toBe('ok');
    chmodSync(pageFolder(), 0o755);
    chmodSync(join(pageFolder(), '1', 'files', 'index.html'), 0o644);
    chmodSync(join(data, 'pharos.db'), 0o644);
    expect(permissionFinding(data)).toMatchObject({
      result: 'warning',
      message: expect.stringContaining('pharos.db and 1 more'),
    });
    closeGated({ disk: DISK, folders });
    openSqlite(join(data, 'pharos.db'), T0);
    expect(others(modesIn(pageFolder()))).toEqual([]);
    expect(permissionFinding(data).result).toBe('ok');
    expect(lstatSync(pageFolder('open')).mode & 0o001).toBe(0o001 & ~umask);
  });

  it('the database, its log and its backups are their owner’s only', async () => {
    const { database } = openSqlite(join(data, 'pharos.db'), T0);
    await database.transaction((tx) => tx.run('DELETE FROM release_number', []));
    await copySqlite(join(data, 'pharos.db'), join(data, 'backup.db'));
    const modes = modesIn(data);
    expect([...modes.keys()].filter((path) => path.startsWith('/pharos.db'))).toHaveLength(3);
    expect(others(modes).filter((path) => path !== '')).toEqual([]);
    await expect(copySqlite(join(data, 'pharos.db'), join(data, 'backup.db'))).rejects.toThrow('EEXIST');
    await database.close();
  });
});

describe('a server with the umask 000', () => {
  it('writes nothing into its data folder that others can read or change, except public pages', async () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      `site: { url: "https://status.example.com" }
server: { port: 0 }
upstreams: [{ id: posts, kind: markdown, path: ./posts }]
pages:
  - { slug: open, title: Open, components: [{ type: static, name: Desk }] }
  - { slug: vault, title: Vault, access_type: password, password: "\${WORD}", components: [{ type: static, name: Desk }] }
`,
    );
    mkdirSync(join(folder.path, 'posts'));
    const data = join(folder.path, 'data');
    const env = { WORD: 'a long password' };
    const before = process.umask(0);
    try {
      const first = await startPharos(['start'], { cwd: folder.path, env });
      await eventually(
        async () => existsSync(join(data, 'site', 'public', 'open', 'index.html')),
        (isThere) => isThere,
      );
      await first.stop();
      // As an earlier version left it, until the next publish.
      chmodSync(join(data, 'folder-id'), 0o666);
      const { database } = openSqlite(join(folder.path, 'other.db'), T0);
      const deps = { database, folders: releaseFolders(data), now: () => T0, sleep: async () => undefined };
      await withPublishLease(deps, async () => undefined);
      await database.close();
    } finally {
      process.umask(before);
    }
    const modes = modesIn(data);
    for (const name of ['folder-id', 'published.json', 'secret.key', 'pharos.db'])
      expect([name, modes.get(`/${name}`)]).toEqual([name, 0o600]);
    const isPublic = (path: string): boolean => /^\/(?:releases\/(?:open|_site)|site)(?:\/|$)/.test(path);
    const opened = others(modes).filter((path) => !isPublic(path));
    // Whoever passes through these can't list them.
    expect(opened.map((path) => [path, modes.get(path)])).toEqual([
      ['', 0o711],
      ['/releases', 0o711],
    ]);
    folder.remove();
  });
});

describe('an e-mail address', () => {
  it('is gone from the database, its log and a new backup once its mail is out', async () => {
    const folder = siteFolder();
    const site: Site = await folder.open();
    await site.access.setPages([
      page('open'),
      passwordPage('vault'),
      page('team', { access: 'email-domain', emailDomains: ['corp.example'] }),
    ]);
    const addresses = Array.from({ length: 8 }, (_, one) => `visitor-${one}.canary-4711@corp.example`);
    const holders = (): string[] => {
      const home = join(folder.file, '..');
      return readdirSync(home).filter((name) => readFileSync(join(home, name)).includes('canary-4711'));
    };
    for (const [one, email] of addresses.entries())
      await new Visitor(site, { clientAddress: `198.51.${one}.1` }).post('team', 'login/', { email });
    expect(holders()).not.toEqual([]);
    await site.access.tend();
    expect(site.mails.map(({ to }) => to).sort()).toEqual(addresses);
    expect(holders()).toEqual([]);
    await copySqlite(folder.file, `${folder.file}.backup`);
    expect(holders()).toEqual([]);
    await site.close();
    folder.remove();
  });
});
