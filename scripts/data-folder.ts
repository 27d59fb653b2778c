/**
 * Writes a data folder of this version with its configuration to test/fixtures/upgrade/<date>, for the test that upgrades every
 * one of them: `node scripts/data-folder.ts 2026-11-23`. Run it before each release that changes what is stored.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { main } from '../src/cli/main.ts';
import { COMPRESSIONS } from '../src/publish/releases/manifest.ts';
import { startSandbox } from '../src/sandbox/sandbox.ts';

/** Nothing listens there, so an upgrade is tested with an upstream that doesn't answer. */
const NOWHERE = 'http://127.0.0.1:9';
const VARIANT = new RegExp(`\\.(?:${[...COMPRESSIONS, 'br', 'gz', 'zst'].join('|')})$`);

const [date] = process.argv.slice(2);
if (date === undefined || !/^\d{4}-\d\d-\d\d$/.test(date))
  throw new Error('Usage: node scripts/data-folder.ts YYYY-MM-DD');
const target = resolve('test/fixtures/upgrade', date);
const folder = mkdtempSync(join(tmpdir(), 'pharos-data-'));
const sandbox = await startSandbox(0, () => Date.now() as never);
try {
  Object.assign(process.env, sandbox.environment(), { PW: 'a long password' });
  mkdirSync(join(folder, 'posts'));
  process.chdir(folder);
  writeFileSync('pharos.yaml', configText(sandbox.url));
  await build();
  writeFileSync(
    'posts/2026-slow.md',
    '---\ntype: incident\ntitle: Slow answers\nstarted: 2026-11-20T09:00:00Z\nmonitors: [edge/3]\n---\n',
  );
  await build();
  for (const entry of readdirSync('data/releases', { recursive: true, withFileTypes: true }))
    slim(join(entry.parentPath, entry.name));
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'pharos.yaml'), configText(NOWHERE));
  execFileSync('tar', ['--sort=name', '--owner=0', '--group=0', '-cJf', join(target, 'data.tar.xz'), 'data']);
} finally {
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function build(): Promise<void> {
  const status = await main(['build', '--out', 'out', '--quiet']);
  if (status !== 0) throw new Error(`pharos build ended with ${status}`);
}

/** Compressed variants are three quarters of a folder, and made again. */
function slim(path: string): void {
  if (VARIANT.test(path)) rmSync(path, { force: true });
  if (!path.endsWith('manifest.json')) return;
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  for (const record of Object.values<{ variants: unknown }>(manifest.files))
    if (record.variants !== null) record.variants = [];
  writeFileSync(path, JSON.stringify(manifest));
}

function configText(upstream: string): string {
  return `site: { url: "https://status.example.com", name: Oper, home: acme }
schedule: "0 0 1 * *"
upstreams:
  - { id: edge, kind: server-monitor, baseUrl: "${upstream}", apiKey: "\${EDGE_KEY}" }
  - { id: posts, kind: markdown, path: ./posts }
operators: { token: "\${PHAROS_TOKEN}" }
pages:
  - slug: acme
    title: Acme
    components:
      - { type: monitor, monitor: edge/3, id: api, name: API }
      - { type: monitor, monitor: edge/8, id: web, name: Web }
      - { type: static, id: desk, name: Support desk }
  - { slug: priv, title: Private, password: "\${PW}", components: [{ type: static, id: desk, name: Desk }] }
`;
}
