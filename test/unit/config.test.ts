import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema } from '../../scripts/config-schema.ts';
import { interpolate, parseConfig } from '../../src/config/load.ts';
import { isStatusError } from '../../src/errors.ts';
import { Secret } from '../../src/schema/secret.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const ENVIRONMENT = { TOKEN: 'tok-123', PW: 'pw-456' };

function load(text: string, environment: Record<string, string> = ENVIRONMENT) {
  return parseConfig({ text, file: '/etc/pharos.yaml', folder: '/etc' }, CONNECTORS, environment);
}

function faultsOf(text: string, environment?: Record<string, string>): string[] {
  try {
    load(text, environment);
    return [];
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.issues.map((issue) => `${issue.path}: ${issue.message}`);
  }
}

const SITE = 'site: { url: "https://status.example.com" }\n';

describe('the configuration', () => {
  it('fills in what is left out', () => {
    expect(load(SITE)).toMatchObject({
      site: { name: 'Status', timezone: 'UTC', locale: 'en' },
      server: { host: '127.0.0.1', port: 4321, trustedProxyHops: 0 },
      data: '/etc/data',
      schedule: '* * * * *',
      upstreams: [],
      pages: [],
    });
  });

  it('takes secrets from the environment, keeps them closed, and lists them for redaction', () => {
    const config = load(
      `${SITE}operators: { token: "\${TOKEN}" }\npages: [{ slug: a, access_type: password, password: "\${PW}" }]\n`,
    );
    expect(config.operators.token?.reveal()).toBe('tok-123');
    expect([...config.secrets].sort()).toEqual(['pw-456', 'tok-123']);
    expect(JSON.stringify(config)).not.toContain('tok-123');
    expect(inspect(config, { depth: 9 }).replace(/secrets: Set[^}]*}/, '')).not.toContain('pw-456');
  });

  it('lists what comes from outside in headers of checks for redaction, and refuses their secrets in clear', () => {
    const upstreams = (value: string, key = 'X-Anything') =>
      `${SITE}upstreams: [{ id: c, kind: checks, checks: [{ name: A, type: http, url: "https://a.example", periodicity: 1m, headers: [{ key: ${key}, value: "${value}" }], body: "\${PW}" }] }]\n`;
    const config = load(upstreams('Bearer ${TOKEN}'));
    expect([...config.secrets]).toEqual(['tok-123']);
    expect(load(upstreams('en')).secrets.size).toBe(0);
    const path = 'upstreams[0].checks[0].headers[0].value';
    expect(faultsOf(upstreams('Bearer hunter2', 'Authorization'))[0]).toContain(
      `${path}: secrets must not be in this file`,
    );
  });

  it('refuses a secret in clear and names the way to give it', () => {
    expect(faultsOf(`${SITE}operators: { token: hunter2hunter2 }\n`)).toEqual([
      'operators.token: secrets must not be in this file. Use ${NAME} and set that environment variable, or use ${file:/path} (line 2)',
    ]);
  });

  it('says which variable is missing, at its place and line', () => {
    expect(faultsOf(`${SITE}operators: { token: "\${MISSING}" }\n`)).toEqual([
      'operators.token: environment variable MISSING is not set. Set it, or read the value from a file with ${file:/path} (line 2)',
    ]);
  });

  it('says where a file that is no YAML goes wrong', () => {
    expect(faultsOf('site: [unclosed\nmore: x')[0]).toMatch(/^line \d+: /);
  });

  it.each([
    [
      'site:\n  name: a: b\n',
      'line 2: a mapping can’t start here. If this is text that contains ": ", put it in quotes',
    ],
    ['site:\n\turl: x\n', 'line 2: tabs can’t be used for indentation. Use spaces'],
    ['site:\n  url: "x\n\n\n', 'line 2: this quote is not closed'],
    ['pages: [\n  { slug: a }\nupstreams: []\n', 'line 1: this [ is not closed'],
    ['site: { url: x\nupstreams: []\n', 'line 1: this { is not closed'],
    ['site: {}\nsite: {}\n', 'line 2: this key is used twice in the same mapping'],
    ['site:\n  name: *x\n', 'line 2: there is no anchor for this alias. If it is text, put it in quotes'],
  ])('says what is wrong with a file that is no YAML: %j', (text, fault) => {
    expect(faultsOf(text)[0]).toBe(fault);
  });

  it('names each unknown key where it stands', () => {
    expect(faultsOf(`surprise: 1\n${SITE}upsteams: []\n`)).toEqual([
      ': unknown key surprise (line 1)',
      ': unknown key upsteams. Did you mean upstreams? (line 3)',
    ]);
  });

  it('names unknown keys, doubled ids and references to nothing', () => {
    const faults = faultsOf(
      `${SITE}colour: red\nupstreams:\n  - { id: a, kind: server-monitor, baseUrl: "https://x.example", apiKey: "\${TOKEN}" }\n  - { id: a, kind: server-monitor, baseUrl: "https://x.example", apiKey: "\${TOKEN}", speed: 3 }\n`,
    );
    expect(faults.join('\n')).toContain('unknown key colour');
    expect(faults.join('\n')).toContain('upstreams[1]');
    expect(
      faultsOf(
        `${SITE}pages:\n  - slug: a\n    groups: [{ id: g, name: G }]\n    components: [{ type: static, name: X, group_id: h }, { monitor: b/1 }]\n`,
      ).join('\n'),
    ).toMatch(/group_id: there is no group h/);
  });

  it('says of each fault what was expected, what it got and what was probably meant', () => {
    const text = `${SITE}server: { port: "8080", hosst: x }
upstreams:
  - { id: a, kind: server-montor }
  - { id: b, kind: server-monitor, baseUrl: "https://x.example", apiKey: "\${TOKEN}", aut: 5 }
  - { id: c, kind: server-monitor, baseUrl: "https://x.example" }
pages: [{ slug: a, theme: drak, incidents: { after: 3 } }, { slug: b, title: "" }]
`;
    expect(faultsOf(text)).toEqual([
      'server.port: expected a number; got "8080" (line 2)',
      'server: unknown key hosst. Did you mean host? (line 2)',
      expect.stringMatching(
        /^upstreams\[0\]\.kind: unknown kind "server-montor"\. Did you mean server-monitor\? Expected one of server-monitor, .* \(line 4\)$/,
      ),
      'upstreams[1]: unknown key aut. Did you mean auth? (line 5)',
      'upstreams[2].apiKey: missing; expected a string (line 6)',
      'pages[0].theme: expected one of system, light, dark; got "drak". Did you mean dark? (line 7)',
      'pages[0].incidents.after: expected a duration such as 90s, 3m or 1h, or off; got 3 (line 7)',
      'pages[1].title: expected at least 1 character; got "" (line 7)',
    ]);
  });

  it('shows the line with a caret below the fault', () => {
    expect(() => load(`${SITE}server: { host: x, port: "8080" }\n`)).toThrow(
      `/etc/pharos.yaml has an error:
  server.port: expected a number; got "8080" (line 2)
    2 | server: { host: x, port: "8080" }
      |                          ^^^^^^`,
    );
  });

  it('shows no secret of the file beside a fault, be it in clear, escaped, over lines, or in a file that is no YAML', () => {
    const entry = '"hun\\"ter2"';
    for (const text of [
      `${SITE}operators: { token: ${entry}, nope: 1 }\n`,
      `${SITE}upstreams: [{ id: a, kind: nope, apiKey: ${entry} }]\n`,
      `${SITE}intake: [{ id: a, page: a, secrets: [ter2, "x-ter2"], preset: no }]\n`,
      `${SITE}pages: [{ slug: a, password: >\n      hun\n      ter2\n  , theme: no }]\n`,
      `${SITE}operators: { token: 12342, nope: 1 }\n`,
      `${SITE}operators:\n  token: hun ter2: x\n`,
      `${SITE}intake:\n  - secrets:\n    - ter2 [\n   - x: y\n`,
    ]) {
      expect(() => load(text)).toThrow();
      try {
        load(text);
      } catch (error) {
        const { message, issues } = error as { message: string; issues: unknown };
        expect(message + JSON.stringify(issues), text).not.toMatch(/ter2|hun|12342/);
      }
    }
  });

  it('says what to do about an empty file', () => {
    for (const text of ['', '# nothing yet\n'])
      expect(faultsOf(text)).toEqual([': the file is empty. Start with `pharos init`, or copy pharos.example.yaml']);
  });

  it('refuses slugs that could not be addresses or belong to the site', () => {
    for (const slug of ['A', 'a b', '../x', '-', 'api', '', 'x_y'])
      expect(faultsOf(`${SITE}pages: [{ slug: ${JSON.stringify(slug)} }]\n`)).not.toEqual([]);
    for (const slug of ['a', 'a-b', '2026']) expect(faultsOf(`${SITE}pages: [{ slug: "${slug}" }]\n`)).toEqual([]);
  });

  it('names a theme variable that there is not, or a value that could call out', () => {
    const fault = (variables: string) =>
      faultsOf(`${SITE}pages: [{ slug: a, css_variables: ${variables} }]\n`)[0] ?? '';
    expect(fault('{ "--pharos-ink": "#123456" }')).toBe('');
    expect(fault('{ "--mine": "1px" }')).toContain('pages[0].css_variables.--mine: expected one of --pharos-accent');
    expect(fault('{ "--pharos-ink": "url(https://evil.test)" }')).toContain('css_variables.--pharos-ink');
  });

  it('takes the address of a Postgres database as a secret, and no other address', () => {
    const url = 'postgres://pharos:pw-canary@db.example.com/pharos';
    const config = load(`${SITE}store: { url: "\${DB}" }\n`, { DB: url });
    expect(config.store?.url.reveal()).toBe(url);
    expect(inspect(config, { depth: 9 }).replace(/secrets: Set.*/, '')).not.toContain('canary');
    expect(config.secrets).toContain(url);
    expect(faultsOf(`${SITE}store: { url: "${url}" }\n`)[0]).toMatch(/^store\.url: secrets must not be in this file/);
    for (const other of ['mysql://db/x', 'pharos.db', 'https://db.example.com'])
      expect(faultsOf(`${SITE}store: { url: "\${DB}" }\n`, { DB: other })[0]).toContain(
        'store.url: expected postgres://',
      );
  });

  it('never fails open: a gate without its means is refused', () => {
    expect(faultsOf(`${SITE}pages: [{ slug: a, access_type: password }]\n`)[0]).toMatch(/pages\[0\]\.password/);
    expect(faultsOf(`${SITE}pages: [{ slug: a, access_type: email-domain }]\n`)[0]).toMatch(/auth_email_domains/);
    expect(faultsOf(`${SITE}pages: [{ slug: a, access_type: secret }]\n`)[0]).toMatch(/access_type/);
  });

  it('reads the example in the repository', () => {
    const text = readFileSync(join(ROOT, 'pharos.example.yaml'), 'utf8');
    const names = [...text.matchAll(/\$\{([A-Z_]+)\}/g)].map((match) => match[1] ?? '');
    const environment = Object.fromEntries(
      names.map((name) => [name, name === 'SMTP_URL' ? 'smtp://localhost' : `value-of-${name}`]),
    );
    expect(load(text, environment).upstreams.map((upstream) => upstream.id)).toEqual(['edge', 'svc', 'backups', 'crm']);
  });

  it('reads the first configuration of the documents', () => {
    const text = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/install.md'), 'utf8'))?.[1] ?? '';
    expect(load(text, { EDGE_KEY: 'k', PHAROS_TOKEN: 't' }).pages.map((page) => page.slug)).toEqual(['acme']);
  });

  it('has an editor schema that is current', () => {
    const stored = readFileSync(join(ROOT, 'docs', 'pharos.schema.json'), 'utf8');
    expect(JSON.parse(stored), 'run: npm run reference').toEqual(
      JSON.parse(JSON.stringify(configJsonSchema(CONNECTORS))),
    );
    expect(Object.keys((parse(stored) as { properties: object }).properties)).toContain('upstreams');
  });
});

