import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

describe('every documented upstream at once', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  const run = (...args: string[]) => runWarm(args, { cwd: folder.path, env: sandbox.environment() });

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    mkdirSync(join(folder.path, 'posts'));
    writeFileSync(
      join(folder.path, 'posts', 'moved.md'),
      '---\ntype: announcement\ntitle: We moved house\nfrom: 2026-01-01T00:00:00Z\npages: [all]\n---\n\nSee you there.\n',
    );
    const text = sandbox.configText({ include: sandbox.upstreams, hasPages: false });
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      `${text.replace('operators:', '  - { id: posts, kind: markdown, path: ./posts }\noperators:').replace('home: acme', 'home: all')}pages: [{ slug: all, title: Everything }]\n`,
    );
  });
  afterAll(async () => {
    await sandbox.stop();
    folder.remove();
  });

  it('gives one good row for each kind', async () => {
    const result = await run('check', '--json');
    const rows = (
      JSON.parse(result.stdout) as { upstreams: { kind: string; upstream: string; isOk: boolean; summary: string }[] }
    ).upstreams;
    expect(rows.filter((row) => !row.isOk)).toEqual([]);
    // Pharos makes checks itself; there is nothing to ask.
    const kinds = CONNECTORS.map(({ kind }) => kind).filter((kind) => kind !== 'checks');
    expect(new Set(rows.map((row) => row.kind))).toEqual(new Set(kinds));
    expect(result.status).toBe(0);
  });

  it('makes one page of them all, without a target, a secret or a monitor that is not public', async () => {
    const result = await run('build', '--json');
    const report = JSON.parse(result.stdout) as {
      pass: { upstreams: { upstreamId: string; kind: string; monitorsTotal: number; itemsDropped: number }[] };
    };
    expect(report.pass.upstreams.filter((item) => item.kind !== 'ok' || item.itemsDropped > 0)).toEqual([]);
    const page = readFileSync(join(folder.path, 'out', 'all', 'index.html'), 'utf8');
    expect(page).toContain('We moved house');
    const components = (
      JSON.parse(readFileSync(join(folder.path, 'out', 'all', 'api', 'v2', 'components.json'), 'utf8')) as {
        components: { name: string; status: string; group: boolean }[];
      }
    ).components;
    const shown = report.pass.upstreams.filter((item) => item.monitorsTotal > 0).map((item) => item.upstreamId);
    expect(shown).toEqual(expect.arrayContaining(['edge', 'svc', 'real', 'backups', 'crm', 'iac']));
    expect(components.length).toBeGreaterThan(30);
    for (const component of components) expect(page).toContain(component.name.replaceAll('&', '&amp;'));
    const hidden = sandbox.world.at(toEpochMs(Date.now())).services.filter(({ service }) => !service.isPublic);
    const targets = sandbox.world.at(toEpochMs(Date.now())).services.map(({ service }) => service.target);
    expect(hidden.length).toBeGreaterThan(0);
    for (const target of targets) expect(page).not.toContain(target);
    for (const secret of Object.values(sandbox.environment())) expect(page).not.toContain(secret);
  });
});
