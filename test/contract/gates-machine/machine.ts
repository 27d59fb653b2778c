/** The site that everything happens to: one that publishes, one that serves beside it, one on another machine. */

import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { now, sleep } from '../../../src/app/clock.ts';
import { type Config, parseConfig } from '../../../src/config/load.ts';
import { type Learned, NOTHING_LEARNED, toMonitorId } from '../../../src/model/observation.ts';
import { HOUR_MS, toEpochMs } from '../../../src/model/time.ts';
import { rollbackTo } from '../../../src/publish/releases/rollback.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import { type Node, startNode } from './nodes.ts';
import { countEras, noPosts, type Posts } from './posts.ts';
import {
  type Configured,
  CUSTOM_HOST,
  definitionOf,
  KINDS,
  type Kind,
  type Known,
  PASSWORDS,
  type Seen,
  seenBy,
  UPSTREAM,
  type UpstreamPage,
} from './world.ts';

export type NodeName = 'main' | 'beside' | 'other';

export interface Site {
  readonly folder: string;
  readonly out: string;
  readonly nodes: Record<NodeName, Node>;
  configured: Configured;
  home: string | null;
  /** What the upstream says when it is asked. */
  there: { pages: Partial<Record<Kind, UpstreamPage>>; texts: Record<Kind, string> };
  known: Known | null;
  seen: Seen;
  backup: Known | null;
  words: number;
  posts: Posts;
}

const ENVIRONMENT = {
  ...PASSWORDS,
  API_KEY: 'never asked',
  OPERATOR: 'operator-token-of-the-machine',
  ACCESS_KEY: 'of hashes of addresses in these tests',
};

export async function createSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-gates-'));
  const site: Site = {
    folder,
    out: join(folder, 'out'),
    nodes: {} as Site['nodes'],
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
    },
    texts: { bare: newWord(site), over: newWord(site), own: newWord(site) },
  };
  site.configured = {
    over: { slug: 'qsovera', from: 'qsovera', gate: {}, domain: false, word: newWord(site) },
    own: { slug: 'qsowna', from: null, gate: { password: '${P1}' }, domain: true, word: newWord(site) },
  };
  // Two machines that share a database, which is a server's where the product does so.
  for (const name of ['main', 'other']) mkdirSync(join(folder, name));
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
export function configOf({ folder, configured, home }: Site, name: NodeName): Config {
  const pages = Object.values(configured).map(({ slug, from, gate, domain, word }) => ({
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
      : { from: `${UPSTREAM}/${from}` }),
    ...(domain ? { custom_domain: CUSTOM_HOST } : {}),
    ...gate,
  }));
  const text = JSON.stringify({
    site: { url: 'http://127.0.0.1', name: 'Site', ...(home === null ? {} : { home }) },
    data: join(folder, name === 'other' ? 'other' : 'main'),
    server: { trustedProxyHops: 1 },
    upstreams: [{ id: UPSTREAM, kind: 'uptime-service', rpcUrl: 'http://127.0.0.1:9', apiKey: '${API_KEY}' }],
    access: { key: '${ACCESS_KEY}', sessionHours: 100 },
    operators: { token: '${OPERATOR}' },
    pages,
    ...(name === 'main' ? { output: { folder: join(folder, 'out') } } : {}),
  });
  return parseConfig({ text, file: null, folder }, CONNECTORS, ENVIRONMENT);
}

async function startAll(site: Site): Promise<void> {
  for (const name of ['main', 'beside', 'other'] as const)
    site.nodes[name] = await startNode(name, configOf(site, name), name !== 'beside');
}

async function stopAll({ nodes }: Site): Promise<void> {
  for (const node of Object.values(nodes)) await node.close();
}

export async function removeSite(site: Site): Promise<void> {
  await stopAll(site);
  rmSync(site.folder, { recursive: true, force: true });
}

/** One pass over the upstream. */
export async function pull(site: Site): Promise<void> {
  const { there } = site;
  const announced = Object.fromEntries(slugsOf(site).map((slug) => [slug, newWord(site)]));
  site.known = structuredClone({ ...there, announced });
  const at = now();
  const text = (kind: Kind, words: string): string => `${there.texts[kind]} ${words}`;
  const learned: Learned = {
    ...NOTHING_LEARNED,
    pages: (Object.entries(there.pages) as [Kind, UpstreamPage][]).map(([kind, page]) => definitionOf(kind, page)),
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
  return rollbackTo({ database: store.database, folders, now, sleep }, { slug, release: null }).then(
    () => true,
    () => false,
  );
}

const DATABASE = ['pharos.db', 'pharos.db-wal', 'pharos.db-shm'];

export async function takeBackup(site: Site): Promise<void> {
  const { folder } = site;
  for (const name of ['backup.db', 'backup']) rmSync(join(folder, name), { recursive: true, force: true });
  await site.nodes.main.pharos.base.database.backup(join(folder, 'backup.db'));
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
  });
  const words = [...site.posts.lost, ...site.posts.written.keys()];
  site.posts = noPosts();
  for (const word of words) site.posts.lost.add(word);
}
