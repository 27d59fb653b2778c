/**
 * The site that everything happens to: one node that publishes, one that serves beside it, one on another machine, and one that
 * takes releases from a bucket.
 */

import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { now, sleep } from '../../../src/app/clock.ts';
import type { Log } from '../../../src/app/log.ts';
import { createReleaseUploads, type ReleaseUploads } from '../../../src/app/nodes/releases.ts';
import { releaseBucket } from '../../../src/app/targets.ts';
import { type Config, parseConfig } from '../../../src/config/load.ts';
import { isStatusError } from '../../../src/errors.ts';
import { type Learned, NOTHING_LEARNED, toMonitorId } from '../../../src/model/observation.ts';
import { HOUR_MS, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import { rollbackTo } from '../../../src/publish/releases/rollback.ts';
import { copySqlite } from '../../../src/store/sqlite/sqlite.ts';
import type { Question } from '../../../src/sync/connector.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import type { Http } from '../../../src/sync/http/http.ts';
import { runPass } from '../../../src/sync/pass/pass.ts';
import { bindUpstream } from '../../../src/sync/upstream.ts';
import { doubtGivers, type Giver } from '../../helpers/doubtful-gates.ts';
import { CLIENT } from '../../helpers/identity-provider.ts';
import { testPageLog } from '../../helpers/page-log.ts';
import { S3_KEYS, type S3Server, startS3Server } from '../../helpers/s3-server.ts';
import { type Node, startNode } from './nodes.ts';
import { type People, startPeople } from './people.ts';
import { countEras, loosen, noPosts, type Posts } from './posts.ts';
import {
  ASKED,
  type Asked,
  CLEAN,
  CONNECTOR_OF,
  type Configured,
  configGateOf,
  definitionOf,
  HOSTS,
  KINDS,
  type Kind,
  type Known,
  PASSWORDS,
  type Seen,
  seenBy,
  UPSTREAM,
  UPSTREAM_OF,
  type UpstreamPage,
} from './world.ts';

const ROLES = { main: 'publishes', beside: 'serves', other: 'publishes', web: 'takes' } as const;
export type NodeName = keyof typeof ROLES;
const NAMES = Object.keys(ROLES) as NodeName[];

export interface Site {
  readonly folder: string;
  readonly out: string;
  readonly nodes: Record<NodeName, Node>;
  readonly bucket: S3Server;
  /** The operator token. */
  readonly operator: string;
  readonly people: People;
  /** Who may write where, by a named token and by the identity provider. */
  roles: { readonly token: string; readonly people: string };
  configured: Configured;
  home: string | null;
  /** What the upstream says when it is asked. */
  there: { pages: Partial<Record<Kind | Asked, UpstreamPage>>; texts: Record<Kind, string> };
  known: Known | null;
  seen: Seen;
  backup: Known | null;
  words: number;
  posts: Posts;
}

/** The named token of a writer. */
export const WRITER = 'writer-token-of-the-machine';

const ENVIRONMENT = {
  ...PASSWORDS,
  API_KEY: 'never asked',
  OPERATOR: 'operator-token-of-the-machine',
  WRITER,
  OIDC_SECRET: CLIENT.client_secret,
  ACCESS_KEY: 'of hashes of addresses in these tests',
  SMTP: 'smtp://127.0.0.1:9',
  S3_ID: S3_KEYS.accessKeyId,
  S3_SECRET: S3_KEYS.secretAccessKey,
};

export async function createSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-gates-'));
  const site: Site = {
    folder,
    out: join(folder, 'out'),
    nodes: {} as Site['nodes'],
    bucket: await startS3Server(),
    operator: ENVIRONMENT.OPERATOR,
    people: await startPeople(['http://127.0.0.1/-/oidc/callback']),
    roles: { token: 'qsowna', people: 'qsovera' },
    configured: {},
    home: null,
    there: { pages: {}, texts: { bare: '', over: '', own: '' } },
    known: null,
    seen: new Map(),
    backup: null,
    words: 0,
    posts: noPosts(),
  };
  site.there = {
    pages: {
      bare: { slug: 'qsbarea', gate: { accessType: 'public' }, word: newWord(site) },
      over: { slug: 'qsovera', gate: { accessType: 'public' }, word: newWord(site) },
      plan: { slug: 'qsplana', gate: {}, shape: CLEAN, word: newWord(site) },
      live: { slug: 'qslivea', gate: {}, shape: CLEAN, word: newWord(site) },
    },
    texts: { bare: newWord(site), over: newWord(site), own: newWord(site) },
  };
  site.configured = {
    over: { slug: 'qsovera', from: `${UPSTREAM}/qsovera`, gate: {}, domain: null, word: newWord(site) },
    own: { slug: 'qsowna', from: null, gate: { password: '${P1}' }, domain: HOSTS[0], word: newWord(site) },
  };
  // Two machines that share a database, which is a server's where the product does so.
  for (const name of ['main', 'other', 'web']) mkdirSync(join(folder, name));
  symlinkSync('../main/pharos.db', join(folder, 'other', 'pharos.db'));
  await startAll(site);
  return site;
}

