import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DISK } from '../../src/publish/releases/disk.ts';
import { switchTo } from '../../src/publish/releases/switch.ts';
import { objectAddress } from '../../src/publish/targets/s3-client.ts';
import { type TestFolders, testFolders } from '../helpers/release-inputs.ts';
import { S3_KEYS, type S3Fault, type S3Server, startS3Server } from '../helpers/s3-server.ts';
import {
  brokenLinks,
  closeGate,
  closeTargets,
  publishPage,
  publishSite,
  s3Target,
  siteKeys,
  withdrawPage,
} from './targets-fixture.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const ACME = ['api/v2/summary.json', 'components/a/feed.json', 'components/a/index.html', 'favicon.svg', 'index.html'];

describe('a bucket', () => {
  let folders: TestFolders;
  let s3: S3Server;
  beforeEach(async () => {
    folders = testFolders();
    s3 = await startS3Server();
  });
  afterEach(async () => {
    await closeTargets();
    await s3.close();
    folders.remove();
  });

  const puts = (): string[] =>
    s3.events.filter(({ method, key }) => method === 'PUT' && !key.includes('.pharos')).map(({ key }) => key);

  it('gets data first, then documents, then the index of each page, then the site, and nothing unsigned', async () => {
    await publishPage(folders, 'one', { parts: ['a'] });
    await publishPage(folders, 'one', { slug: 'beta', parts: ['a'] });
    await publishSite(folders, 'site', ['acme', 'beta']);
    s3.onChange = () => expect(brokenLinks(s3)).toEqual([]);
    const report = await s3Target(s3, folders).update();
    expect(report).toMatchObject({ result: 'current', filesWritten: 13, filesRemoved: 0, message: null });
    const rank = (key: string): number =>
      /^[^/]+\/index\.html$|^index\.html$/.test(key) ? 2 : key.endsWith('.html') ? 1 : 0;
    const order = puts();
    for (const part of [order.slice(0, 5), order.slice(5, 10), order.slice(10)])
      expect(part.map(rank)).toEqual(part.map(rank).toSorted());
    expect(order.slice(10).toSorted()).toEqual(['404.html', 'index.html', 'robots.txt']);
    expect(order.at(-1)).toBe('index.html');
    expect(siteKeys(s3).filter((key) => key.startsWith('acme/'))).toEqual(ACME.map((path) => `acme/${path}`));
    expect(s3.events.every(({ status }) => status < 300 || status === 404)).toBe(true);
  });

  it('stores what browsers and caches need to know', async () => {
    await publishPage(folders, 'one', { parts: [] });
    await s3Target(s3, folders).update();
    const cache = 'public, max-age=30, stale-while-revalidate=30, stale-if-error=86400';
    expect(s3.objects.get('acme/index.html')?.headers).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': cache,
    });
    expect(s3.objects.get('acme/favicon.svg')?.headers).toEqual({
      'content-type': 'image/svg+xml',
      'cache-control': cache,
    });
    expect(s3.objects.get('.pharos.json')?.headers['cache-control']).toBe('no-store');
  });

  it('stores texts compressed when it is to, and everything anew when that changes', async () => {
    await publishPage(folders, 'one', { parts: [] });
    await s3Target(s3, folders).update();
    const report = await s3Target(s3, folders, { encoding: 'gzip' }).update();
    expect(report.filesWritten).toBe(3);
    const stored = s3.objects.get('acme/index.html');
    expect(stored?.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(stored?.body ?? '').toString()).toContain('<title>one</title>');
    expect(s3.objects.get('acme/favicon.svg')?.headers['content-encoding']).toBeUndefined();
  });

  it('is asked nothing when nothing changed, and gets only what did', async () => {
    for (const slug of ['acme', 'beta', 'gamma']) await publishPage(folders, 'one', { slug });
    await publishSite(folders, 'site', ['acme', 'beta', 'gamma']);
    const target = s3Target(s3, folders);
    await target.update();
    s3.forgetEvents();
    expect(await target.update()).toMatchObject({ result: 'current', filesWritten: 0, filesKept: 24 });
    expect(s3.events).toEqual([]);
    await publishPage(folders, 'two', { slug: 'beta', parts: ['a', 'c'] });
    expect(await target.update()).toMatchObject({ result: 'current', filesWritten: 7, filesRemoved: 2 });
    expect(puts().every((key) => key.startsWith('beta/'))).toBe(true);
    expect(
      s3.events
        .filter(({ method }) => method === 'DELETE')
        .map(({ key }) => key)
        .toSorted(),
    ).toEqual(['beta/components/b/feed.json', 'beta/components/b/index.html']);
    expect(s3.events.findLastIndex(({ method }) => method === 'DELETE')).toBeGreaterThan(
      s3.events.findIndex(({ key }) => key === 'beta/index.html'),
    );
  });

  it('is known again after a restart, by one question', async () => {
    await publishPage(folders, 'one');
    await s3Target(s3, folders).update();
    s3.forgetEvents();
    expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'current', filesWritten: 0, filesKept: 7 });
    expect(s3.events).toEqual([{ method: 'GET', key: '.pharos.json', status: 200 }]);
  });

  it('keeps to its prefix, whatever is in names, and is signed for its region', async () => {
    await s3.close();
    s3 = await startS3Server({ region: 'eu-central-1' });
    await publishPage(folders, 'one', { parts: ["a~2f~b+c d'(e)*!ü"] });
    const store = { prefix: 'sites/status/', region: 'eu-central-1' };
    const report = await s3Target(s3, folders, { store }).update();
    expect(report).toMatchObject({ result: 'current', message: null, place: 's3://status-bucket/sites/status/' });
    expect(s3.keys().every((key) => key.startsWith('sites/status/'))).toBe(true);
    expect(s3.keys()).toContain("sites/status/acme/components/a~2f~b+c d'(e)*!ü/index.html");
  });

  it('is named in the path or in the host, as is configured', () => {
    const at = { endpoint: 'https://s3.eu-west-1.example.com/', bucket: 'pages' } as const;
    expect(objectAddress({ ...at, addressing: 'path' }, 'a b/c+d').href).toBe(
      'https://s3.eu-west-1.example.com/pages/a%20b/c%2Bd',
    );
    expect(objectAddress({ ...at, addressing: 'virtual-host' }, 'a/b').href).toBe(
      'https://pages.s3.eu-west-1.example.com/a/b',
    );
    expect(objectAddress({ ...at, endpoint: 'https://host/api/s3/', addressing: 'path' }, 'a').href).toBe(
      'https://host/api/s3/pages/a',
    );
  });

  it('loses a page that turned private or was withdrawn before it gets anything', async () => {
    for (const slug of ['acme', 'beta', 'gamma']) await publishPage(folders, `${slug} one`, { slug });
    await publishSite(folders, 'site', ['acme', 'beta', 'gamma']);
    const target = s3Target(s3, folders);
    await target.update();
    s3.forgetEvents();
    await closeGate(folders, 'acme');
    await publishPage(folders, 'acme two', { access: 'password' });
    await withdrawPage(folders, 'gamma');
    await publishPage(folders, 'beta two', { slug: 'beta' });
    await publishSite(folders, 'site two', ['beta']);
    expect(await target.update()).toMatchObject({ result: 'current', filesRemoved: 14 });
    expect(siteKeys(s3).filter((key) => /^(acme|gamma)\//.test(key))).toEqual([]);
    expect(s3.keys().filter((key) => key.startsWith('.pharos/'))).toEqual(['.pharos/_site.json', '.pharos/beta.json']);
    const firstPut = s3.events.findIndex(({ method, key }) => method === 'PUT' && !key.includes('.pharos'));
    const lastTaken = s3.events.findLastIndex(({ method, key }) => method === 'DELETE' && /^(acme|gamma)/.test(key));
    expect(lastTaken).toBeGreaterThan(-1);
    expect(lastTaken).toBeLessThan(firstPut);
    // The root may have been a copy of what is private now: it is replaced before the other pages.
    expect(puts().indexOf('index.html')).toBeLessThan(puts().findIndex((key) => key.startsWith('beta/')));
  });

  it('shows no root that tells of a private page while new pages are still coming', async () => {
    await publishPage(folders, 'HOME-CANARY');
    await publishSite(folders, 'HOME-CANARY', ['acme']);
    const target = s3Target(s3, folders);
    await target.update();
    await closeGate(folders, 'acme');
    await publishPage(folders, 'fresh', { slug: 'fresh' });
    await publishSite(folders, 'index', ['fresh']);
    s3.onChange = ({ method, key }) => {
      expect(brokenLinks(s3).filter((link) => !link.includes('acme'))).toEqual([]);
      if (method === 'PUT' && !key.includes('.pharos')) expect(s3.text('index.html') ?? '').not.toContain('CANARY');
    };
    expect(await target.update()).toMatchObject({ result: 'current' });
    expect(s3.text('index.html')).toContain('<title>index</title>');
  });

  it('never gets anything of a gated page, at any time', async () => {
    await publishPage(folders, 'public words');
    await publishPage(folders, 'GATED-CANARY', { slug: 'vault', access: 'password' });
    await publishPage(folders, 'GATED-CANARY', { slug: 'staff', access: 'email-domain' });
    await publishSite(folders, 'site', ['acme']);
    const target = s3Target(s3, folders);
    await target.update();
    await closeGate(folders, 'acme');
    await publishPage(folders, 'GATED-CANARY', { access: 'password' });
    await target.update();
    await publishPage(folders, 'public again');
    await target.update();
    expect(s3.bodies.length).toBeGreaterThan(10);
    expect(s3.bodies.filter((body) => body.includes('CANARY'))).toEqual([]);
    expect(s3.requests.filter((request) => /vault|staff/.test(request) && !request.startsWith('GET'))).toEqual([]);
    expect(s3.text('acme/index.html')).toContain('public again');
  });

  it('stops in the middle when a page turns private meanwhile, and takes it away', async () => {
    await publishPage(folders, 'one', { parts: Array.from({ length: 30 }, (_, index) => `p${index}`) });
    const target = s3Target(s3, folders);
    let puts = 0;
    let after = 0;
    let isClosed = false;
    s3.onChange = ({ method, key }) => {
      if (key.includes('.pharos') || method !== 'PUT') return;
      puts += 1;
      if (isClosed) after += 1;
      if (puts === 10)
        void closeGate(folders, 'acme').then(() => {
          isClosed = true;
        });
    };
    const report = await target.update();
    expect(report).toMatchObject({ result: 'current' });
    // What was on its way already.
    expect(after).toBeLessThanOrEqual(16);
    s3.onChange = () => undefined;
    expect(siteKeys(s3)).toEqual([]);
  });

  it('keeps what somebody else put there', async () => {
    await publishPage(folders, 'one');
    for (const key of ['acme/notes.txt', 'logo.png', 'zeta/index.html', '.pharos/README'])
      s3.objects.set(key, { body: Buffer.from('theirs'), headers: {}, etag: '"x"' });
    const target = s3Target(s3, folders);
    await target.update();
    await publishPage(folders, 'two', { parts: [] });
    await target.update();
    await withdrawPage(folders, 'acme');
    await target.update();
    expect(s3.keys()).toEqual(['.pharos.json', '.pharos/README', 'acme/notes.txt', 'logo.png', 'zeta/index.html']);
  });

  it.each([
    ['cut short', (text: string) => text.slice(0, -5)],
    ['empty', () => ''],
    ['of another format', () => '{"format":1,"files":{"acme/index.html":"x"}}'],
    [
      'pointing elsewhere',
      () => '{"format":2,"settings":"","pages":{"../other":{"mark":"","files":1,"isSealed":false,"isWhole":true}}}',
    ],
  ])(
    'with a ledger that is %s gets everything again, loses nothing of others, and shows no gated page',
    async (_name, spoil) => {
      await publishPage(folders, 'one');
      await publishPage(folders, 'secret soon', { slug: 'beta' });
      await s3Target(s3, folders).update();
      s3.objects.set('acme/notes.txt', { body: Buffer.from('theirs'), headers: {}, etag: '"x"' });
      const ledger = s3.objects.get('.pharos.json');
      s3.objects.set('.pharos.json', {
        headers: {},
        etag: '"spoilt"',
        body: Buffer.from(spoil(ledger?.body.toString() ?? '')),
      });
      await closeGate(folders, 'beta');
      await publishPage(folders, 'secret', { slug: 'beta', access: 'password' });
      const report = await s3Target(s3, folders).update();
      expect(report).toMatchObject({ result: 'current' });
      expect(report.warnings.join()).toContain('is unreadable');
      expect(siteKeys(s3).filter((key) => key.startsWith('beta/'))).toEqual([]);
      expect(s3.text('acme/notes.txt')).toBe('theirs');
      s3.forgetEvents();
      expect(await s3Target(s3, folders).update()).toMatchObject({ filesWritten: 0, warnings: [] });
    },
  );

  it.each([
    ['names files of others', '{"format":2,"files":{"other/index.html":"x","acme/index.html":"y"}}'],
    ['climbs out', '{"format":2,"files":{"acme/../other/index.html":"x"}}'],
    ['is no JSON', '<html>'],
  ])('whose ledger of a page %s gets that page again and loses nothing of others', async (_name, text) => {
    await publishPage(folders, 'one');
    await s3Target(s3, folders).update();
    s3.objects.set('other/index.html', { body: Buffer.from('theirs'), headers: {}, etag: '"x"' });
    s3.objects.set('.pharos/acme.json', { body: Buffer.from(text), headers: {}, etag: '"x"' });
    await publishPage(folders, 'two', { parts: ['a'] });
    const report = await s3Target(s3, folders).update();
    expect(report).toMatchObject({ result: 'current', filesWritten: 5 });
    expect(report.warnings.join()).toContain('.pharos/acme.json');
    expect(s3.text('other/index.html')).toBe('theirs');
  });

  it('is told who else writes there, and is not overwritten', async () => {
    await publishPage(folders, 'one');
    const mine = s3Target(s3, folders);
    await mine.update();
    const theirs = testFolders();
    await publishPage(theirs, 'theirs', { slug: 'acme' });
    expect(await s3Target(s3, theirs).update()).toMatchObject({ result: 'current' });
    await publishPage(folders, 'two');
    const before = s3.text('acme/index.html');
    const report = await mine.update();
    expect(report.result).toBe('failed');
    expect(report.message).toContain('another publisher writes there');
    expect(s3.text('acme/index.html')).toBe(before);
    // Having seen that, it goes on from what is there.
    expect(await mine.update()).toMatchObject({ result: 'current' });
    expect(s3.text('acme/index.html')).toContain('two');
    theirs.remove();
  });

  it.each(['refused', 'ignored'] as const)('works where conditions are %s', async (conditions) => {
    s3.conditions = conditions;
    await publishPage(folders, 'one');
    const target = s3Target(s3, folders);
    expect(await target.update()).toMatchObject({ result: 'current' });
    await publishPage(folders, 'two');
    expect(await target.update()).toMatchObject({ result: 'current' });
    expect(s3.text('acme/index.html')).toContain('two');
  });

  it('takes its own write for its own when only the answer was lost', async () => {
    await publishPage(folders, 'one');
    let isLost = false;
    s3.fault = ({ method, key }) => {
      if (isLost || method !== 'PUT' || key !== '.pharos.json') return null;
      isLost = true;
      return { kind: 'cut-after' };
    };
    expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'current' });
    expect(isLost).toBe(true);
  });
});

