import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { readFileQuestion } from '../../../src/sync/pass/read-files.ts';

const NOW = toEpochMs(1_000);
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-file-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const read = (name: string, reads: 'json' | 'text' | 'folder') =>
  readFileQuestion({ method: 'GET', url: pathToFileURL(join(folder, name)).href, headers: {}, reads }, NOW);

describe('a question to the disk', () => {
  it('is answered with JSON, text, or the files of a folder sorted by name', async () => {
    writeFileSync(join(folder, 'b.md'), 'two');
    writeFileSync(join(folder, 'a b#.json'), '\ufeff{"a":1}');
    writeFileSync(join(folder, '.hidden'), 'no');
    mkdirSync(join(folder, 'deeper'));
    expect(await read('a b#.json', 'json')).toEqual({
      status: 200,
      payload: { a: 1 },
      at: NOW,
      clockSkewMs: null,
      remaining: null,
    });
    expect((await read('b.md', 'text')).payload).toBe('two');
    expect((await read('.', 'folder')).payload).toEqual([
      { name: 'a b#.json', text: '{"a":1}' },
      { name: 'b.md', text: 'two' },
    ]);
  });

  it('that names nothing is refused with what to do', async () => {
    await expect(read('none.json', 'json')).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('Check that it exists'),
    });
    await expect(read('none', 'folder')).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' });
    await expect(
      readFileQuestion({ method: 'GET', url: 'file://elsewhere/x', headers: {}, reads: 'text' }, NOW),
    ).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' });
  });

  it('to a file that is no JSON or too large is unreadable', async () => {
    writeFileSync(join(folder, 'x.json'), '{');
    await expect(read('x.json', 'json')).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
    writeFileSync(join(folder, 'x.txt'), Buffer.alloc(17 * 1024 * 1024));
    await expect(read('x.txt', 'text')).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
    await expect(read('.', 'folder')).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
  });

  it('follows links within its folder, and opens nothing else', async () => {
    const posts = join(folder, 'posts');
    mkdirSync(join(posts, '..data'), { recursive: true });
    mkdirSync(join(folder, 'posts-of-others'));
    writeFileSync(join(posts, '..data', 'a.md'), 'mounted');
    writeFileSync(join(folder, 'secret'), 'root:x');
    writeFileSync(join(folder, 'posts-of-others', 'x.md'), 'root:x');
    symlinkSync('..data/a.md', join(posts, 'a.md'));
    symlinkSync('../secret', join(posts, 'b.md'));
    symlinkSync('../posts-of-others/x.md', join(posts, 'c.md'));
    symlinkSync('..data', join(posts, 'd.md'));
    symlinkSync('nowhere', join(posts, 'e.md'));
    execFileSync('mkfifo', [join(posts, 'f.md')]);
    const out = 'is a link to a file outside the folder; copy the file instead';
    expect((await read('posts', 'folder')).payload).toEqual([
      { name: 'a.md', text: 'mounted' },
      { name: 'b.md', text: '', fault: out },
      { name: 'c.md', text: '', fault: out },
      { name: 'd.md', text: '', fault: 'is not a regular file' },
      { name: 'e.md', text: '', fault: 'is a broken link' },
      { name: 'f.md', text: '', fault: 'is not a regular file' },
    ]);
    // A folder that is itself a link is what the operator named.
    symlinkSync('posts', join(folder, 'current'));
    expect((await read('current', 'folder')).payload).toHaveLength(6);
    await expect(read('posts/f.md', 'text')).rejects.toMatchObject({
      code: 'UPSTREAM_SHAPE',
      message: expect.stringContaining('not a regular file'),
    });
  });
});