/** A word that stands nowhere else: of this page at this time. */
export function newWord(site: Site): string {
  site.words += 1;
  return `qx${site.words}z`;
}

/** @throws CONFIG_INVALID */
export function configOf({ folder, configured, home, bucket, people, roles }: Site, name: NodeName): Config {
  const pages = Object.values(configured)
    .map((page) => ({ ...page, gate: configGateOf(page) }))
    .map(({ slug, from, gate, domain, word }) => ({
      slug,
      title: `${word} title`,
      description: `${word} words`,
      ...(from === null
        ? {
            components: [
              { monitor: `${UPSTREAM}/own`, id: 'own-1', name: `${word} part` },
              { type: 'static', id: 'own-2', name: `${word} static` },
            ],
          }
        : { from }),
      ...(domain === null ? {} : { custom_domain: domain }),
      ...gate,
    }));
  const oidc = { issuer: people.provider.issuer, client_id: CLIENT.client_id, client_secret: '${OIDC_SECRET}' };
  const text = JSON.stringify({
    site: { url: 'http://127.0.0.1', name: 'Site', ...(home === null ? {} : { home }) },
    data: join(folder, name === 'beside' ? 'main' : name),
    server: { trustedProxyHops: 1 },
    upstreams: [
      { id: UPSTREAM, kind: 'uptime-service', rpcUrl: 'http://127.0.0.1:9', apiKey: '${API_KEY}' },
      ...ASKED.map((kind) => {
        const { rpcUrl, preset, path } = giverOf(folder, kind).options;
        const options = kind === 'plan' ? { path } : { rpcUrl, preset, apiKey: '${API_KEY}' };
        return { id: UPSTREAM_OF[kind], kind: CONNECTOR_OF[kind], ...options };
      }),
    ],
    access: { oidc, key: '${ACCESS_KEY}', sessionHours: 100, smtp: '${SMTP}', from: 'status@pharos.example' },
    subscriptions: true,
    releases: {
      s3: {
        ...{ endpoint: bucket.endpoint, bucket: bucket.bucket, region: 'us-east-1' },
        ...{ accessKeyId: '${S3_ID}', secretAccessKey: '${S3_SECRET}' },
      },
    },
    operators: {
      ...{ token: '${OPERATOR}', oidc },
      roles: { writer: { groups: ['writers'], pages: [roles.people] } },
      tokens: [{ name: 'writer', token: '${WRITER}', role: 'writer', pages: [roles.token] }],
    },
    pages,
    ...(name === 'main' ? { output: { folder: join(folder, 'out') } } : {}),
  });
  return parseConfig({ text, file: null, folder }, CONNECTORS, ENVIRONMENT);
}

async function startAll(site: Site): Promise<void> {
  for (const name of NAMES) await begin(site, name);
}

export async function begin(site: Site, name: NodeName): Promise<void> {
  const node = await startNode(name, configOf(site, name), ROLES[name]);
  site.nodes[name] = node;
  // As where it uploads by itself: before its first release gets a number.
  if (name === 'main') await withUploads(node, (uploads) => uploads.numbersKnown());
}

function giverOf(folder: string, kind: Asked): Giver {
  const giver = doubtGivers(join(folder, 'terraform.tfstate'))[CONNECTOR_OF[kind]];
  if (giver === undefined) throw new Error(`nothing is known of ${kind}`);
  return giver;
}

async function stopAll({ nodes }: Site): Promise<void> {
  for (const node of Object.values(nodes)) await node.close();
}

export async function removeSite(site: Site): Promise<void> {
  await stopAll(site);
  await site.bucket.close();
  await site.people.provider.close();
  rmSync(site.folder, { recursive: true, force: true });
}