describe('a bucket with faults', () => {
  let folders: TestFolders;
  let s3: S3Server;
  beforeEach(async () => {
    folders = testFolders();
    s3 = await startS3Server();
    await publishPage(folders, 'one');
  });
  afterEach(async () => {
    await closeTargets();
    await s3.close();
    folders.remove();
  });

  const once = (fault: S3Fault) => {
    const seen = new Set<string>();
    s3.fault = ({ method, key }) => {
      if (seen.has(`${method} ${key}`)) return null;
      seen.add(`${method} ${key}`);
      return fault;
    };
  };

  it.each<[string, S3Fault]>([
    ['answers 500', { kind: 'answer', status: 500, code: 'InternalError' }],
    ['says SlowDown', { kind: 'answer', status: 503, code: 'SlowDown', retryAfter: 0 }],
    ['answers 429', { kind: 'answer', status: 429, code: 'TooManyRequests' }],
    ['cuts the connection', { kind: 'cut' }],
    ['cuts the connection after it did what it was asked', { kind: 'cut-after' }],
    ['breaks off its answer', { kind: 'truncated' }],
  ])('that %s once per object is filled all the same', async (_name, fault) => {
    once(fault);
    expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'current', message: null, filesWritten: 7 });
    expect(siteKeys(s3)).toHaveLength(7);
  });

  it('waits as long as it is told', async () => {
    let at = 0;
    let waited = 0;
    s3.fault = ({ key }) => {
      if (key !== 'acme/index.html') return null;
      if (at !== 0) {
        waited = performance.now() - at;
        return null;
      }
      at = performance.now();
      return { kind: 'answer', status: 503, code: 'SlowDown', retryAfter: 1 };
    };
    expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'current' });
    expect(waited).toBeGreaterThanOrEqual(990);
  });

  it.each<[string, S3Fault, RegExp]>([
    ['is broken', { kind: 'answer', status: 500, code: 'InternalError' }, /500 InternalError: it failed/],
    ['wants a long pause', { kind: 'answer', status: 503, code: 'SlowDown', retryAfter: 600 }, /503 SlowDown/],
    ['does not know the key', { kind: 'answer', status: 403, code: 'InvalidAccessKeyId' }, /output\.s3\.accessKeyId/],
    ['refuses', { kind: 'answer', status: 403, code: 'AccessDenied' }, /s3:PutObject/],
    ['is not there', { kind: 'answer', status: 404, code: 'NoSuchBucket' }, /no such bucket/],
    ['is elsewhere', { kind: 'answer', status: 301, code: 'PermanentRedirect' }, /output\.s3\.region/],
    ['says something strange', { kind: 'answer', status: 418, code: 'Teapot' }, /418 Teapot/],
    ['never answers', { kind: 'slow', ms: 2_000 }, /no complete response in time|no response in time/],
    ['hangs up', { kind: 'cut' }, /connection was closed/],
    ['talks too much', { kind: 'huge-error' }, /larger than/],
  ])('that %s is reported in words, without keys, after a bounded number of tries', async (_name, fault, words) => {
    s3.fault = () => fault;
    const started = performance.now();
    const report = await s3Target(s3, folders).update();
    expect(report).toMatchObject({ result: 'failed', filesWritten: 0 });
    expect(report.message).toMatch(words);
    expect(report.message).toContain('s3://status-bucket');
    expect(s3.events.length).toBeLessThanOrEqual(3);
    expect(performance.now() - started).toBeLessThan(5_000);
    const said = JSON.stringify(report);
    for (const key of Object.values(S3_KEYS)) expect(said).not.toContain(key);
  });

  it('refuses a wrong secret and a wrong region, each with its remedy', async () => {
    const secret = { secretAccessKey: { reveal: () => 'wrong' } };
    expect((await s3Target(s3, folders, { store: secret }).update()).message).toContain('output.s3.secretAccessKey');
    expect((await s3Target(s3, folders, { store: { region: 'eu-west-1' } }).update()).message).toContain('region');
    expect(s3.objects.size).toBe(0);
  });

  it('never has the secret in anything that is sent', async () => {
    await s3Target(s3, folders).update();
    const sent = [...s3.requests, ...s3.bodies.map(String)].join('\n');
    expect(sent).not.toContain(S3_KEYS.secretAccessKey);
  });

  it('goes on with the other pages when one object is refused, and leaves the index of that page as it was', async () => {
    await publishPage(folders, 'one', { slug: 'beta' });
    await publishSite(folders, 'site', ['acme', 'beta']);
    const target = s3Target(s3, folders);
    await target.update();
    await publishPage(folders, 'two', { slug: 'acme', parts: ['a', 'new'] });
    await publishPage(folders, 'two', { slug: 'beta' });
    await publishSite(folders, 'site two', ['acme', 'beta']);
    s3.fault = ({ method, key }) =>
      method === 'PUT' && key.startsWith('acme/components/new/')
        ? { kind: 'answer', status: 400, code: 'EntityTooLarge' }
        : null;
    const report = await target.update();
    expect(report.result).toBe('failed');
    expect(report.message).toContain('EntityTooLarge');
    expect(s3.text('acme/index.html')).toContain('<title>one</title>');
    expect(s3.text('beta/index.html')).toContain('<title>two</title>');
    expect(s3.text('index.html')).toContain('<title>site</title>');
    expect(brokenLinks(s3)).toEqual([]);
    s3.fault = () => null;
    expect(await target.update()).toMatchObject({ result: 'current' });
    expect(s3.text('acme/index.html')).toContain('<title>two</title>');
    expect(s3.text('index.html')).toContain('<title>site two</title>');
  });

  it('has no index that points at nothing, and is whole after the next run, wherever the upload ends', async () => {
    await publishSite(folders, 'site', ['acme']);
    await s3Target(s3, folders).update();
    const before = new Map(s3.objects);
    await publishPage(folders, 'two', { parts: ['b', 'c', 'd'] });
    await publishPage(folders, 'new', { slug: 'beta' });
    await publishSite(folders, 'site two', ['acme', 'beta']);
    s3.forgetEvents();
    await s3Target(s3, folders).update();
    const requests = s3.events.length;
    const whole = new Map(siteKeys(s3).map((key) => [key, s3.text(key)]));
    expect(requests).toBeGreaterThan(25);
    const step = Math.max(1, Math.round(2 / SCALE));
    for (let end = 1; end <= requests; end += step) {
      s3.objects.clear();
      for (const [key, object] of before) s3.objects.set(key, object);
      let left = end;
      // From that request on there is nobody; the process ends with it.
      s3.fault = () => {
        left -= 1;
        return left < 0 ? { kind: 'cut' } : null;
      };
      s3.onChange = () => expect([end, brokenLinks(s3)]).toEqual([end, []]);
      const cut = s3Target(s3, folders);
      expect([end, (await cut.update()).result]).toEqual([end, end < requests ? 'failed' : 'current']);
      s3.fault = () => null;
      s3.forgetEvents();
      expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'current' });
      expect([end, new Map(siteKeys(s3).map((key) => [key, s3.text(key)]))]).toEqual([end, whole]);
    }
  });

  it('keeps nothing of a page that turns private after an upload that broke off, wherever that was', async () => {
    await publishSite(folders, 'site', ['acme']);
    for (let end = 2; end <= 14; end += Math.max(1, Math.round(2 / SCALE))) {
      s3.objects.clear();
      await publishPage(folders, 'two', { parts: ['b', 'c'] });
      let left = end;
      s3.fault = () => {
        left -= 1;
        return left < 0 ? { kind: 'cut' } : null;
      };
      expect([end, (await s3Target(s3, folders).update()).result]).toEqual([end, 'failed']);
      s3.fault = () => null;
      await closeGate(folders, 'acme');
      await publishPage(folders, 'private', { access: 'password', parts: [] });
      expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'current', warnings: [] });
      expect([end, siteKeys(s3).filter((key) => key.startsWith('acme/'))]).toEqual([end, []]);
    }
  });

  it('shows an older release wholly when it is rolled back to after an upload that broke off', async () => {
    const old = await publishPage(folders, 'one');
    await s3Target(s3, folders).update();
    const before = new Map(siteKeys(s3).map((key) => [key, s3.text(key)]));
    await publishPage(folders, 'two');
    s3.fault = ({ key }) => (key === 'acme/index.html' ? { kind: 'cut' } : null);
    expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'failed' });
    expect(s3.text('acme/favicon.svg')).toContain('two');
    s3.fault = () => null;
    await switchTo({ disk: DISK, folders }, { slug: 'acme', number: old.number, isPublic: true });
    expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'current' });
    expect(new Map(siteKeys(s3).map((key) => [key, s3.text(key)]))).toEqual(before);
  });

  it('gets after a crash only what it has not, but for the files since the last note', async () => {
    const parts = Array.from({ length: 150 }, (_, index) => `p${index}`);
    await publishPage(folders, 'two', { parts });
    let left = 240;
    s3.fault = () => {
      left -= 1;
      return left < 0 ? { kind: 'cut' } : null;
    };
    expect(await s3Target(s3, folders).update()).toMatchObject({ result: 'failed' });
    const sent = new Set(siteKeys(s3));
    s3.fault = () => null;
    s3.forgetEvents();
    const report = await s3Target(s3, folders).update();
    expect(report.result).toBe('current');
    const again = s3.events.filter(({ method, key }) => method === 'PUT' && sent.has(key)).length;
    expect(sent.size).toBeGreaterThan(200);
    expect(again).toBeLessThanOrEqual(50 + 8);
    expect(report.filesWritten).toBe(303 - sent.size + again);
  });

  it('is given up in time when the process stops', async () => {
    s3.fault = () => ({ kind: 'answer', status: 503, code: 'SlowDown', retryAfter: 1 });
    const target = s3Target(s3, folders);
    const update = target.update();
    await new Promise((wait) => setTimeout(wait, 50));
    const started = performance.now();
    await target.close();
    expect(performance.now() - started).toBeLessThan(500);
    expect((await update).message).toContain('stopped');
  });
});
