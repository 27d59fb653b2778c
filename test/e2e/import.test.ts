import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { CSTATE_FILES, CSTATE_ISSUES } from '../helpers/cstate-site.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';

describe('a site that moved here from cState', () => {
  const folder = temporaryFolder();
  const run = (...args: string[]) => runWarm(args, { cwd: folder.path, env: {} });
  let pharos: RunningPharos;

  beforeAll(async () => {
    for (const [path, text] of Object.entries(CSTATE_FILES)) {
      mkdirSync(dirname(join(folder.path, 'old', path)), { recursive: true });
      writeFileSync(join(folder.path, 'old', path), text);
    }
    const imported = await run('import', 'cstate', 'old', '--page', 'harbour');
    expect([imported.status, imported.stderr]).toEqual([0, '']);
    const fragment = parse(readFileSync(join(folder.path, 'posts', 'harbour.pages.yaml'), 'utf8')) as object;
    const site = { url: 'http://127.0.0.1:4321', home: 'harbour' };
    writeFileSync(join(folder.path, 'pharos.yaml'), stringify({ site, ...fragment }));
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env: {} });
    await eventually(
      () => fetch(`${pharos.url}/-/ready`),
      (answer) => answer.status === 200,
    );
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  const answerOf = async (path: string): Promise<[number, string | null]> => {
    const answer = await fetch(pharos.url + path, { redirect: 'manual' });
    return [answer.status, answer.headers.get('location')];
  };

  it('is a configuration that has no fault', async () => {
    const checked = await run('check');
    expect([checked.status, checked.stdout + checked.stderr]).toEqual([0, expect.stringContaining('11 incidents')]);
  });

  it('tells each of its eleven issues, and leads there from where it was', async () => {
    const { incidents } = (await (await fetch(`${pharos.url}/api/v2/incidents.json`)).json()) as {
      incidents: { name: string }[];
    };
    expect(incidents).toHaveLength(11);
    for (const name of Object.keys(CSTATE_ISSUES)) {
      const stem = name.replace('.md', '');
      const now = `/incidents/posts-cstate-${stem}/`;
      expect(await answerOf(`/issues/${stem}/`)).toEqual([301, now]);
      expect(await answerOf(`/harbour/issues/${stem}/`)).toEqual([301, `/harbour${now}`]);
      expect((await answerOf(now))[0]).toBe(200);
    }
    expect(await answerOf('/issues/2019-04-13-crane')).toEqual([301, '/issues/2019-04-13-crane/']);
    expect(await answerOf('/issues/')).toEqual([301, '/history/']);
    expect(await answerOf('/affected/api/')).toEqual([301, '/components/api/']);
    expect(await answerOf('/index.xml')).toEqual([301, '/feed.rss']);
    expect((await answerOf('/issues/never-was/'))[0]).toBe(404);
    const feed = await (await fetch(`${pharos.url}/index.xml`)).text();
    expect(feed).toContain('<rss');
    const story = await (await fetch(`${pharos.url}/issues/2019-04-13-crane/`)).text();
    for (const words of ['Crane &amp; rails', 'The crane stands.', 'A bolt was loose.']) expect(story).toContain(words);
  });

  it('leads there on a static host too', async () => {
    const built = await run('build', '--offline', '--out', 'public');
    expect([built.status, built.stderr]).toEqual([0, expect.anything()]);
    const lines = readFileSync(join(folder.path, 'public', '_redirects'), 'utf8').split('\n');
    expect(lines).toContain('/issues/2019-04-13-crane/ /incidents/posts-cstate-2019-04-13-crane/ 301');
    expect(lines).toContain('/harbour/index.xml /harbour/feed.rss 301');
    for (const [file, link] of [
      ['issues/2019-04-13-crane/index.html', '../../incidents/posts-cstate-2019-04-13-crane/'],
      ['harbour/affected/api/index.html', '../../components/api/'],
    ] as const)
      expect(readFileSync(join(folder.path, 'public', file), 'utf8')).toContain(`content="0; url=${link}"`);
  });

  it('has nothing new the second time', async () => {
    const before = readdirSync(join(folder.path, 'posts')).toSorted();
    const again = await run('import', 'cstate', 'old', '--page', 'harbour', '--json');
    const { posts, page } = JSON.parse(again.stdout) as { posts: { outcome: string }[]; page: { outcome: string } };
    expect([...posts, page].map(({ outcome }) => outcome)).toEqual(Array.from({ length: 12 }, () => 'unchanged'));
    expect(readdirSync(join(folder.path, 'posts')).toSorted()).toEqual(before);
  });
});