/** One pass over the upstream. */
export async function pull(site: Site): Promise<void> {
  const { there } = site;
  const announced = Object.fromEntries(slugsOf(site).map((slug) => [slug, newWord(site)]));
  const before = site.known?.pages;
  const { plan, live, ...others } = structuredClone(there.pages);
  const asked = { plan, live };
  for (const kind of ASKED) {
    const page = asked[kind];
    const last = before?.[kind];
    const isBroken = typeof page?.shape?.broken === 'number';
    // Nothing is broken before it ever worked, so that what was left as it was published is decided by the first pass.
    if (page !== undefined && isBroken && before === undefined) asked[kind] = { ...page, shape: CLEAN };
    await askFor(site, kind, isBroken ? asked[kind] && withFreeSlug(site, kind, asked[kind]) : asked[kind]);
    if (!isBroken || before === undefined) continue;
    if (last === undefined) delete asked[kind];
    else asked[kind] = { ...last, shape: page.shape };
    for (const slug of [last?.slug, page.slug, configuredOver(site, kind, last)])
      if (slug !== undefined) loosen(site, slug);
  }
  const pages = { ...others, ...Object.fromEntries(Object.entries(asked).filter(([, page]) => page !== undefined)) };
  site.known = structuredClone({ pages, texts: there.texts, announced });
  const at = now();
  const text = (kind: Kind, words: string): string => `${there.texts[kind]} ${words}`;
  const learned: Learned = {
    ...NOTHING_LEARNED,
    pages: (Object.entries(others) as [Kind, UpstreamPage][]).map(([kind, page]) => definitionOf(kind, page)),
    monitors: KINDS.map((kind) => ({
      id: toMonitorId(UPSTREAM, kind),
      name: text(kind, 'monitor'),
      description: text(kind, 'description'),
      kind: 'http',
      target: null,
      state: 'operational',
      isPublic: true,
      createdAt: null,
    })),
    incidents: KINDS.map((kind) => ({
      id: `${UPSTREAM}/${kind}`,
      title: text(kind, 'incident'),
      status: 'investigating',
      impact: 'major',
      startedAt: toEpochMs(at - HOUR_MS),
      endedAt: null,
      monitors: [toMonitorId(UPSTREAM, kind)],
      components: [],
      pages: null,
      affectedState: null,
      isOutage: false,
      updates: [{ id: 'u1', at, status: 'investigating', body: text(kind, 'body') }],
    })),
    maintenances: KINDS.map((kind) => ({
      id: `${UPSTREAM}/${kind}-work`,
      title: text(kind, 'work'),
      startsAt: toEpochMs(at + HOUR_MS),
      endsAt: toEpochMs(at + 2 * HOUR_MS),
      monitors: [toMonitorId(UPSTREAM, kind)],
      components: [],
      pages: null,
      updates: [],
    })),
    announcements: Object.entries(announced).map(([slug, word]) => ({
      id: `${UPSTREAM}/${slug}`,
      title: `${word} news`,
      body: `${word} news`,
      level: 'info',
      from: toEpochMs(at - HOUR_MS),
      to: null,
      pages: [slug],
    })),
  };
  await site.nodes.main.pharos.base.store.commitPass({
    upstreamId: UPSTREAM,
    observedAt: at,
    learned,
    continuity: 'broken',
    spanChanges: [],
  });
}

/** What of a broken answer is taken differs: one that also took the slug of another page might close both, or not. */
function withFreeSlug({ there, configured, known }: Site, kind: Asked, page: UpstreamPage): UpstreamPage {
  const { [kind]: _, ...others } = there.pages;
  const taken = [...Object.values(others), ...Object.values(known?.pages ?? {}), ...Object.values(configured)];
  const before = known?.pages[kind]?.slug;
  const isFree = before === undefined || page.slug === before || taken.every(({ slug }) => slug !== page.slug);
  return isFree ? page : { ...page, slug: before };
}

/** The page of the configuration over this one. */
function configuredOver(
  { configured: { over } }: Site,
  kind: Asked,
  page: UpstreamPage | undefined,
): string | undefined {
  return over !== undefined && over.from === `${UPSTREAM_OF[kind]}/${page?.slug}` ? over.slug : undefined;
}

/** Other pages of an asked upstream, so that one of them may vanish at once. */
const OTHERS = ['8', '9'].map((id) => ({
  ...{ id, slug: `other-${id}`, title: 'Other', description: 'Other' },
  custom_domain: undefined,
}));

/** A pass over an upstream as the product makes it. */
async function askFor({ folder, nodes }: Site, kind: Asked, page: UpstreamPage | undefined): Promise<void> {
  const giver = giverOf(folder, kind);
  const { shape = CLEAN, slug, word, domain = null } = page ?? { slug: 'other-7', word: 'Other' };
  const domains = domain === null ? {} : { custom_domain: domain, customDomain: domain };
  const base = { slug, title: `${word} title`, description: `${word} words`, ...domains };
  const broken = shape.broken === null ? undefined : giver.broken[shape.broken];
  const fields = page === undefined ? { id: '7', ...shape.fields } : shape.fields;
  const respond = broken === undefined ? giver.give(base, fields, [...shape.others, ...OTHERS]) : broken[1](base);
  const connector = CONNECTORS.find((one) => one.kind === CONNECTOR_OF[kind]);
  const options = connector?.optionsSchema.parse(giver.options);
  const binding = { id: UPSTREAM_OF[kind], options, limits: null, intervalMs: MINUTE_MS };
  const http: Http = {
    request: async (question) => {
      const payload = respond?.(question as Question<unknown>, 0);
      if (isStatusError(payload)) throw payload;
      return { status: 200, payload, at: now(), clockSkewMs: null, remaining: null };
    },
    close: async () => undefined,
  };
  const deps = { store: nodes.main.pharos.base.store, http, now, sleep, random: () => 0 };
  const { upstreams } = await runPass([bindUpstream(connector as never, binding)], deps, { isManual: true });
  const [report] = upstreams;
  if (broken === undefined && report?.kind !== 'ok')
    throw new Error(`${kind}: ${shape.name}: ${JSON.stringify(report)}`);
}

