import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { referenceSections } from '../../scripts/config-reference.ts';
import { configShape } from '../../scripts/config-schema.ts';
import { references } from '../../scripts/reference.ts';
import { createProgram } from '../../src/cli/main.ts';
import { parseConfig } from '../../src/config/load.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { createMetrics } from '../../src/server/operators/metrics.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { faultOf } from '../helpers/command-fault.ts';
import { CSTATE_FILES } from '../helpers/cstate-site.ts';
import {
  anchorLinks,
  anchorsOf,
  codeBlocks,
  documents,
  innerLinks,
  proseOf,
  ROOT,
  shellLines,
  shellWords,
} from '../helpers/documents.ts';
import { editorFaults } from '../helpers/editor.ts';
import { runHere } from '../helpers/in-process.ts';
import { type MailSink, startMailSink } from '../helpers/mail-sink.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const DOCUMENTS = documents();
const BLOCKS = DOCUMENTS.flatMap(codeBlocks);
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe('references', () => {
  it.each(Object.entries(references()))('%s is as the code is by now', (path, text) => {
    expect(read(path), 'run: npm run reference').toBe(text);
  });

  it('say of every key what it is for', () => {
    const rows = referenceSections().flatMap((section) => section.rows);
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter(({ meaning }) => meaning === '').map(({ path }) => path)).toEqual([]);
  });

  it('explain every error code, and no other', () => {
    const headings = [...read('docs/troubleshooting.md').matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code);
    expect(headings).toEqual([...ERROR_CODES]);
    const parts = read('docs/troubleshooting.md').split(/^##+ /m);
    for (const code of ERROR_CODES) expect(parts.find((part) => part.startsWith(code))).toContain('*Do:*');
  });

  it('list every metric, and no other', async () => {
    const text = await createMetrics('1').text({
      upstreams: [],
      isReady: true,
      isFresh: true,
      pagesDefined: 0,
      pagesPublished: 0,
      runsWaiting: 0,
      mailsWaiting: 0,
      exports: [],
      components: [],
    });
    const served = [...text.matchAll(/^# TYPE (pharos_\S+)/gm)].map(([, name = '']) => name);
    const own = served.filter((name) => !/^pharos_(process|nodejs)_/.test(name));
    const [, table = ''] = read('docs/operating.md').split('\n## Metrics\n');
    const listed = table
      .split('\n## ')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('| `'));
    const names = listed?.flatMap((line) =>
      [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
    expect(names?.toSorted()).toEqual(own.toSorted());
  });

  it('link to files that there are', () => {
    const broken = DOCUMENTS.flatMap((document) =>
      innerLinks(document)
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${document.path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('link to headings that there are', () => {
    const anchors = new Map(DOCUMENTS.map((document) => [document.path, anchorsOf(document)]));
    const links = DOCUMENTS.flatMap((document) =>
      anchorLinks(document).map((link) => ({ from: document.path, ...link })),
    );
    expect(links.length).toBeGreaterThan(10);
    const broken = links.filter(({ file, anchor }) => anchors.get(file)?.includes(anchor) === false);
    expect(broken).toEqual([]);
  });

  it('begin with a README that is short', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  });

  it('are all in the index of documents', () => {
    const index = DOCUMENTS.find(({ path }) => path === 'docs/README.md');
    const listed = new Set(index === undefined ? [] : innerLinks(index));
    const below = DOCUMENTS.map(({ path }) => path).filter((path) => path.startsWith('docs/') && path !== index?.path);
    expect(below.filter((path) => !listed.has(path))).toEqual([]);
  });
});

describe('configurations in documents', () => {
  const KEYS = Object.keys(configShape(CONNECTORS).properties ?? {});

  const { cert: certificate } = makeCertificate('x.example', { from: new Date(0), to: new Date(Date.UTC(2120, 0, 1)) });

  /** What stands for something that is left out: a place in an address, a value, or more keys. */
  const complete = (text: string): string =>
    text
      .replaceAll(/,\s*…\s*\}/g, ' }')
      .replaceAll('"…"', '"someone@example.com"')
      .replaceAll('https://…', 'https://upstream.example.com')
      .replaceAll(/\bca: \$\{file:[^}]+\}/g, 'ca: ${CA}');

  /** What a variable of that name would hold, as far as its form is checked. */
  function heldBy(name: string): string {
    if (name.endsWith('_WEBHOOK_URL')) return 'https://hooks.example.com/value';
    if (name === 'SIGNING_SECRET') return `whsec_${Buffer.alloc(32).toString('base64')}`;
    if (name === 'TELEGRAM_BOT_TOKEN') return '123456:value-value-value';
    if (name === 'CA') return certificate;
    // A secret of its own for each, as long as secrets are.
    if (name.endsWith('_TOKEN')) return `a long enough secret for ${name}`;
    return name === 'DATABASE_URL' ? 'postgres://value' : 'smtp://value';
  }

  async function faultsOf(text: string): Promise<readonly string[]> {
    const value = parse(complete(text)) as unknown;
    const isList = Array.isArray(value);
    const isConfig = !isList && Object.keys(value as object).some((key) => KEYS.includes(key));
    // Another kind of file: that it can be read is all there is to say.
    if (!isList && !isConfig) return [];
    const lists = isList ? value.map((upstream) => ({ upstreams: [upstream] })) : [value as Record<string, unknown>];
    const faults = lists.map(async (part): Promise<readonly string[]> => {
      const config = stringify({ site: { url: 'https://status.example.com' }, ...part });
      const names = [...config.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name = '']) => [name, heldBy(name)]);
      try {
        parseConfig({ text: config, file: null, folder: ROOT }, CONNECTORS, Object.fromEntries(names));
      } catch (error) {
        return [String((error as Error).message)];
      }
      return (await editorFaults(config)).map((message) => `in editors: ${message}`);
    });
    return (await Promise.all(faults)).flat();
  }

  it.each(BLOCKS.filter(({ language }) => language === 'yaml').map((block) => [block.place, block.text]))(
    '%s is one that Pharos takes',
    async (_place, text) => {
      expect(await faultsOf(text)).toEqual([]);
    },
  );

  it('are refused where they are wrong, so that the test above means something', async () => {
    expect((await faultsOf('site: { url: "https://x.example", colour: red }'))[0]).toContain('unknown key colour');
    expect((await faultsOf('- { id: a, kind: server-monitor }'))[0]).toContain('baseUrl');
  });

  it('pharos.example.yaml is one that Pharos takes', async () => {
    expect(await faultsOf(read('pharos.example.yaml'))).toEqual([]);
  });
});

describe('other blocks in documents', () => {
  it('hold no command line outside of those that are tried below', () => {
    const lines = BLOCKS.filter(({ language }) => !['sh', 'console', 'text'].includes(language)).flatMap(shellLines);
    expect(lines.filter((line) => /^(\$ )?(npx )?pharos [a-z]+/.test(line))).toEqual([]);
  });

  it('name commands that there are, with options that they take', () => {
    const lines = BLOCKS.filter(({ language }) => language === 'console' || language === 'text')
      .flatMap(shellLines)
      .flatMap((line) => /^(?:[$#] )?(?:npx )?(pharos [a-z].*)$/.exec(line)?.[1] ?? []);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.map((line) => faultOf(shellWords(line).slice(1))).filter((fault) => fault !== null)).toEqual([]);
  });

  it.each(BLOCKS.filter(({ language }) => language === 'json').map((block) => [block.place, block.text]))(
    '%s is JSON',
    (_place, text) => {
      expect(() => JSON.parse(text)).not.toThrow();
    },
  );
});

describe('commands in sentences and tables', () => {
  it('are commands that there are, with options that they take', () => {
    const inline = DOCUMENTS.flatMap(({ text }) =>
      [...proseOf(text).matchAll(/`(?:npx )?(pharos [a-z][^`]*)`/g)].map(([, code = '']) => code),
    );
    expect(inline.length).toBeGreaterThan(30);
    const faults = inline.map((code) => {
      const words = shellWords(code.replaceAll(/[[\]]/g, '')).slice(1);
      return faultOf(words, true);
    });
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  });

  it('are all of those that there are, in the table of commands', () => {
    const shown = createProgram(() => undefined).commands.filter((command) => command.name() !== 'complete');
    const names = shown.flatMap((command) =>
      command.commands.length === 0
        ? [command.name()]
        : command.commands.map((inner) => `${command.name()} ${inner.name()}`),
    );
    const table = read('docs/commands.md')
      .split('\n')
      .filter((line) => line.startsWith('| `pharos '))
      .map((line) => line.split(' | ')[0] ?? '');
    const isListed = (name: string): boolean =>
      table.some((cell) => new RegExp(`\`(?:pharos )?${name}[\` ]`).test(cell));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !isListed(name))).toEqual([]);
    expect(isListed('frobnicate')).toBe(false);
  });

  it('are found out when they are not', () => {
    expect(faultOf(['frobnicate'])).toContain('no such command');
    expect(faultOf(['build', '--into', 'x'])).toContain('no --into');
    expect(faultOf(['backup'])).toContain('an argument is missing');
  });
});

describe('command lines in documents', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let mails: MailSink;
  let pharos: RunningPharos;
  let env: Record<string, string>;
  const lines = [
    ...new Set(
      BLOCKS.filter(({ language }) => language === 'sh')
        .flatMap(shellLines)
        .map((line) => line.replace(/^npx /, '')),
    ),
  ];
  const API = { id: 'api', type: 'static', name: 'API' };
  const isLong = (line: string): boolean => /^pharos (start|serve|preview)\b/.test(line);

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    env = { ...sandbox.environment(), HOOK_SECRET: 'hook-secret-000000000000' };
    mails = await startMailSink();
    env['SMTP_URL'] = mails.url;
    const config = parse(sandbox.configText({ include: ['server-monitor'] })) as {
      upstreams: Record<string, unknown>[];
      pages: { slug: string; components?: object[] }[];
    };
    const [edge] = config.upstreams;
    const text = stringify({
      ...config,
      upstreams: [{ ...edge, hook: { secrets: ['${HOOK_SECRET}'] } }],
      // The component that examples name is there too.
      pages: config.pages
        .filter(({ slug }) => slug !== 'staff')
        .map((page) => (page.slug === 'acme' ? { ...page, components: [...(page.components ?? []), API] } : page)),
      schedule: '0 0 1 * *',
      subscriptions: true,
      access: { smtp: '${SMTP_URL}', from: 'status@example.com' },
    });
    writeFileSync(join(folder.path, 'statuspage.csv'), 'Type,Email\nemail,reader@example.com\n');
    for (const name of ['pharos.yaml', 'next.yaml']) writeFileSync(join(folder.path, name), text);
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    await eventually(
      () => fetch(`${pharos.url}/-/ready`),
      (answer) => answer.status === 200,
    );
    // Something to roll back to.
    sandbox.world.force('website', 'down');
    const rebuilt = await runHere(['rebuild', '--url', pharos.url, '--quiet'], { cwd: folder.path, env });
    expect(rebuilt.status, rebuilt.stderr).toBe(0);
  });
  afterAll(async () => {
    await pharos?.stop();
    await sandbox?.stop();
    await mails?.close();
    folder.remove();
  });

  /** Where a command is tried: `init` never writes over a file, so it gets a folder of its own. */
  function placeOf(line: string): string {
    if (line.startsWith('pharos import ')) return importFolder();
    if (!line.includes(' init')) return folder.path;
    return mkdtempSync(join(folder.path, 'init-'));
  }

  /** With a site to import in it. */
  function importFolder(): string {
    const place = mkdtempSync(join(folder.path, 'import-'));
    for (const [path, text] of Object.entries(CSTATE_FILES)) {
      mkdirSync(dirname(join(place, 'status', path)), { recursive: true });
      writeFileSync(join(place, 'status', path), text);
    }
    return place;
  }

  async function tryLine(line: string): Promise<void> {
    // What a command prints goes into a file for a shell; here it is looked at.
    const words = shellWords(line.replace(/ > \S+$/, ''), env);
    const [program = ''] = words;
    if (program === 'npm' || line.includes(' && ')) return tryNpm(line);
    if (program === 'curl') return tryCurl(words);
    if (line === 'openssl rand -base64 32') return;
    if (program === 'export') return tryExport(line);
    const [, sourced] = /^source <\(pharos (.+)\)$/.exec(line) ?? [];
    const args = sourced === undefined ? words.slice(words.indexOf('pharos') + 1) : sourced.split(' ');
    expect([line, words.includes('pharos') || sourced !== undefined]).toEqual([line, true]);
    // Badge tokens are of gated pages, and the page of that name is public in the sandbox.
    const meant = args[0] === 'badges' ? args.map((word) => (word === 'acme' ? 'partners' : word)) : args;
    const result = await runHere(meant, {
      cwd: placeOf(line),
      env: line.includes(' init') ? { ...env, EDGE_KEY: '' } : env,
    });
    expect(result.status, `${line}\n${result.stderr}${result.stdout}`).toBe(0);
  }

  function tryNpm(line: string): void {
    for (const part of line.split(' && ')) {
      // What is installed beside Pharos has the versions that it asks for.
      const [, beside] = /^npm install ((?:@?[\w/-]+@[\d.]+ ?)+)$/.exec(part) ?? [];
      if (beside !== undefined) {
        const asked = Object.entries(packageJson.peerDependencies).map(([name, version]) => `${name}@${version}`);
        expect(beside.split(' ').toSorted()).toEqual(asked.toSorted());
        continue;
      }
      const [, script] = /^npm (?:run )?([\w-]+)$/.exec(part) ?? [];
      const isKnown = script === 'ci' || (script !== undefined && Object.hasOwn(packageJson.scripts, script));
      expect([part, isKnown]).toEqual([part, true]);
    }
  }

  /** Variables that Pharos or its Node reads. */
  function tryExport(line: string): void {
    expect(line).toMatch(/^export (HTTPS?_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS)=\S+$/);
  }

  async function tryCurl(words: readonly string[]): Promise<void> {
    const headers: Record<string, string> = {};
    let method = 'GET';
    let body: string | undefined;
    let url = '';
    for (let at = 1; at < words.length; at += 1) {
      const word = words[at] ?? '';
      const next = (): string => words[++at] ?? '';
      if (word === '-X') method = next();
      else if (word === '-H') {
        const [name = '', ...value] = next().split(': ');
        headers[name] = value.join(': ');
      } else if (word === '-d') body = next();
      else url = word.replace('http://127.0.0.1:4321', pharos.url);
    }
    expect(url).toMatch(/^http:/);
    const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    expect([words.join(' '), answer.status < 300, await answer.text()]).toEqual([
      words.join(' '),
      true,
      expect.anything(),
    ]);
  }

  it('are not few', () => {
    expect(lines.length).toBeGreaterThan(20);
  });

  it.each(lines.filter((line) => !isLong(line)))('%s', (line) => tryLine(line));

  it.each(lines.filter(isLong))('%s serves until it is stopped', async (line) => {
    const args = shellWords(line, env).slice(shellWords(line).indexOf('pharos') + 1);
    const cwd = join(folder.path, `long-${lines.indexOf(line)}`);
    mkdirSync(cwd);
    copyFileSync(join(folder.path, 'pharos.yaml'), join(cwd, 'pharos.yaml'));
    const running = await startWarm([...args, ...(args.includes('--port') ? [] : ['--port', '0'])], { cwd, env });
    expect((await fetch(`${running.url}/-/health`)).status).toBe(200);
    expect(await running.stop()).toBe(0);
  });

  it('the shells that completion is for can read it, where they are there', () => {
    expect(() => execFileSync('bash', ['-n'], { input: completionOf('bash') })).not.toThrow();
  });

  function completionOf(shell: string): string {
    return execFileSync(process.execPath, [join(ROOT, 'bin', 'pharos.js'), 'completion', shell], { encoding: 'utf8' });
  }
});