describe('interpolation', () => {
  it('replaces inside text, reads files, and leaves everything else alone', () => {
    const { value, issues } = interpolate(
      { a: 'Bearer ${TOKEN}', b: [1, null, true], c: '$TOKEN {x}', d: '${file:package.json}' },
      ENVIRONMENT,
      ROOT,
    );
    expect(issues).toEqual([]);
    expect(value).toMatchObject({ a: 'Bearer tok-123', b: [1, null, true], c: '$TOKEN {x}' });
    expect((value as { d: string }).d).toContain('"name": "pharos"');
  });

  it('does not interpolate what came out of a variable', () => {
    expect(interpolate({ a: '${A}' }, { A: '${TOKEN}', TOKEN: 'secret' }, ROOT).value).toEqual({ a: '${TOKEN}' });
  });
});

describe('a secret', () => {
  it('prints as stars wherever it ends up', () => {
    const secret = new Secret('hunter2');
    expect([String(secret), JSON.stringify({ secret }), inspect(secret), `${secret}`]).toEqual([
      '***',
      '{"secret":"***"}',
      '***',
      '***',
    ]);
  });
});

describe('releases', () => {
  const environment = { DATABASE_URL: 'postgres://a:b@db.example.com/pharos', ID: 'AKID-0001', KEY: 'secret-0001' };
  const S3 =
    's3: { endpoint: "https://s3.example.com", bucket: "rel", accessKeyId: "${ID}", secretAccessKey: "${KEY}" }';
  const STORE = 'store: { url: "${DATABASE_URL}" }\n';
  const of = (releases: string, store = STORE): string => `${SITE}${store}releases: { ${releases} }\n`;

  it('are in a bucket, or nowhere', () => {
    expect(load(of(S3, ''), environment).releases).toMatchObject({ s3: { bucket: 'rel' } });
    expect(load(SITE).releases).toBeUndefined();
  });

  it('need the bucket', () => {
    expect(faultsOf(of(''), environment)).toEqual([expect.stringContaining('releases.s3: ')]);
  });

  it.each(['true', 'false'])('in the database (%s) are refused, with what to use instead', (value) => {
    for (const releases of [`database: ${value}`, `database: ${value}, ${S3}`])
      expect(faultsOf(of(releases), environment)).toContainEqual(
        expect.stringMatching(
          /^releases: releases are no longer kept in the database\. Set releases\.s3 .* \(line 3\)$/,
        ),
      );
  });
});

