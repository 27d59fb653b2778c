import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { currentNumber, releaseFolders } from '../../src/publish/releases/folders.ts';
import { runHere } from '../helpers/in-process.ts';
import { metricsText } from '../helpers/metrics.ts';
import { eventually, type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { S3_KEYS, type S3Server, startS3Server } from '../helpers/s3-server.ts';
import { smallConfig, startUnlimitedSandbox } from '../helpers/sandbox.ts';
import { startWarm } from '../helpers/warm.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

interface Built {
  readonly out?: { readonly folder: string };
  readonly targets: readonly {
    readonly kind: string;
    readonly result: string;
    readonly filesWritten: number;
    readonly message: string | null;
  }[];
}

describe('output', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let s3: S3Server;
  let env: Record<string, string>;
  let config: ReturnType<typeof smallConfig>;
  let pharos: RunningPharos | null = null;
  const run = (...args: string[]) => runHere(args, { cwd: folder.path, env });

  beforeAll(async () => {
    sandbox = await startUnlimitedSandbox();
    s3 = await startS3Server();
    env = {
      ...sandbox.environment(),
      BUCKET_KEY_ID: S3_KEYS.accessKeyId,
      BUCKET_SECRET: S3_KEYS.secretAccessKey,
    };
    config = smallConfig(sandbox);
    writeConfig({ folder: './www', s3: bucket({}) });
  });
  afterEach(async () => {
    s3.fault = () => null;
    await pharos?.stop();
    pharos = null;
  });
  afterAll(async () => {
    await sandbox?.stop();
    await s3?.close();
    folder.remove();
  });

  function bucket(over: object): object {
    return {
      endpoint: s3.endpoint,
      bucket: s3.bucket,
      prefix: 'status',
      accessKeyId: '${BUCKET_KEY_ID}',
      secretAccessKey: '${BUCKET_SECRET}',
      ...over,
    };
  }

  function writeConfig(output: object, over: object = {}): void {
    writeFileSync(join(folder.path, 'pharos.yaml'), stringify({ ...config, schedule: '0 0 1 1 *', output, ...over }));
  }

  it('is tried by pharos check, which leaves nothing behind and says what is wrong', async () => {
    const checked = await run('check', '--json');
    expect(checked.status, checked.stderr).toBe(0);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      targets: [
        { target: 'folder', isOk: true },
        { target: 's3', place: 's3://status-bucket/status/', isOk: true },
      ],
    });
    expect(s3.keys()).toEqual([]);
    expect(readdirSync(join(folder.path, 'www'))).toEqual([]);
    s3.fault = () => ({ kind: 'answer', status: 403, code: 'AccessDenied' });
    const refused = await run('check');
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain('TARGET_REFUSED');
    expect(refused.stdout).toContain('s3:PutObject');
  });

  it('is written by pharos build: a folder and a bucket with the same files, and nothing that is gated', async () => {
    const built = await run('build', '--json');
    expect(built.status, built.stdout + built.stderr).toBe(0);
    const report = JSON.parse(built.stdout) as Built;
    expect(report.targets).toMatchObject([
      { kind: 'folder', result: 'current', message: null },
      { kind: 's3', result: 'current', message: null },
    ]);
    const www = join(folder.path, 'www');
    expect(report.out?.folder).toBe(www);
    const inFolder = readdirSync(www, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(www.length + 1))
      .filter((path) => !path.startsWith('.pharos') && !path.startsWith('_'))
      .toSorted();
    const inBucket = s3
      .keys()
      .map((key) => key.replace(/^status\//, ''))
      .filter((key) => !key.startsWith('.pharos'));
    expect(inBucket).toEqual(inFolder);
    expect(inBucket).toContain('acme/badges/status.svg');
    expect(inBucket.filter((key) => /^(partners|staff)\//.test(key))).toEqual([]);
    for (const key of ['acme/index.html', 'acme/api/v2/summary.json', 'index.html'])
      expect(s3.objects.get(`status/${key}`)?.body.equals(readFileSync(join(www, key)))).toBe(true);
    expect(s3.objects.get('status/acme/index.html')?.headers['content-type']).toBe('text/html; charset=utf-8');
    for (const value of Object.values(S3_KEYS)) expect(built.stdout + built.stderr).not.toContain(value);
  });

  it('is left alone by pharos build --out, which writes where it is told', async () => {
    s3.forgetEvents();
    const built = await run('build', '--offline', '--out', 'elsewhere', '--json');
    expect(built.status, built.stdout + built.stderr).toBe(0);
    expect((JSON.parse(built.stdout) as Built).targets).toMatchObject([{ kind: 'folder', result: 'current' }]);
    expect(existsSync(join(folder.path, 'elsewhere', 'acme', 'index.html'))).toBe(true);
    expect(s3.events).toEqual([]);
  });

  it('holds a sealed page whose form is in the language of the page', async () => {
    const { pages } = config;
    const inTwo = pages.map((page) => (page.slug === 'partners' ? { ...page, locales: ['de', 'en'] } : page));
    writeConfig({}, { pages: inTwo });
    const built = await run('build', '--out', 'sealed', '--sealed');
    writeConfig({ folder: './www', s3: bucket({}) });
    expect(built.status, built.stderr).toBe(0);
    for (const [path, language] of Object.entries({ 'index.html': 'de', 'en/index.html': 'en' }))
      expect(readFileSync(join(folder.path, 'sealed/partners', path), 'utf8')).toContain(`<html lang="${language}"`);
  });

  it('loses a sealed page on hold when its password no longer opens it, and never gets that release again', async () => {
    const { pages } = config;
    const output = { folder: './held', sealed: true };
    const sealed = join(folder.path, 'held/partners/index.html');
    writeConfig(output);
    await run('build');
    const release = String(currentNumber(releaseFolders(join(folder.path, 'data')), 'partners'));
    expect((await run('rollback', 'partners', release, '--hold')).status).toBe(0);
    await run('build');
    expect(existsSync(sealed)).toBe(true);
    const byEmail = { auth_email_domains: ['corp.example'] };
    writeConfig(output, { pages: pages.map((page) => (page.slug === 'partners' ? { ...page, ...byEmail } : page)) });
    expect((await run('build')).status).toBe(0);
    expect(existsSync(sealed)).toBe(false);
    const back = await run('rollback', 'partners', release);
    expect([back.status, back.stderr]).toEqual([1, expect.stringContaining('different access rules')]);
  });

  it('loses pages that closed with the next pharos build, without warnings, and not with pharos build --out', async () => {
    const { pages } = config;
    const www = join(folder.path, 'www');
    writeConfig({ folder: './www' }, { pages: pages.filter(({ slug }) => slug !== 'acme') });
    const elsewhere = await run('build', '--out', 'elsewhere');
    expect(elsewhere.status, elsewhere.stderr).toBe(0);
    expect(existsSync(join(folder.path, 'elsewhere', 'acme'))).toBe(false);
    expect(existsSync(join(www, 'acme', 'index.html'))).toBe(true);
    writeConfig({ folder: './www' });
    await run('build');
    writeConfig({ folder: './www' }, { pages: pages.filter(({ slug }) => slug !== 'acme') });
    const built = await run('build');
    expect([built.status, built.stdout]).toEqual([0, expect.not.stringContaining('Pharos doesn’t know')]);
    expect(existsSync(join(www, 'acme'))).toBe(false);
    writeConfig({ folder: './www', s3: bucket({}) });
    await run('build');
  });

  it('that fails makes pharos build fail, with words and without keys, after the folder is written', async () => {
    s3.fault = () => ({ kind: 'answer', status: 403, code: 'InvalidAccessKeyId' });
    writeConfig({ folder: './again', s3: bucket({}) });
    const built = await run('build', '--offline');
    writeConfig({ folder: './www', s3: bucket({}) });
    expect(built.status).toBe(1);
    expect(built.stdout).toContain('output.s3.accessKeyId');
    expect(existsSync(join(folder.path, 'again', 'index.html'))).toBe(true);
    for (const value of Object.values(S3_KEYS)) expect(built.stdout + built.stderr).not.toContain(value);
  });

  it('is kept current by pharos start, which serves as ever while the bucket is dead, and goes on when it is back', async () => {
    s3.fault = () => ({ kind: 'slow', ms: 60_000 });
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    const { url } = pharos;
    await untilFresh(pharos);
    sandbox.world.force('website', 'down');
    const rebuild = await fetch(`${url}/-/rebuild?wait=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env['PHAROS_TOKEN']}` },
    });
    expect(rebuild.status).toBe(200);
    const served = async (): Promise<string> => (await fetch(`${url}/acme/api/v2/status.json`)).text();
    expect(await served()).not.toContain('"indicator":"none"');
    const inFolder = (): string => readFileSync(join(folder.path, 'www', 'acme', 'api', 'v2', 'status.json'), 'utf8');
    await eventually(
      async () => inFolder(),
      (text) => !text.includes('"indicator":"none"'),
    );
    expect(s3.text('status/acme/api/v2/status.json')).toContain('"indicator":"none"');
    const stopped = performance.now();
    expect(await pharos.stop()).toBe(0);
    expect(performance.now() - stopped).toBeLessThan(10_000);

    s3.fault = () => ({ kind: 'answer', status: 403, code: 'AccessDenied' });
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    const again = pharos;
    await eventually(
      async () => again.stderr(),
      (text) => text.includes('AccessDenied'),
    );
    expect(again.stderr()).toMatch(/"run":"(?:start|[0-9a-f-]{36})","target":"s3".*s3:PutObject/);
    expect(await metricsText(again.url, env['PHAROS_TOKEN'] ?? '')).toContain('pharos_target_current{target="s3"} 0');
    s3.fault = () => null;
    await fetch(`${again.url}/-/rebuild?wait=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env['PHAROS_TOKEN']}` },
    });
    await eventually(
      () => metricsText(again.url, env['PHAROS_TOKEN'] ?? ''),
      (text) => text.includes('pharos_target_current{target="s3"} 1'),
    );
    expect(s3.text('status/acme/api/v2/status.json')).not.toContain('"indicator":"none"');
    expect(s3.text('status/acme/index.html')).toBe(
      readFileSync(join(folder.path, 'www', 'acme', 'index.html'), 'utf8'),
    );
    for (const value of Object.values(S3_KEYS)) expect(again.stderr() + again.stdout()).not.toContain(value);
  });
});
