import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../helpers/browser.ts';
import { type CommandResult, temporaryFolder } from '../helpers/pharos.ts';
import { type Exchange, loadExchanges, type Replay, replayKey, startReplay } from '../helpers/replay.ts';
import { runWarm } from '../helpers/warm.ts';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  svg: 'image/svg+xml',
  json: 'application/json',
  css: 'text/css',
};

/** As plain as a static host gets: files, folders with an index.html, nothing else. */
async function serveFolder(folder: string): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const path = join(folder, decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/'));
    try {
      const file = statSync(path).isDirectory() ? join(path, 'index.html') : path;
      response.setHeader('content-type', TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream');
      response.end(readFileSync(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** When the exchanges were recorded, within minutes. */
const RECORDED_AT = Date.UTC(2026, 10, 21, 8, 8);

/** The same exchange as if it were recorded now, so that what ran then runs now, whenever the test does. */
function recordedJustNow(exchange: Exchange): Exchange {
  const shift = Date.now() - RECORDED_AT;
  const body = exchange.response.body.replace(/\b2026-\d\d-\d\dT[\d:.]+Z/g, (at) =>
    new Date(Date.parse(at) + shift).toISOString(),
  );
  return { ...exchange, response: { ...exchange.response, body } };
}

describe('pharos build from the recorded exchanges of a real workspace', () => {
  const folder = temporaryFolder();
  const out = join(folder.path, 'out');
  let replay: Replay;
  let result: CommandResult;
  let browser: Browser;
  let host: Awaited<ReturnType<typeof serveFolder>>;

  beforeAll(async () => {
    replay = await startReplay({ exchanges: (await loadExchanges()).map(recordedJustNow), port: 0 });
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      [
        'site: { url: "https://status.example.com/somewhere", name: Acme }',
        'upstreams:',
        `  - { id: svc, kind: uptime-service, preset: openstatus, rpcUrl: "${replay.rpcUrl}", restUrl: "${replay.restUrl}", apiKey: "\${SVC_KEY}" }`,
      ].join('\n'),
    );
    [result, browser] = await Promise.all([
      runWarm(['build', '--out', 'out', '--json'], { cwd: folder.path, env: { SVC_KEY: replayKey('read') } }),
      launchBrowser(),
    ]);
    host = await serveFolder(out);
  });

  afterAll(async () => {
    await browser?.close();
    host?.server.close();
    await replay?.stop();
    folder.remove();
  });

  it('ends well', () => {
    expect(result.stderr).toBe('');
    expect(result.status).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({
      hasFailed: false,
      pass: { upstreams: [{ upstreamId: 'svc', kind: 'ok' }] },
    });
  });

  it("makes that workspace's public page: groups, components, the open report and the maintenance", async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${host.url}/acme-status/`);
    // Earlier updates are folded away, not gone.
    const text = (await page.locator('body').textContent()) ?? '';
    for (const words of [
      'Acme Status',
      'Live status of Acme',
      'Core',
      'Data',
      'Public API',
      'DB port',
      'Support desk',
      'API errors',
      'Bad deploy',
      'Looking into 5xx',
      'DB upgrade',
      'Cert rotation',
    ]) {
      expect(text).toContain(words);
    }
    await page.getByRole('link', { name: 'API errors' }).first().click();
    expect(await page.locator('h1').innerText()).toContain('API errors');
    await page.close();
  });

  it('publishes nothing of pages that are not public, of monitors’ targets, or of keys', () => {
    const texts = readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(
        (entry) =>
          `${join(entry.parentPath, entry.name)}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`,
      );
    const leaks = texts.flatMap((text) =>
      [
        'acme-partners',
        'acme-staff',
        'acme-vpn',
        'api.example.test',
        'db.example.test',
        'replayed-read',
        'Bearer t',
      ].filter((word) => text.includes(word)),
    );
    expect(leaks).toEqual([]);
  });

  it('writes nothing at a second build of the same store', async () => {
    const again = await runWarm(['build', '--out', 'out', '--offline', '--json'], {
      cwd: folder.path,
      env: { SVC_KEY: replayKey('read') },
    });
    const { out: written } = JSON.parse(again.stdout) as {
      out: { filesWritten: number; filesKept: number; filesRemoved: number };
    };
    expect(written.filesKept).toBeGreaterThan(10);
    expect(written.filesRemoved).toBe(0);
  });
});