describe('output', () => {
  const S3 = {
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    bucket: 'pages',
    accessKeyId: '${ID}',
    secretAccessKey: '${KEY}',
  };
  const environment = { ID: 'AKID-0001', KEY: 'secret-0001' };
  const textOf = (s3: object): string => `${SITE}output: { s3: ${JSON.stringify({ ...S3, ...s3 })} }\n`;
  const s3Of = (s3: object = {}) => load(textOf(s3), environment).output.s3;

  it('is nothing unless configured, and a folder is relative to the file', () => {
    expect(load(SITE).output).toEqual({ sealed: false });
    expect(load(`${SITE}output: { folder: ../srv/status }\n`).output.folder).toBe('/srv/status');
  });

  it('takes keys from the environment only, and keeps them closed', () => {
    const config = load(textOf({}), environment);
    expect(config.output.s3?.secretAccessKey.reveal()).toBe('secret-0001');
    expect([...config.secrets].toSorted()).toEqual(['AKID-0001', 'secret-0001']);
    expect(JSON.stringify(config)).not.toMatch(/secret-0001|AKID-0001/);
    expect(faultsOf(textOf({ secretAccessKey: 'in-clear', sessionToken: 'in-clear' }), environment)).toEqual([
      expect.stringContaining('output.s3.secretAccessKey: secrets must not be in this file'),
      expect.stringContaining('output.s3.sessionToken: secrets must not be in this file'),
    ]);
  });

  it.each([
    ['https://s3.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['https://s3.dualstack.us-west-2.amazonaws.com', 'us-west-2'],
    ['https://s3.us-west-004.backblazeb2.com', 'us-west-004'],
    ['https://0123456789abcdef.r2.cloudflarestorage.com', 'auto'],
    ['http://127.0.0.1:9000', 'us-east-1'],
    ['https://minio.example.com/api', 'us-east-1'],
  ])('knows from %s that the region is %s', (endpoint, region) => {
    expect(s3Of({ endpoint })?.region).toBe(region);
    expect(s3Of({ endpoint, region: 'mars-1' })?.region).toBe('mars-1');
  });

  it('refuses two addresses in one text, and says that it takes one', () => {
    expect(faultsOf('site: { url: "https://a.example,https://b.example" }\n')).toEqual([
      expect.stringContaining('site.url: expected one address, without a comma in its host name'),
    ]);
    expect(load('site: { url: "https://a.example/b,c" }\n').site.url).toBe('https://a.example/b,c');
  });

  it('ends a prefix with a slash', () => {
    expect(['', 'status', 'a/b/'].map((prefix) => s3Of({ prefix })?.prefix)).toEqual(['', 'status/', 'a/b/']);
  });

  it.each([
    [{ endpoint: 'http://minio.example.com' }, 'output.s3.endpoint: expected https'],
    [{ endpoint: 'ftp://x' }, 'output.s3.endpoint: expected an http(s) address'],
    [{ endpoint: 'https://user:pw@s3.example.com' }, 'output.s3.endpoint: expected a URL without user'],
    [{ endpoint: 'https://s3.example.com/?x=1' }, 'output.s3.endpoint: expected a URL without user'],
    [{ bucket: 'Pages_1' }, 'output.s3.bucket: expected a bucket name'],
    [{ bucket: '192.168.0.1' }, 'output.s3.bucket: expected a name'],
    [{ bucket: 'a..b' }, 'output.s3.bucket: expected a name'],
    [{ prefix: '../up' }, 'output.s3.prefix: expected a prefix without'],
    [{ prefix: '/root' }, 'output.s3.prefix: expected a path without a leading /'],
    [{ prefix: 'a b' }, 'output.s3.prefix: expected letters'],
    [{ region: 'EU WEST' }, 'output.s3.region: expected a region'],
    [{ addressing: 'virtual-host', bucket: 'a.b' }, 'output.s3.addressing: certificates do not cover'],
    [{ contentEncoding: 'zstd' }, 'output.s3.contentEncoding'],
  ])('refuses %j by its path, with what is expected', (s3, message) => {
    expect(faultsOf(textOf(s3), environment)).toEqual([expect.stringContaining(message)]);
  });

  it.each(['./data', './data/site', '.', 'data/../data/x'])(
    'refuses %s as folder, where private pages are',
    (folder) => {
      expect(faultsOf(`${SITE}output: { folder: "${folder}" }\n`)).toEqual([expect.stringContaining('output.folder')]);
    },
  );

  it.each(['/proc', '/proc/1/site', '/sys/pharos'])('refuses %s, where nothing can be stored', (folder) => {
    expect(faultsOf(`${SITE}output: { folder: "${folder}" }\n`)).toEqual([
      expect.stringMatching(/^output\.folder: nothing can be stored below \/proc and \/sys\. Choose another folder/),
    ]);
    expect(faultsOf(`${SITE}data: "${folder}"\n`)).toEqual([expect.stringContaining('data: nothing can be stored')]);
  });
});
