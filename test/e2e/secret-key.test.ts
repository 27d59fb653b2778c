/** A key that is missing or another one beside existing subscribers: nothing starts until somebody decides. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';

const folder = temporaryFolder();
const key = join(folder.path, 'data', 'secret.key');
const CONFIG = `site: { name: Acme, url: "http://localhost" }
access: { smtp: "\${SMTP}", from: status@mail.example }
pages: [{ slug: acme, title: Acme, subscriptions: true, components: [{ type: static, name: API }] }]
`;
let original: string;

const env = { SMTP: 'smtp://127.0.0.1:9' };
const add = (address: string) =>
  runWarm(['subscribers', 'add', address, '--page', 'acme', '--confirmed'], { cwd: folder.path, env });
const start = () => runWarm(['start', '--quiet', '--port', '0'], { cwd: folder.path, env });

beforeAll(async () => {
  writeFileSync(join(folder.path, 'pharos.yaml'), CONFIG);
  await runWarm(['build'], { cwd: folder.path, env });
  for (const address of ['a@mail.example', 'b@mail.example']) expect(await add(address)).toMatchObject({ status: 0 });
  original = readFileSync(key, 'utf8');
});
afterAll(() => folder.remove());

it.each([
  ['is missing', null, /^The addresses of 2 subscribers are encrypted with a key that is not in .*secret\.key\./],
  [
    'is another one',
    `${'A'.repeat(43)}\n`,
    /^The addresses of 2 subscribers are encrypted with another key than .*secret\.key\./,
  ],
])(
  'start refuses a key that %s, says what would be lost and how to go on, and changes nothing',
  async (_, text, says) => {
    if (text === null) rmSync(key);
    else writeFileSync(key, text);
    const { status, stderr } = await start();
    const words = stderr.replace(/\s+/g, ' ').trim();
    expect({ status, words }).toEqual({ status: 1, words: expect.stringMatching(says) });
    expect(words).toMatch(
      /they get no emails.* Restore .*secret\.key from a backup\. To go on with a new key, run "pharos start --new-key"/,
    );
    expect(existsSync(key) ? readFileSync(key, 'utf8') : null).toBe(text);
    writeFileSync(key, original);
  },
);

it('start --new-key goes on, as does every start after it; with the old key back, nothing is lost', async () => {
  rmSync(key);
  const first = await startWarm(['start', '--port', '0', '--new-key'], { cwd: folder.path, env });
  expect((await fetch(`${first.url}/acme/`)).status).toBe(200);
  await first.stop();
  expect(readFileSync(key, 'utf8')).not.toBe(original);
  const second = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
  await second.stop();
  writeFileSync(key, original);
  const { stdout } = await runWarm(['subscribers', 'list', '--page', 'acme', '--json'], { cwd: folder.path, env });
  expect(stdout).toContain('a@mail.example');
});

it('a preview works on a copy of the database without its key, and leaves the key alone', async () => {
  const preview = await startWarm(['preview', '--quiet'], { cwd: folder.path, env });
  expect((await fetch(`${preview.url}/acme/`)).status).toBe(200);
  await preview.stop();
  expect(readFileSync(key, 'utf8')).toBe(original);
});
