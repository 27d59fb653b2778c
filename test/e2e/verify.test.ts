import { createReadStream, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/in-process.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

/** An installation that is built, with its files served as by any static host. */
interface Installation {
  readonly folder: string;
  readonly page: string;
  readonly root: string;
  readonly server: Server;
  readonly build: (transparency?: object) => Promise<void>;
}

describe('a page that can be checked', () => {
  const temporary = temporaryFolder();
  const sites: Installation[] = [];

  async function install(name: string): Promise<Installation> {
    const folder = join(temporary.path, name);
    mkdirSync(join(folder, 'posts'), { recursive: true });
    const out = join(folder, 'out');
    const server = createServer((request, response) => {
      const path = join(out, decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
      const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
      if (!existsSync(file)) return void response.writeHead(404).end();
      createReadStream(file).pipe(response.writeHead(200));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const build = async (transparency: object = {}): Promise<void> => {
      writeFileSync(
        join(folder, 'pharos.yaml'),
        JSON.stringify({
          site: { url: root, name },
          transparency,
          upstreams: [{ id: 'posts', kind: 'markdown', path: 'posts' }],
          pages: [{ slug: name, title: name, components: [{ type: 'static', id: 'api', name: 'API' }] }],
        }),
      );
      const { status, stdout, stderr } = await runHere(['build', '--quiet'], { cwd: folder, env: {} });
      expect([status, stdout, stderr]).toEqual([0, expect.anything(), expect.anything()]);
    };
    return { folder, page: `${root}${name}/`, root, server, build };
  }

  beforeAll(async () => {
    for (const name of ['acme', 'beta', 'gamma']) sites.push(await install(name));
    for (const site of sites) await site.build();
  });
  afterAll(() => {
    for (const { server } of sites) server.close().closeAllConnections();
    temporary.remove();
  });

  const at = (index: number): Installation => sites[index] as Installation;
  const seenFile = join(temporary.path, 'seen.json');
  const verify = (url: string, ...more: string[]) =>
    runHere(['verify', url, '--since', seenFile, ...more], { cwd: temporary.path, env: {} });

  it('agrees with its log on any static host, and a second visit compares with the first', async () => {
    const first = await verify(at(0).page);
    expect(first.stdout).toMatch(/first visit/);
    expect(first.stdout).toMatch(/✓ The page matches its log/);
    expect(first.status).toBe(0);
    const second = JSON.parse((await verify(at(0).page, '--json')).stdout);
    expect(second).toMatchObject({ agrees: true, faults: [] });
    expect(second.filesChecked).toBeGreaterThan(15);
    expect(JSON.parse(readFileSync(join(at(0).folder, 'out/.well-known/pharos-key.json'), 'utf8')).keys).toHaveLength(
      1,
    );
  });

  it('agrees at the root of its site too, where files of the site stand among its own', async () => {
    const { status, stdout } = await verify(at(0).root);
    expect(stdout).toMatch(/✓ The page matches its log/);
    expect(status).toBe(0);
  });

  it('names a file that somebody changed on the host', async () => {
    const file = join(at(0).folder, 'out/acme/api/v2/status.json');
    const before = readFileSync(file);
    writeFileSync(file, 'changed');
    const { status, stdout } = await verify(at(0).page);
    writeFileSync(file, before);
    expect(stdout).toMatch(/api\/v2\/status\.json isn’t what was signed/);
    expect(status).toBe(1);
  });

  it('says what it expects when there is no page, and no server', async () => {
    const nowhere = await verify(`${at(0).root}none/`);
    expect([nowhere.status, nowhere.stdout]).toEqual([1, expect.stringMatching(/There is no log at this address/)]);
    expect(nowhere.stdout).toMatch(/✗ Nothing was compared\./);
    expect(nowhere.stdout).not.toContain('does not match');
    expect((await verify('http://127.0.0.1:1/x/')).stderr).toMatch(/can’t be reached/);
    expect((await verify('nonsense')).stderr).toMatch(/not an address/);
  });

  it('is watched by others, as it watches them, and the one that lies is shown', async () => {
    const [acme, beta, gamma] = [at(0), at(1), at(2)];
    const watching = (site: Installation) => ({
      witness: sites.filter((one) => one !== site).map(({ page }) => ({ url: page })),
    });
    for (const site of sites) await site.build(watching(site));
    const word = join(gamma.folder, 'out/.well-known/pharos-witness.txt');
    expect(readFileSync(word, 'utf8')).toContain('"faults":[]');
    // Gamma says something else than it signed.
    const lie = readFileSync(word, 'utf8').replaceAll('"faults":[]', '"faults":["<b>It was down.</b>"]');
    writeFileSync(word, lie);
    const away = 'http://127.0.0.1:1/';
    const agreeing: string[] = [];
    for (const site of [acme, beta, gamma]) {
      const others = sites.filter((one) => one !== site).map(({ root }) => root);
      await site.build({ ...watching(site), witnesses: [...others, away] });
      const name = site.page.slice(site.root.length);
      const html = readFileSync(join(site.folder, 'out', name, 'verify/index.html'), 'utf8');
      agreeing.push(/\d of \d witnesses agree/.exec(html)?.[0] ?? 'none');
      for (const root of others) expect(html).toContain(new URL(root).host);
      expect(html).not.toContain('<b>It was down');
      expect((await verify(site.page)).status).toBe(0);
    }
    expect(agreeing).toEqual(['1 of 3 witnesses agree', '1 of 3 witnesses agree', '2 of 3 witnesses agree']);
  });
});
