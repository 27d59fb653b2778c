/** Mistakes that people make in pharos.yaml: `check` names the place, what stands there, and what to do. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { channel, ENV, intake, MISTAKES, page, upstream } from '../helpers/configuration-mistakes.ts';
import { editorFaults, editorSuggestions } from '../helpers/editor.ts';
import { runHere } from '../helpers/in-process.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

const STATE = (retry: number): string =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.9.0',
    resources: [
      {
        mode: 'managed',
        type: 'svc_http_monitor',
        name: 'api',
        instances: [{ attributes: { id: '1', name: 'API', url: 'https://x.example', periodicity: '1m', retry } }],
      },
    ],
  });

/** What an editor says of a mistake; of all others it says nothing, since it can't know. */
const EDITOR: Readonly<Record<string, string>> = {
  'an empty file': 'Missing property "site"',
  'a tab': 'Tabs are not allowed',
  'a bracket that is not closed': 'end with a }',
  'a quote that is not closed': 'Missing closing',
  'a key twice': 'must be unique',
  'a list instead of keys': 'Incorrect type',
  'UTF-16': 'Incorrect type',
  'an alias without an anchor': 'Unresolved alias',
  'an unknown key at the top': 'Property upstream is not allowed',
  'an unknown key of the site': 'Property nmae is not allowed',
  'no address': 'Missing property "url"',
  'an address without a scheme': 'expected an http(s) address',
  'a colour': 'expected a colour as #rrggbb',
  'a preset': '"paper"',
  'a password in clear': 'Secrets must not be in this file. Use ${NAME}',
  'a token in clear': 'Secrets must not be in this file',
  'an address of a webhook in clear': 'Secrets must not be in this file',
  'a database in clear': 'Secrets must not be in this file',
  'a secret of a list in clear': 'Secrets must not be in this file',
  'a preset beside a mapping': 'Property mapping is not allowed',
  'neither preset nor mapping': 'Missing property "mapping"',
  'a port': 'maximum of 65535',
  'an access log': '"common"',
  'days of history': 'minimum of 91',
  'a schedule': 'expected a cron expression of five fields',
  'a text for a number': 'Expected "integer"',
  'a kind': '"uptime-kuma"',
  'no kind': 'Missing property "kind"',
  'an option of a kind': 'Property pth is not allowed',
  'an option that is missing': 'Missing property "path"',
  'an id with a blank': 'expected at most 64 letters, digits',
  limits: 'minimum of 0',
  'a slug': 'lower-case letters',
  'a password without one': 'Missing property "password"',
  'domains without any': 'Missing property "auth_email_domains"',
  'addresses without any': 'Missing property "allow_ips"',
  'ways in without addresses': 'Missing property "allow_ips"',
  'an access type': '"public"',
  'a domain with a path': 'expected a host name',
  'a component without a monitor': 'Missing property "monitor"',
  'a static component without a name': 'Missing property "name"',
  'a monitor without an upstream': 'expected <upstream id>/<external id>',
  'a CSS variable': '"--pharos-accent"',
  'a redirect': 'does not match the pattern',
  'subscriptions without a mail server': 'Missing property "access"',
  'a kind of channel': '"slack"',
  'an email channel without a mail server': 'Missing property "access"',
  'an intake without a token': 'Missing property "operators"',
};

describe('pharos check', () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    mkdirSync(join(folder.path, 'posts'));
    writeFileSync(join(folder.path, 'state.json'), STATE(3));
    writeFileSync(join(folder.path, 'rejected.json'), STATE(11));
  });
  afterAll(() => folder.remove());
  const check = async (text: string | Buffer): Promise<{ readonly status: number; readonly said: string }> => {
    writeFileSync(join(folder.path, 'pharos.yaml'), text);
    const { status, stdout, stderr } = await runHere(['check', '--offline'], { cwd: folder.path, env: ENV });
    return { status, said: `${stdout}${stderr}`.replaceAll(/\s+/g, ' ') };
  };

  it('has nothing to say of what these mistakes are made in', async () => {
    for (const text of [
      page('components: [{ monitor: iac/1 }, { type: static, id: desk, name: Desk }]'),
      channel('pages: [acme]'),
      intake('page: acme'),
    ])
      expect([await check(text), await editorFaults(text)]).toMatchObject([
        { status: 0, said: expect.not.stringContaining('✗') },
        [],
      ]);
  });

  it('names an item that a sync can’t read, which is unknown by itself', async () => {
    const { status, said } = await check(upstream('id: iac, kind: terraform, path: ./rejected.json'));
    expect([status, said]).toEqual([0, expect.stringMatching(/! iac: .*retry/)]);
  });

  it.each(MISTAKES)('names %s', async (_name, text, ...expected) => {
    const { status, said } = await check(text);
    expect(status).not.toBe(0);
    const built = await runHere(['build'], { cwd: folder.path, env: ENV });
    const told = `${built.stdout}${built.stderr}`.replaceAll(/\s+/g, ' ');
    // What nothing has may appear later, so it stops no build; but it is said, in the words of `check`.
    if (built.status === 0)
      for (const words of expected) expect(told).toContain(String(words).replace(/ \(line \d+\)$/, ''));
    for (const words of expected) expect(said).toContain(words);
    // A sentence, never a stack.
    expect(said).not.toMatch(/ at \S+ \(?(?:file|node):/);
    for (const secret of Object.values(ENV)) expect(said).not.toContain(secret);
  });
});

describe('an editor', () => {
  it.each(MISTAKES)('says what check says of %s, or nothing', async (name, text) => {
    const said = await editorFaults(String(text));
    const expected = EDITOR[String(name)];
    if (expected === undefined) expect(said).toEqual([]);
    else expect(said.join('\n')).toContain(expected);
  });

  it('knows of every mistake that it has to name, and of most of them all', () => {
    const names = new Set(MISTAKES.map(([name]) => name));
    expect(Object.keys(EDITOR).filter((name) => !names.has(name))).toEqual([]);
    expect(MISTAKES.length).toBeGreaterThanOrEqual(60);
  });

  it('takes a reference wherever a text may stand', async () => {
    const text = page(
      'title: "${A}", access_type: "${B}", homepage_url: "${C}", custom_domain: "${D}", password: "x${E}"',
    );
    expect(await editorFaults(text.replace('slug: acme', 'slug: "${F}"'))).toEqual([]);
  });

  it('offers kinds, and the keys of the kind', async () => {
    const begun = 'upstreams:\n  - id: x\n    kind: ';
    expect(await editorSuggestions(begun)).toEqual(expect.arrayContaining(['markdown', 'uptime-kuma', 'terraform']));
    const ofMarkdown = await editorSuggestions(`${begun}markdown\n    `);
    expect(ofMarkdown).toEqual(expect.arrayContaining(['path', 'drafts', 'schedule']));
    expect(ofMarkdown).not.toContain('baseUrl');
  });
});