function slugsOf({ there, configured }: Site): string[] {
  return [...new Set([...Object.values(there.pages), ...Object.values(configured)].map(({ slug }) => slug))];
}

/** By the rules, after whatever was said last. */
export function judge(site: Site): void {
  site.seen = seenBy(site.configured, site.known, site.seen);
  countEras(site);
}

/** @returns whether there was something to go back to */
export async function rollBack({ nodes, folder }: Site, slug: string): Promise<boolean> {
  const { store, folders } = nodes.main.pharos.base;
  if (!existsSync(folder)) return false;
  return rollbackTo(
    { database: store.database, folders, now, sleep, log: testPageLog(store.database) },
    { slug, release: null },
  ).then(
    () => true,
    () => false,
  );
}

/** Main uploads what it serves, and the node that takes it has it. */
export async function bringToWeb({ nodes: { main, web } }: Site): Promise<void> {
  // A release that is replaced meanwhile is uploaded by the next look.
  await main.pharos.publishing.publisher?.settled();
  await withUploads(main, async (uploads) => uploads.follow());
  await web.look().catch(() => undefined);
  await web.pharos.serving.taking?.refresh();
  await web.look();
}

async function withUploads({ pharos }: Node, task: (uploads: ReleaseUploads) => Promise<void>): Promise<void> {
  const { base, serving } = pharos;
  const config = base.live.config();
  const bucket = releaseBucket(config, base.proxy);
  if (bucket === null) throw new Error('there is no bucket');
  const log = { info: () => undefined, error: () => undefined } as unknown as Log;
  const uploads = createReleaseUploads({
    ...{ folders: base.folders, database: base.database, now, log, state: serving.keeper.lastState },
    // Closing waits for the upload. What fails is missed by whoever may see a page.
    store: { ...bucket, close: async () => undefined },
    key: config.access.key ?? null,
    isElected: () => true,
    mayUpload: async () => true,
  });
  await task(uploads);
  await uploads.close();
  await bucket.close();
}

const DATABASE = ['pharos.db', 'pharos.db-wal', 'pharos.db-shm'];

export async function takeBackup(site: Site): Promise<void> {
  const { folder } = site;
  for (const name of ['backup.db', 'backup']) rmSync(join(folder, name), { recursive: true, force: true });
  await copySqlite(join(folder, 'main', 'pharos.db'), join(folder, 'backup.db'));
  cpSync(join(folder, 'main'), join(folder, 'backup'), { recursive: true, verbatimSymlinks: true });
  site.backup = site.known;
}

/** Everything stops, the database (and with `isWhole` all that was published) is put back, everything starts. */
export async function restore(site: Site, isWhole: boolean): Promise<void> {
  const { folder } = site;
  await stopAll(site);
  const main = join(folder, 'main');
  if (isWhole) {
    rmSync(main, { recursive: true });
    cpSync(join(folder, 'backup'), main, { recursive: true, verbatimSymlinks: true });
  }
  for (const name of DATABASE) rmSync(join(main, name), { force: true });
  cpSync(join(folder, 'backup.db'), join(main, 'pharos.db'));
  site.known = site.backup;
  await startAll(site);
  await forgetPosts(site);
}

/** The database is gone, what was published is not. */
export async function loseDatabase(site: Site): Promise<void> {
  await stopAll(site);
  for (const name of DATABASE) rmSync(join(site.folder, 'main', name), { force: true });
  site.known = null;
  await startAll(site);
  await forgetPosts(site);
}

/** Another database counts eras of its own. */
async function forgetPosts(site: Site): Promise<void> {
  const { database } = site.nodes.main.pharos.base;
  await database.transaction(async (tx) => {
    await tx.run('DELETE FROM written');
    await tx.run(`DELETE FROM incident WHERE upstream = 'written'`);
    for (const table of ['api_token', 'access_badge_token', 'subscriber', 'outbox'])
      await tx.run(`DELETE FROM ${table}`);
  });
  site.posts = noPosts(site.posts);
}
