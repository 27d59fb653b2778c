import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/in-process.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import { callApi, startWritingSite, WRITING_ENV } from '../helpers/writing-site.ts';

describe('pharos incident', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;

  beforeAll(async () => {
    pharos = await startWritingSite(folder.path);
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  /** Each command once as a user runs it, a process that ends by itself; what else is tried of it, in this one. */
  const command = (...args: string[]) => runWarm(args, { cwd: folder.path, env: WRITING_ENV });
  const commandAgain = (...args: string[]) => runHere(args, { cwd: folder.path, env: WRITING_ENV });
  const incidents = async () => {
    const answer = await fetch(`${pharos.url}/acme/api/v2/incidents.json`);
    return (await answer.json()).incidents.map(({ name, status }: Record<string, string>) => `${name}: ${status}`);
  };

  it('declares, updates and resolves through the running server', async () => {
    const at = ['--page', 'acme', '--url', pharos.url, '--json'];
    const made = await command('incident', 'new', 'From a shell', '--component', 'acme/api=partial_outage', ...at);
    expect([made.status, made.stderr]).toEqual([0, '']);
    const { id, impact } = JSON.parse(made.stdout);
    expect(impact).toBe('major');
    expect(await incidents()).toEqual(['From a shell: investigating']);
    expect((await command('incident', 'update', id, '--status', 'monitoring', '--body', 'Fixed?', ...at)).status).toBe(
      0,
    );
    expect(await incidents()).toEqual(['From a shell: monitoring']);
    expect((await command('incident', 'resolve', id, ...at)).status).toBe(0);
    expect(await incidents()).toEqual(['From a shell: resolved']);
    const wrong = await commandAgain('incident', 'new', 'x', '--component', 'vault=major_outage', ...at);
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('components.vault')]);
    const nothing = await commandAgain('incident', 'update', id, ...at);
    expect([nothing.status, nothing.stderr]).toEqual([2, expect.stringContaining('Nothing to update')]);
  });

  it('needs only an address and PHAROS_TOKEN to reach a server from elsewhere', async () => {
    const elsewhere = temporaryFolder();
    const at = ['--page', 'acme', '--url', pharos.url];
    const there = (env: Readonly<Record<string, string>>, ...args: string[]) =>
      runHere([...args, ...at], { cwd: elsewhere.path, env });
    const token = { PHAROS_TOKEN: WRITING_ENV['PHAROS_TOKEN'] ?? '' };
    const made = await runWarm(['incident', 'new', 'From elsewhere', '--json', ...at], {
      cwd: elsewhere.path,
      env: token,
    });
    expect([made.status, made.stderr]).toEqual([0, '']);
    const { id } = JSON.parse(made.stdout);
    expect(await incidents()).toContain('From elsewhere: investigating');
    expect(readdirSync(elsewhere.path)).toEqual([]);
    expect((await there(token, 'incident', 'resolve', id)).status).toBe(0);
    expect((await there(token, 'rebuild', '--quiet')).status).toBe(0);
    for (const command of [['incident', 'new', 'x'], ['rebuild']]) {
      const refused = await there({}, ...command);
      expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('Set PHAROS_TOKEN')]);
    }
    elsewhere.remove();
  });

  it('writes into the store where no server runs, and its next start publishes that', async () => {
    await pharos.stop();
    const config = join(folder.path, 'pharos.yaml');
    // A port that nobody listens at.
    writeFileSync(config, readFileSync(config, 'utf8').replace('server: {', 'server: { port: 1,'));
    const made = await command('incident', 'new', 'While it was down', '--page', 'acme', '--component', 'web');
    expect([made.status, made.stdout]).toEqual([0, expect.stringMatching(/No server responds at http:\S+\. Stored/)]);
    pharos = await startWritingSite(folder.path);
    expect(await eventually(incidents, (found) => found.length === 3)).toEqual([
      'While it was down: investigating',
      'From elsewhere: resolved',
      'From a shell: resolved',
    ]);
    const out = await command('posts', 'export', '--out', 'exported', '--json');
    const { files } = JSON.parse(out.stdout) as { files: string[] };
    expect(files).toHaveLength(3);
    const again = () => commandAgain('posts', 'export', '--out', 'exported');
    const same = await again();
    expect([same.status, same.stdout]).toEqual([0, files.map((file) => `${file} (already there)\n`).join('')]);
    const [edited = ''] = files;
    writeFileSync(edited, 'Mine.');
    const differs = await again();
    expect([differs.status, differs.stdout.match(/already there|skipped \S+: it differs from \S+\.md/g)]).toEqual([
      1,
      ['already there', 'already there', expect.stringContaining(edited)],
    ]);
    expect(readFileSync(edited, 'utf8')).toBe('Mine.');
  });

  it('shows drafts in a preview only, and is not written by a process that only serves', async () => {
    const draft = await commandAgain('incident', 'new', 'Not yet', '--page', 'acme', '--draft', '--url', pharos.url);
    expect(draft.status).toBe(0);
    expect(await (await fetch(`${pharos.url}/acme/`)).text()).not.toContain('Not yet');
    const preview = await startWarm(['preview', '--quiet'], { cwd: folder.path, env: WRITING_ENV });
    expect(await (await fetch(`${preview.url}/acme/`)).text()).toContain('Not yet');
    expect((await callApi(preview.url, 'GET', 'pages/acme/incidents')).status).toBe(404);
    expect(await preview.stop()).toBe(0);
    const serving = await startWarm(['serve', '--port', '0'], { cwd: folder.path, env: WRITING_ENV });
    const body = { incident: { name: 'Nowhere' } };
    expect((await callApi(serving.url, 'POST', 'pages/acme/incidents', { body })).status).toBe(409);
    expect((await callApi(serving.url, 'GET', 'pages/acme/incidents')).status).toBe(200);
    expect(await serving.stop()).toBe(0);
  });

  it('writes and updates a file where a folder is named', async () => {
    mkdirSync(join(folder.path, 'posts'), { recursive: true });
    const made = await command('incident', 'new', 'By file', '--page', 'acme', '--folder', 'posts');
    expect(made.status).toBe(0);
    const file = made.stdout.trim();
    const id = file.split('/').at(-1) ?? '';
    expect((await commandAgain('incident', 'resolve', id, '--folder', 'posts', '--body', 'Over.')).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/\n## \d{4}-\S+Z resolved\n\nOver\.\n$/);
    const about = await commandAgain(
      'incident',
      'new',
      'Of api',
      '--page',
      'acme',
      '--component',
      'api',
      '--folder',
      'posts',
    );
    expect(readFileSync(about.stdout.trim(), 'utf8')).toContain('components:\n  - acme/api\n');
    for (const name of ['nosuch', '../pharos.yaml'])
      expect((await commandAgain('incident', 'resolve', name, '--folder', 'posts')).status).toBe(2);
  });

  it('writes no file that the upstream couldn’t read', async () => {
    const files = readdirSync(join(folder.path, 'posts'));
    const incident = ['incident', 'new', 'x', '--folder', 'posts'];
    const maintenance = ['maintenance', 'new', 'x', '--folder', 'posts', '--page', 'acme', '--for', '1h'];
    for (const [message, ...args] of [
      ['components.0: expected <page slug>/<component id>', ...incident, '--component', 'api'],
      ['monitors.0: ', ...incident, '--monitor', '12'],
      ['repeat: ', ...maintenance, '--starts', '2099-01-01T00:00:00Z', '--repeat', 'on Sundays'],
      ['timezone: ', ...maintenance, '--starts', '2099-01-01T00:00:00Z', '--timezone', 'Berlin'],
      [
        'repeat: never occurs after starts',
        ...[...maintenance, '--starts', '2099-01-01T00:00:00Z', '--repeat', 'FREQ=DAILY;UNTIL=20260101T000000Z'],
      ],
      [
        'to: must be after from',
        ...['announcement', 'new', 'x', '--folder', 'posts', '--page', 'acme', '--until', '2026-01-01T00:00:00Z'],
      ],
    ]) {
      const refused = await commandAgain(...args);
      expect([refused.status, refused.stdout], message).toEqual([2, '']);
      expect(refused.stderr).toContain(message);
    }
    expect(readdirSync(join(folder.path, 'posts'))).toEqual(files);
    const texts = [
      ['---\ntype: announcement\ntitle: We moved\nfrom: 2026-11-01T00:00:00Z\n---\n', 'is of type announcement'],
      [
        '---\ntype: maintenance\ntitle: Disks\nstarts: 2026-11-01T00:00:00Z\nends: 2026-11-01T01:00:00Z\npages: [acme]\n---\n',
        '"resolved" is not',
      ],
    ] as const;
    for (const [text, message] of texts) {
      writeFileSync(join(folder.path, 'posts', 'other.md'), text);
      const refused = await commandAgain('incident', 'resolve', 'other', '--folder', 'posts');
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain(message);
      expect(readFileSync(join(folder.path, 'posts', 'other.md'), 'utf8')).toBe(text);
    }
    rmSync(join(folder.path, 'posts', 'other.md'));
  });
});
