/** A site with a page of each visibility, a canary word in every field that an operator can fill, and a mail server. */

import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { request as requestSecurely } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { SMTPServer } from 'smtp-server';
import { stringify } from 'yaml';
import { toEpochMs } from '../../src/model/time.ts';
import { type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import { startSandbox } from '../sandbox/sandbox.ts';

/** Slugs of one length, so that answers about them can be compared byte for byte. */
export const SLUG = {
  public: 'zq-open1',
  password: 'zq-vault',
  email: 'zq-team1',
  other: 'zq-other',
  unpublished: 'zq-hiddn',
  unknown: 'zq-nopag',
} as const;
export type Visibility = keyof typeof SLUG;

/** A word that stands in every field of a page and nowhere else. */
export const CANARY = {
  public: 'qxopen',
  password: 'qxvault',
  email: 'qxteam',
  other: 'qxother',
  unpublished: 'qxhiddn',
} as const;

export const SECRETS = {
  VAULT_PASSWORD: 'qpvault pass word',
  OTHER_PASSWORD: 'qpother pass word',
  HIDDEN_PASSWORD: 'qphidden pass word',
  OPERATOR: 'qptoken-0123456789abcdef0123456789abcdef',
} as const;
export const DOMAIN = 'qdteam.example';
/** The pages have a tree in this language too. */
export const LOCALE = 'de';
/** Serves the password page at its root. */
export const CUSTOM_HOST = 'qhvault.example';

type Listed = keyof typeof CANARY;

function pageConfig(visibility: Listed): Record<string, unknown> {
  const canary = CANARY[visibility];
  const gates: Readonly<Record<Listed, Record<string, unknown>>> = {
    public: { access_type: 'public' },
    password: { access_type: 'password', password: '${VAULT_PASSWORD}' },
    email: { access_type: 'email-domain', auth_email_domains: [DOMAIN] },
    other: { access_type: 'password', password: '${OTHER_PASSWORD}' },
    unpublished: { access_type: 'password', password: '${HIDDEN_PASSWORD}', published: false },
  };
  return {
    slug: SLUG[visibility],
    title: `${canary} title`,
    description: `${canary} description`,
    homepage_url: `https://${canary}.example/`,
    contact_url: `mailto:${canary}@example.com`,
    ...gates[visibility],
    groups: [{ id: `${canary}-group`, name: `${canary} group` }],
    components: [
      { monitor: 'edge/1', id: `${canary}-one`, name: `${canary} monitor`, group_id: `${canary}-group` },
      { type: 'static', id: `${canary}-two`, name: `${canary} static`, description: `${canary} words` },
    ],
    badges: [{ name: `${canary}-badge`, kind: 'status', label: `${canary} label` }],
    show_targets: true,
  };
}

function posts(visibility: Listed): Readonly<Record<string, string>> {
  const canary = CANARY[visibility];
  const slug = SLUG[visibility];
  const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString();
  const incident = (title: string, more: string): string =>
    `---\ntype: incident\ntitle: ${canary} ${title}\nimpact: major\n${more}\ncomponents: [${slug}/${canary}-two]\n---\n\n${canary} body of ${title}\n`;
  return {
    [`${slug}-open.md`]: incident('open incident', `started: ${day(-0.1)}`),
    [`${slug}-past.md`]: incident('past incident', `started: ${day(-3)}\nended: ${day(-2.9)}`),
    [`${slug}-work.md`]: `---\ntype: maintenance\ntitle: ${canary} maintenance\nstarts: ${day(2)}\nends: ${day(2.1)}\ncomponents: [${slug}/${canary}-two]\n---\n\n${canary} maintenance body\n`,
    [`${slug}-news.md`]: `---\ntype: announcement\ntitle: ${canary} announcement\nfrom: ${day(-1)}\npages: [${slug}]\n---\n\n${canary} announcement body\n`,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded. */
  readonly body: string;
  /** Headers and body, for canaries wherever they are. */
  readonly all: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface GatesSite {
  readonly pharos: RunningPharos;
  readonly data: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly mails: readonly string[];
  readonly ask: (path: string, ask?: Ask) => Promise<Answer>;
  /** Paths of the files of a page's release, as its manifest lists them. */
  readonly files: (slug: string) => readonly string[];
  readonly close: () => Promise<void>;
}

export interface GatesSiteInit {
  /** Also writes the site for a static host, into `out`. */
  readonly withOut: boolean;
  /** What visitors are told; it is always reached at 127.0.0.1 too. */
  readonly siteUrl?: string;
}

export async function startGatesSite({
  withOut,
  siteUrl = 'http://127.0.0.1:4321',
}: GatesSiteInit): Promise<GatesSite> {
  const folder = temporaryFolder();
  const sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
  const { server, mails } = await mailSink();
  const { port } = server.server.address() as AddressInfo;
  const env = { ...sandbox.environment(), ...SECRETS, SMTP: `smtp://127.0.0.1:${port}?ignoreTLS=true` };
  mkdirSync(join(folder.path, 'posts'));
  const listed = Object.keys(CANARY) as Listed[];
  for (const visibility of listed)
    for (const [name, text] of Object.entries(posts(visibility))) writeFileSync(join(folder.path, 'posts', name), text);
  const pages = listed.map((visibility) => ({
    ...pageConfig(visibility),
    ...(visibility === 'password' ? { custom_domain: CUSTOM_HOST } : {}),
  }));
  const upstreams = [
    {
      id: 'edge',
      kind: 'server-monitor',
      baseUrl: `${sandbox.url}/server-monitor`,
      apiKey: '${EDGE_KEY}',
      auth: 'x-api-key',
    },
    { id: 'posts', kind: 'markdown', path: './posts' },
  ];
  writeFileSync(
    join(folder.path, 'pharos.yaml'),
    stringify({
      site: { url: siteUrl, name: 'Site', locales: ['en', LOCALE] },
      server: { trustedProxyHops: 1 },
      schedule: '0 0 1 1 *',
      upstreams,
      pages,
      access: { smtp: '${SMTP}', from: 'status@pharos.example' },
      operators: { token: '${OPERATOR}' },
    }),
  );
  const cwd = folder.path;
  const data = join(cwd, 'data');

  if (withOut) {
    const built = await runWarm(['build', '--out', join(cwd, 'out')], { cwd, env });
    if (built.status !== 0) throw new Error(`the site could not be built:\n${built.stdout}${built.stderr}`);
  }
  const pharos = await startWarm(['start', '--port', '0'], { cwd, env });
  await untilFresh(pharos);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  return {
    pharos,
    data,
    cwd,
    env,
    mails,
    ask: (path, ask) => send(`${pharos.url}${path}`, agent, ask),
    files: (slug) => filesOf(data, slug),
    close: async () => {
      agent.destroy();
      await pharos.stop();
      await sandbox.stop();
      await new Promise((done) => server.close(() => done(undefined)));
      folder.remove();
    },
  };
}

function filesOf(data: string, slug: string): readonly string[] {
  const link =
    ['public', 'private'].map((side) => join(data, 'site', side, slug)).find((path) => existsSync(path)) ?? '';
  const release = resolve(dirname(link), dirname(readlinkSync(link)));
  const manifest = JSON.parse(readFileSync(join(release, 'manifest.json'), 'utf8')) as {
    readonly files: Readonly<Record<string, unknown>>;
  };
  return Object.keys(manifest.files);
}

/** Asks as written: paths are not tidied up, redirects are not followed, certificates of tests are taken for good. */
export function send(
  url: string,
  agent: Agent | undefined,
  { method = 'GET', headers = {}, body }: Ask = {},
): Promise<Answer> {
  const { origin, protocol } = new URL(url);
  const options = {
    ...(agent === undefined ? {} : { agent }),
    ...(protocol === 'https:' ? { servername: headers['host'] ?? '', rejectUnauthorized: false } : {}),
    method,
    path: url.slice(origin.length),
    headers,
  };
  return new Promise((resolve, reject) => {
    const sent = (protocol === 'https:' ? requestSecurely : request)(origin, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = decoded(Buffer.concat(chunks), response.headers['content-encoding']);
        const status = response.statusCode ?? 0;
        resolve({ status, headers: response.headers, body: text, all: `${response.rawHeaders.join('\n')}\n\n${text}` });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function decoded(bytes: Buffer, encoding: string | undefined): string {
  if (bytes.length === 0 || encoding === undefined) return bytes.toString('utf8');
  const decode = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync }[encoding];
  if (decode === undefined) throw new Error(`unknown encoding ${encoding}`);
  return decode(bytes).toString('utf8');
}

async function mailSink(): Promise<{ readonly server: SMTPServer; readonly mails: string[] }> {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => {
      let mail = '';
      stream.on('data', (chunk: Buffer) => {
        mail += chunk.toString();
      });
      stream.on('end', () => {
        mails.push(mail.replace(/=\r?\n/g, '').replace(/=3D/g, '='));
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return { server, mails };
}

/** The Cookie header after an answer that sets one. */
export function cookieOf(answer: Answer): string {
  return (answer.headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0]).join('; ');
}

export function formOf(fields: Readonly<Record<string, string>>): Ask {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  };
}
