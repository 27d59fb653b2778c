import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { runHere } from '../helpers/in-process.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { credentialsOf } from '../helpers/sandbox.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

describe('commands beside the main job', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let env: Record<string, string>;
  /** Each command once as a user runs it, a process that ends by itself; what else is tried of it, in this one. */
  const run = (...args: string[]) => runWarm(args, { cwd: folder.path, env });
  const runAgain = (...args: string[]) => runHere(args, { cwd: folder.path, env });

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    env = { ...sandbox.environment(), WRITE_KEY: credentialsOf(sandbox).uptime.write.token };
    const text = sandbox.configText({ include: ['server-monitor', 'uptime'] });
    const write =
      /kind: uptime-service[\s\S]*?(?=\n {2}- |\npages)/.exec(text)?.[0]?.replace('${SVC_KEY}', '${WRITE_KEY}') ?? '';
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      `${text.replace('\npages:', `\n  - id: writer\n    ${write.trim()}\n  - { id: posts, kind: markdown, path: ./posts }\npages:`)}schedule: "0 0 1 * *"\n`,
    );
    mkdirSync(join(folder.path, 'posts'));
  });
  afterAll(async () => {
    await sandbox.stop();
    folder.remove();
  });

  it('writes an incident, a maintenance and an announcement that the next build shows', async () => {
    expect(
      (await run('incident', 'new', 'Searches are slow', '--monitor', 'svc/1', '--body', 'We are **looking** into it.'))
        .status,
    ).toBe(0);
    expect(
      (
        await run(
          'maintenance',
          'new',
          'New disks',
          '--page',
          'acme',
          '--monitor',
          'edge/4',
          '--starts',
          '2099-01-01T00:00:00Z',
          '--for',
          '2h',
        )
      ).status,
    ).toBe(0);
    expect(
      (await run('announcement', 'new', 'We moved', '--page', 'acme', '--body', 'See the new address.')).status,
    ).toBe(0);
    expect(readdirSync(join(folder.path, 'posts'))).toHaveLength(3);

    const built = await run('build', '--json');
    expect(built.status, built.stdout + built.stderr).toBe(0);
    const page = readFileSync(join(folder.path, 'out', 'acme', 'index.html'), 'utf8');
    for (const words of [
      'Searches are slow',
      '<strong>looking</strong>',
      'New disks',
      'We moved',
      'See the new address.',
    ])
      expect(page).toContain(words);
  });

  it('never writes over a post, and says what a wrong option should be', async () => {
    const again = await runAgain('incident', 'new', 'Searches are slow', '--page', 'acme', '--folder', 'posts');
    expect(again.stdout).toMatch(/-2\.md/);
    expect((await runAgain('incident', 'new', 'No subject')).stderr).toContain('--page');
    expect(
      (await runAgain('maintenance', 'new', 'x', '--page', 'acme', '--starts', 'tomorrow', '--for', '1h')).stderr,
    ).toContain('2026-11-21T22:00:00Z');
    const planned = ['maintenance', 'new', 'x', '--page', 'acme', '--starts', '2099-01-01T00:00:00Z'];
    expect((await runAgain(...planned, '--for', '0m')).stderr).toMatch(/--for expects a duration .*; got "0m"/);
    expect((await runAgain(...planned, '--ends', '2099-01-01T00:00:00Z')).stderr).toMatch(
      /--ends must be after --starts/,
    );
    expect((await runAgain('incident', 'new', 'x', '--page', 'acme', '--status', 'fixed')).status).toBe(2);
  });

  it('revokes keys as far as the key may, and explains where it may not', async () => {
    const { read, write } = credentialsOf(sandbox).uptime;
    const refused = await run('keys', 'revoke', write.id, '--upstream', 'svc');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('can revoke only itself');
    expect((await runAgain('keys', 'revoke', 'no-such-key', '--upstream', 'writer')).stderr).toMatch(
      /there is no such key/,
    );
    expect((await runAgain('keys', 'revoke', 'x', '--upstream', 'edge')).status).toBe(2);
    expect(await run('keys', 'revoke', read.id, '--upstream', 'svc')).toMatchObject({
      status: 0,
      stdout: `Revoked key ${read.id}.\n`,
    });
    expect((await run('check')).stdout).toMatch(/✗ +svc/);
  });

  it('opens the badges of a gated page, and nothing else, to a token until it is revoked', async () => {
    const pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    try {
      const made = await run('badges', 'token', 'partners');
      expect(made.status, made.stderr).toBe(0);
      const token = new URL(made.stdout.trim()).searchParams.get('token') ?? '';
      const get = async (
        path: string,
      ): Promise<{ status: number; type: string | null; body: string; cache: string | null }> => {
        const answer = await fetch(pharos.url + path);
        return {
          status: answer.status,
          type: answer.headers.get('content-type'),
          cache: answer.headers.get('cache-control'),
          body: await answer.text(),
        };
      };
      const open = await eventually(
        () => get(`/partners/badges/status.svg?token=${token}`),
        (answer) => answer.status === 200,
      );
      expect(open).toMatchObject({ status: 200, cache: 'private, no-store' });
      const closed = await Promise.all(
        [
          '/partners/badges/status.svg',
          `/partners/badges/status.svg?token=${token}x`,
          '/partners/badges/nothing.svg',
          '/nowhere/badges/status.svg',
          `/staff/badges/status.svg?token=${token}`,
          '/acme/badges/nothing.svg',
        ].map(get),
      );
      expect(new Set(closed.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(closed[0]).toMatchObject({ status: 404, type: 'image/svg+xml; charset=utf-8' });
      expect((await get(`/partners/?token=${token}`)).status).toBe(404);
      expect((await runAgain('badges', 'token', 'partners', '--list')).stdout).not.toContain(token);
      for (const option of ['--list', '--revoke'])
        expect(await runAgain('badges', 'token', 'partnrs', option)).toMatchObject({ status: 2, stdout: '' });
      expect((await runAgain('badges', 'token', 'partners', '--revoke', `${token}x`)).status).toBe(1);
      expect((await runAgain('badges', 'token', 'partners', '--revoke')).stdout).toContain('1 token');
      expect(await get(`/partners/badges/status.svg?token=${token}`)).toEqual(closed[0]);
      const { stdout: audit } = await runAgain('audit');
      expect(audit).toMatch(/badge-token-create +partners/);
      expect(audit).toMatch(/badge-token-revoke +partners/);
      expect(audit).not.toContain(token);
    } finally {
      await pharos.stop();
    }
  });

  it('backs up the database to a file that can be put in its place, and never over one', async () => {
    const target = join(folder.path, 'copy.db');
    expect((await run('backup', target)).status).toBe(0);
    expect(existsSync(target)).toBe(true);
    expect((await runAgain('backup', target)).status).toBe(2);
    mkdirSync(join(folder.path, 'data-restored'));
    writeFileSync(join(folder.path, 'data-restored', 'pharos.db'), readFileSync(target));
    writeFileSync(
      join(folder.path, 'restored.yaml'),
      `${readFileSync(join(folder.path, 'pharos.yaml'), 'utf8')}data: ./data-restored\n`,
    );
    const built = await run('build', '--config', 'restored.yaml', '--offline', '--out', 'restored');
    expect(built.status, built.stderr + built.stdout).toBe(0);
    expect(readFileSync(join(folder.path, 'restored', 'acme', 'index.html'), 'utf8')).toContain('Searches are slow');
  });
});
