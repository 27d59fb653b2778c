import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cstateSite } from '../../../src/imports/cstate/site.ts';
import { importFiles } from '../../../src/imports/files.ts';
import type { ImportedSite } from '../../../src/imports/site.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { projectPosts } from '../../../src/sync/connectors/markdown/project.ts';
import { CSTATE_FILES, CSTATE_ISSUES } from '../../helpers/cstate-site.ts';

const now = toEpochMs(Date.parse('2026-11-21T09:00:00Z'));
const context = { page: 'harbour', zone: 'UTC', now };
const options = { ...context, upstreamId: 'posts', folder: './posts' };

function siteOf(files: Readonly<Record<string, string>>, over: Partial<typeof context> = {}): ImportedSite {
  return cstateSite(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    { ...context, ...over },
  );
}

const oneIssue = (matter: string, body = '', name = 'one.md') =>
  siteOf({
    'config.yml': CSTATE_FILES['config.yml'] ?? '',
    [`content/issues/${name}`]: `---\n${matter}\n---\n${body}`,
  });

describe('a cState site', () => {
  const site = siteOf(CSTATE_FILES);
  const files = importFiles(site, options);
  const { incidents } = projectPosts(files.posts, { upstreamId: 'posts', zone: 'UTC', now });
  const told = (title: string) => incidents.find((one) => one.title === title);

  it('gives a post for each of its eleven issues, as the markdown upstream reads them', () => {
    expect(Object.keys(CSTATE_ISSUES)).toHaveLength(11);
    expect(incidents).toHaveLength(11);
    expect(told('Letters are late')).toMatchObject({
      impact: 'minor',
      status: 'resolved',
      startedAt: Date.parse('2019-01-30T16:24:00Z'),
      endedAt: Date.parse('2019-02-01T16:58:00Z'),
      components: [{ id: 'config/harbour/api', state: 'degraded' }],
      pages: ['config/harbour'],
    });
    expect(told('Letters are late')?.updates.map(({ body }) => body)).toEqual([
      '*Update* - Over.\n\n*Investigating* - Letters do not leave.',
    ]);
    expect(told('New paint')).toMatchObject({
      impact: 'none',
      components: [],
      endedAt: Date.parse('2023-04-16T18:34:00Z'),
    });
    expect(told('New paint')?.updates[0]?.body).toContain('{{< track "not a time" >}} stays');
    expect(told('Mooring API error!')).toMatchObject({ status: 'investigating', endedAt: null, impact: 'critical' });
  });

  it('keeps every update with its time, status and words, in their order', () => {
    const updatesOf = (title: string) =>
      told(title)?.updates.map(({ at, status, body }) => [new Date(at).toISOString().slice(0, 16), status, body]);
    expect(updatesOf('Crane & rails')).toEqual([
      ['2019-04-13T15:54', 'investigating', '*Investigating* - The crane stands.'],
      ['2019-04-13T16:50', 'monitoring', '*Monitoring* - It moves slowly.'],
      ['2019-04-13T17:30', null, '*Update* - It turns again.'],
      ['2019-04-13T17:30', 'postmortem', '*Post-mortem*\n\nA bolt was loose.'],
    ]);
    expect(updatesOf('Gulls')?.map(([, status]) => status)).toEqual([null, 'investigating', 'resolved']);
    expect(updatesOf('Fog')?.map(([at, status]) => [at, status])).toEqual([
      ['2019-05-25T04:13', 'investigating'],
      ['2019-05-25T05:54', 'resolved'],
    ]);
  });

  it('has its systems as components in the order and the groups of the page', () => {
    const [page] = (parse(files.fragment) as { pages: Record<string, unknown>[] }).pages;
    expect(page).toMatchObject({
      slug: 'harbour',
      title: 'Harbour Status',
      groups: [{ id: 'quays', name: 'Quays', default_open: false }],
      components: [
        { id: 'north-quay', type: 'static', name: 'North quay', group_id: 'quays' },
        { id: 'south-quay', description: 'Shallow at low tide.', group_id: 'quays' },
        { id: 'website' },
        { id: 'api' },
      ],
    });
    expect(page?.['redirects']).toMatchObject({
      '/issues/2019-04-13-crane/': '/incidents/posts-cstate-2019-04-13-crane/',
      '/affected/north-quay/': '/components/north-quay/',
      '/index.xml': '/feed.rss',
    });
  });

  it('says what is not here, or not as it was', () => {
    const lines = files.notes.map(({ place, message }) => `${place}: ${message}`);
    for (const part of [
      'content/pages/about.md: a page that is not an issue',
      'category "Quays": Pharos has no descriptions of groups',
      'system "Website": Pharos has no links on components; it pointed to https://harbour.example/',
      '2019-05-25-fog.md: has updates from before its start or after its end',
      'cstate-2024-12-27-mooring.md: still open at the source',
    ])
      expect(lines.filter((line) => line.includes(part))).toHaveLength(1);
  });

  it('notifies nobody', () => {
    for (const { text } of files.posts) expect(text).toContain('\ndeliver_notifications: false\n');
  });

  it('keeps the whole past on the page', () => {
    const { retentionDays } = parse(files.fragment) as { retentionDays: number };
    expect(retentionDays * 86_400_000).toBeGreaterThan(now - Date.parse('2019-01-30'));
    const tomorrow = importFiles(site, { ...options, now: toEpochMs(now + 86_400_000) });
    expect(tomorrow.fragment).toBe(files.fragment);
  });

  it('reads times in the zone of the site, of the command, or as they say', () => {
    const startOf = (matter: string, over = {}) => {
      const read = siteOf({ 'config.yml': 'title: x', 'content/issues/a.md': `---\ntitle: a\n${matter}\n---\n` }, over);
      return read.posts.map(({ post }) => (post.type === 'incident' ? post.started : ''));
    };
    expect(startOf('date: 2024-01-01 10:00:00', { zone: 'Europe/Berlin' })).toEqual(['2024-01-01T09:00:00.000Z']);
    expect(startOf('date: 2024-01-01 10:00:00 +0200')).toEqual(['2024-01-01T08:00:00.000Z']);
    expect(startOf('date: 2024-01-01')).toEqual(['2024-01-01T00:00:00.000Z']);
    const berlin = siteOf({
      'hugo.yaml': 'timeZone: Europe/Berlin',
      'content/issues/a.md': '---\ntitle: a\ndate: 2024-01-01 10:00:00\n---\n',
    });
    expect(berlin.posts[0]?.post).toMatchObject({ started: '2024-01-01T09:00:00.000Z' });
  });

  it('makes a maintenance of what is announced with its end', () => {
    const [post] = oneIssue(
      'title: Dredging\ndate: 2026-12-01 02:00\nresolvedWhen: 2026-12-01 04:00\nresolved: true\nseverity: notice\naffected: [API]',
    ).posts;
    expect(post?.post).toMatchObject({
      type: 'maintenance',
      starts: '2026-12-01T02:00:00.000Z',
      components: ['harbour/api'],
    });
  });

  it.each([
    ['title: x', 'its date "undefined" is invalid'],
    ['date: 2024-01-01', 'it has no title'],
    ['title: x\ndate: yesterday', 'its date "yesterday" is invalid'],
    ['title: "x', 'its front matter is not YAML'],
    ['title: x\ndate: 2024-01-01\nresolved: true', 'has no resolvedWhen'],
    ['title: x\ndate: 2024-01-01\nseverity: awful', 'its severity "awful" is not one of'],
    [
      'title: x\ndate: 2024-01-01\naffected: [Moon]',
      'system "Moon": issues name it, but the configuration doesn’t list it',
    ],
  ])('says of %j what is wrong with it', (matter, words) => {
    const { notes } = oneIssue(matter);
    expect(notes.map(({ place, message }) => `${place}: ${message}`).join('\n')).toContain(words);
  });

  it('keeps hostile words as text, and addresses that no page can have out', () => {
    const title = '</script>\u001b[31m "x": [y](javascript:z)';
    const hostile = oneIssue(
      `title: ${JSON.stringify(title)}\ndate: 2024-01-01\nurl: "//evil.example/"\naliases: ["/../up/", "/old page/"]`,
      '## 2024-01-02T00:00:00Z resolved\n\n<script>alert(1)</script>\n---\ntype: override\n---\n',
    );
    const made = importFiles(hostile, options);
    expect(made.posts).toHaveLength(1);
    const read = projectPosts(made.posts, { upstreamId: 'posts', zone: 'UTC', now });
    expect(read.incidents[0]).toMatchObject({ endedAt: null, status: 'investigating' });
    expect(read.incidents[0]?.title).toBe('</script> [31m "x": [y](javascript:z)');
    expect(read.incidents[0]?.updates).toHaveLength(1);
    expect(
      Object.keys((parse(made.fragment) as { pages: { redirects: object }[] }).pages[0]?.redirects ?? {}).join(' '),
    ).not.toMatch(/evil|\.\.| page/);
    expect(made.notes.filter(({ message }) => message.includes('so there is no redirect'))).toHaveLength(3);
  });
});
