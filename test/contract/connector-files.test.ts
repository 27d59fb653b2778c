import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EpochMs, toEpochMs, toIso } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { connectorOf } from '../../src/sync/connectors/index.ts';
import { postJsonSchema } from '../../src/sync/connectors/markdown/schema.ts';
import { newPostFile } from '../../src/sync/connectors/markdown/written.ts';
import { createHttp } from '../../src/sync/http/http.ts';
import { runPass, type UpstreamReport } from '../../src/sync/pass/pass.ts';
import { bindUpstream } from '../../src/sync/upstream.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';

const START = toEpochMs(Date.UTC(2026, 10, 21, 9, 13));
const http = createHttp();
let folder: string;
let store: Store;
let now: EpochMs;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-files-'));
  store = createStore(openEmptySqlite(join(folder, 'pharos.db'), START).database);
  now = START;
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

afterAll(() => http.close());

async function pass(kind: string, options: Readonly<Record<string, unknown>>): Promise<UpstreamReport> {
  const connector = connectorOf(kind);
  now = toEpochMs(now + 60_000);
  const settings = { id: 'it', options: connector.optionsSchema.parse(options), limits: null, intervalMs: 60_000 };
  const deps = { store, http, now: () => now, random: () => 0, sleep: async () => undefined };
  const report = await runPass([bindUpstream(connector, settings)], deps, { isManual: true });
  const [first] = report.upstreams;
  if (first === undefined) throw new Error('no report');
  return first;
}

const open = async () =>
  (await store.incidents(toEpochMs(0))).filter(({ endedAt }) => endedAt === null).map(({ title }) => title);

describe('posts on disk', () => {
  const posts = () => join(folder, 'posts');
  const write = (name: string, text: string) => writeFileSync(join(posts(), name), text);

  beforeEach(() => mkdirSync(posts()));

  it('become incidents; a typing error ends none, taking the file away takes it back', async () => {
    const api = newPostFile({ type: 'incident', title: 'API', started: toIso(START), monitors: ['edge/1'] });
    write(api.name, api.text);
    write(
      'shop.md',
      newPostFile({ type: 'incident', title: 'Shop', started: toIso(START), monitors: ['edge/2'] }).text,
    );
    write('.draft.md', 'not looked at');
    expect(await pass('markdown', { path: posts() })).toMatchObject({ kind: 'ok', problems: [] });
    expect((await open()).toSorted()).toEqual(['API', 'Shop']);

    write(api.name, api.text.replace('started:', 'startd:'));
    write(
      'mail.md',
      newPostFile({ type: 'incident', title: 'Mail', started: toIso(START), monitors: ['edge/3'] }).text,
    );
    const report = await pass('markdown', { path: posts() });
    expect(report.problems.map(({ place }) => place)).toEqual([`${api.name}: started`, api.name]);
    expect((await open()).toSorted()).toEqual(['API', 'Mail', 'Shop']);

    write(api.name, api.text);
    rmSync(join(posts(), 'shop.md'));
    await pass('markdown', { path: posts() });
    expect((await open()).toSorted()).toEqual(['API', 'Mail', 'Shop']);
    await pass('markdown', { path: posts() });
    expect((await open()).toSorted()).toEqual(['API', 'Mail']);
  });

  it('that are gone as a folder keep what is known, and the pass says which folder', async () => {
    write('api.md', newPostFile({ type: 'incident', title: 'API', started: toIso(START), monitors: ['edge/1'] }).text);
    await pass('markdown', { path: posts() });
    rmSync(posts(), { recursive: true });
    const report = await pass('markdown', { path: posts() });
    expect(report).toMatchObject({
      kind: 'failed',
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('/posts'),
    });
    expect(await open()).toEqual(['API']);
  });

  it('have a schema for editors, which is kept in docs', async () => {
    const text = `${JSON.stringify(postJsonSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(resolve(import.meta.dirname, '../../docs/schema/post.schema.json'));
  });
});

describe('infrastructure on disk', () => {
  const PAGE = 'resource "svc_status_page" "main" {\n  title = "Acme"\n  slug = "acme"\n}\n';
  const slugs = async () => ((await store.upstreams()).get('it')?.definitions ?? []).map(({ slug }) => slug);
  const access = async () => ((await store.upstreams()).get('it')?.definitions ?? []).map(({ access }) => access);

  it('is read from a folder, a single file and a state, with the same meaning', async () => {
    const infra = join(folder, 'infra');
    mkdirSync(infra);
    writeFileSync(join(infra, 'main.tf'), PAGE);
    writeFileSync(join(infra, 'notes.txt'), 'resource {{{');
    expect(await pass('terraform', { path: infra })).toMatchObject({ kind: 'ok' });
    expect(await slugs()).toEqual(['acme']);
    expect(await pass('terraform', { path: join(infra, 'main.tf') })).toMatchObject({ kind: 'ok' });
    expect(await slugs()).toEqual(['acme']);
    const attributes = { id: 'main', title: 'Acme', slug: 'acme' };
    const resources = [{ mode: 'managed', type: 'svc_status_page', name: 'main', instances: [{ attributes }] }];
    writeFileSync(join(folder, 'terraform.tfstate'), JSON.stringify({ version: 4, resources }));
    expect(await pass('terraform', { path: join(folder, 'terraform.tfstate') })).toMatchObject({ kind: 'ok' });
    expect(await slugs()).toEqual(['acme']);
  });

  it.each([
    ['a file that does not parse', 'broken.tf', 'resource "a" {', 'UPSTREAM_SHAPE'],
    ['a state that is cut off', 'broken.tfstate', '{"version":4,"resou', 'UPSTREAM_SHAPE'],
    ['an empty state', 'empty.tfstate', '', 'UPSTREAM_SHAPE'],
    ['a file that is not there', 'none.tf', null, 'UPSTREAM_REFUSED'],
  ])('keeps the last good definitions over %s', async (_, name, text, code) => {
    const good = join(folder, 'good.tf');
    writeFileSync(good, PAGE);
    await pass('terraform', { path: good });
    if (text !== null) writeFileSync(join(folder, name), text);
    expect(await pass('terraform', { path: join(folder, name) })).toMatchObject({ kind: 'failed', code });
    expect(await slugs()).toEqual(['acme']);
  });

  it('takes an answer whose page has a gate in doubt, and reports the page', async () => {
    const path = join(folder, 'gate.tf');
    writeFileSync(path, PAGE);
    await pass('terraform', { path });
    writeFileSync(path, PAGE.replace('"acme"\n', '"acme"\n  access_type = "password"\n'));
    const report = await pass('terraform', { path });
    expect(report).toMatchObject({ kind: 'ok', problems: [{ kind: 'gate' }] });
    expect(await access()).toEqual(['closed']);
  });

  it('never brings a secret into the report', async () => {
    const secret = join(folder, 'secret.tf');
    writeFileSync(
      secret,
      PAGE.replace('"acme"\n', '"acme"\n  password = { x = "hunter2" }\n  access_type = "hunter2"\n'),
    );
    const report = await pass('terraform', { path: secret });
    expect(report.problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(report)).not.toContain('hunter2');
  });
});
