/** Finds unknown names in the configuration and in posts, and pages with problems. */

import type { Config } from '../config/load.ts';
import type { UpstreamConfig } from '../config/schema.ts';
import { messageOf } from '../errors.ts';
import {
  type Learned,
  type MonitorId,
  type PageDefinition,
  type SnapshotPart,
  upstreamOf,
} from '../model/observation.ts';
import { MINUTE_MS } from '../model/time.ts';
import { type ResolvedPage, resolvePages } from '../publish/definitions/definitions.ts';
import type { DefinitionInputs, DefinitionProblem, KnownMonitor } from '../publish/definitions/inputs.ts';
import { unknownReferences } from '../publish/definitions/references.ts';
import { refusedIcons } from '../publish/definitions/site-state.ts';
import { hidesPrivate } from '../publish/page-inputs.ts';
import type { Database } from '../store/database.ts';
import { identify, type PageChanges, readPages, type StoredPage } from '../store/pages.ts';
import { countPrivate, readPlaced } from '../store/written.ts';
import type { Priority } from '../sync/connector.ts';
import { connectorOf } from '../sync/connectors/index.ts';
import { judge, listsOnly } from '../sync/pass/snapshot.ts';
import type { Upstream } from '../sync/upstream.ts';
import type { StoreParts } from './build-store.ts';
import { now, sleep } from './clock.ts';
import { createErrorLog, createNews, type Log } from './log.ts';
import { NOTHING_REMEMBERED, type ProbedPages, singleRunner } from './probe.ts';

/** What a pass would read from upstreams now, and why it would reject an upstream. */
export type ReadNow = Awaited<ReturnType<typeof readNow>>;

/**
 * Reads lists as a pass does, without storing anything: files of this machine, and upstreams that never answered a pass. The
 * others were read by the last pass.
 *
 * @param answering ids of the upstreams that answer: no other is asked; `files`: only files are read
 * @param lists what was read already
 */
export async function readNow(
  base: StoreParts,
  answering: ReadonlySet<string> | 'files',
  lists: ReadonlyMap<string, Learned>,
) {
  const { store, live } = base;
  const files = fileUpstreams(live.config());
  const records = await store.upstreams();
  const isWanted = ({ id }: Upstream): boolean =>
    answering === 'files'
      ? files.has(id)
      : answering.has(id) && (files.has(id) || (records.get(id)?.monitorsAt ?? null) === null);
  const learned = new Map<string, Learned>();
  const refused = new Map<string, string>();
  await Promise.all(
    live
      .upstreams()
      .filter(isWanted)
      .map(async (upstream) => {
        try {
          const verdict = await judgeNow(base, upstream, lists.get(upstream.id) ?? (await readLists(base, upstream)));
          learned.set(upstream.id, verdict.learned);
          if (verdict.kind !== 'taken') refused.set(upstream.id, verdict.reason);
        } catch (error) {
          refused.set(upstream.id, messageOf(error));
        }
      }),
  );
  return { learned, refused };
}

async function judgeNow({ store }: StoreParts, { id, intervalMs, kind }: Upstream, answer: Learned) {
  const record = (await store.upstreams()).get(id);
  const known = {
    monitors: await store.monitors(id),
    pages: record?.definitions ?? [],
    held: record?.heldHash ?? null,
  };
  return judge(answer, known, { at: now(), intervalMs, kind });
}

/** @param looked what `readNow` found; for the other upstreams, what the store remembers counts */
export async function findUnknownReferences(base: StoreParts, looked: ReadonlyMap<string, Learned>) {
  const { store, live } = base;
  const [config, upstreams] = [live.config(), live.upstreams()];
  const files = fileUpstreams(config);
  const records = await store.upstreams();
  const remembered = await store.monitors();
  const monitors = new Map<string, DefinitionInputs['monitors']>();
  const definitions: PageDefinition[] = [];
  const undecided = new Set<string>();
  for (const { id, definesPages } of upstreams) {
    const learned = looked.get(id);
    const record = records.get(id);
    if (knows(learned, 'monitors')) monitors.set(id, new Map(learned.monitors.map((monitor) => [monitor.id, monitor])));
    else if ((record?.monitorsAt ?? null) !== null)
      monitors.set(id, new Map([...remembered].filter(([monitor]) => monitor.startsWith(`${id}/`))));
    if (knows(learned, 'pages')) definitions.push(...learned.pages);
    else if ((record?.pagesAt ?? null) !== null) definitions.push(...(record?.definitions ?? []));
    else if (definesPages) undecided.add(id);
  }
  const { site } = await base.siteInputs();
  return unknownReferences({
    definitions: {
      site,
      pages: config.pages,
      upstreamDefinitions: definitions,
      undecidedUpstreams: undecided,
      made: await readPlaced(store.database),
      monitors: new Map([...monitors.values()].flatMap((those) => [...those])),
    },
    upstreams: upstreams.map(({ id }) => id),
    monitors: new Map([...monitors].map(([id, those]) => [id, new Set<MonitorId>(those.keys())])),
    // Names in a service's own data aren't typing errors of the operator.
    ties: [
      ...config.notifications.map(({ pages, components, monitors: tied }, index) => ({
        ...{ place: `notifications[${index}]`, pages, components, monitors: tied },
      })),
      ...config.intake.map(({ page, components }, index) => ({
        place: `intake[${index}]`,
        page: { slug: page, components },
      })),
    ],
    posts: [...files].flatMap((id) => looked.get(id) ?? []),
    now: now(),
  });
}

const LOOK_EVERY_MS = 10 * MINUTE_MS;

/**
 * After a run, logs references of the configuration to things that don't exist, in the words of `check`: once, and again when they
 * change. They are looked up every ten minutes at most, because a site of 1,000 pages takes tens of milliseconds.
 */
export function createReferenceLog(base: StoreParts, log: Log): () => void {
  const newsOf = createNews();
  const onError = createErrorLog(log);
  let last: { readonly config: Config; readonly at: number } | null = null;
  return () => {
    const config = base.live.config();
    if (last?.config === config && performance.now() - last.at < LOOK_EVERY_MS) return;
    last = { config, at: performance.now() };
    findUnknownReferences(base, new Map())
      .then((found) => {
        for (const line of newsOf(
          'references',
          found.map(({ place, message }) => `${place}: ${message}`),
        ))
          log.warn(line);
      })
      .catch((error: unknown) => onError(error, 'references'));
  };
}

/** Upstreams that are files of this machine, or stand in the configuration: they can be read without requests. */
function fileUpstreams({ upstreams }: Pick<Config, 'upstreams'>): ReadonlySet<string> {
  const isFile = ({ kind, options }: UpstreamConfig): boolean => {
    const { fileOption } = connectorOf(kind);
    return kind === 'checks' || (fileOption !== undefined && Object.hasOwn(options as object, fileOption));
  };
  return new Set(upstreams.filter(isFile).map(({ id }) => id));
}

/** Whether an answer tells of a part and not that it could not be read this time. */
function knows(learned: Learned | undefined, part: SnapshotPart): learned is Learned {
  return learned !== undefined && !learned.stale.includes(part);
}

function readLists({ http, store }: StoreParts, upstream: Upstream): Promise<Learned> {
  // Pages are not asked for before monitors are known.
  const wanted: readonly Priority[] = upstream.definesPages ? ['list', 'incident'] : ['list'];
  const context = { upstreamId: upstream.id, now: now(), memory: NOTHING_REMEMBERED };
  return singleRunner({ http, store, now, sleep }, upstream).run(listsOnly(upstream.pull(context), wanted));
}

/** @param probed  by upstream; for all others, stored data is used, so that no pass is needed first */
export async function pageProblems(
  base: Pick<StoreParts, 'store' | 'siteInputs'>,
  probed: ReadonlyMap<string, ProbedPages>,
): Promise<readonly DefinitionProblem[]> {
  const { pages, problems } = await pagesAsProbed(base, probed);
  const [{ icons = new Map() }, stored] = await Promise.all([base.siteInputs(), readPages(base.store.database)]);
  const identified = await Promise.all(
    pages.map(async (page) => {
      const { slug, id: origin } = page.definition;
      return { ...page, identity: await identify(base.store.database, stored, { slug, origin }) };
    }),
  );
  return [...problems, ...refusedIcons(identified, icons)];
}

/** The pages that there would be, by the same. */
export async function pagesAsProbed(
  { store, siteInputs }: Pick<StoreParts, 'store' | 'siteInputs'>,
  probed: ReadonlyMap<string, ProbedPages>,
): Promise<ReturnType<typeof resolvePages>> {
  const inputs = await siteInputs();
  const [stored, records, times] = await Promise.all([store.monitors(), store.upstreams(), store.upstreamTimes()]);
  const ids = [...inputs.intervalMs.keys()];
  const kept = [...stored].filter(([id]) => ids.includes(upstreamOf(id)) && !probed.has(upstreamOf(id)));
  const seen = [...probed.values()].flatMap(({ monitors }) => monitors);
  return resolvePages({
    site: inputs.site,
    pages: inputs.pages,
    upstreamDefinitions: ids.flatMap((id) => probed.get(id)?.pages ?? records.get(id)?.definitions ?? []),
    undecidedUpstreams: new Set(
      [...inputs.definesPages].filter((id) => !probed.has(id) && (times.get(id)?.pagesAt ?? null) === null),
    ),
    looks: inputs.looks,
    made: await readPlaced(store.database),
    monitors: new Map<MonitorId, KnownMonitor>([...kept, ...seen.map((monitor) => [monitor.id, monitor] as const)]),
  });
}

// Tells operators when data is left over: of a page that ended, or from the time when a page was private.

/** Logs what is no longer shown because a page's era ended or its access changed. */
export async function logSettled(log: Log, database: Database, { ended, changed }: PageChanges): Promise<void> {
  for (const { key, slug } of ended)
    log.info(
      { page: slug, key },
      `the page ${slug} was removed or is defined elsewhere now; posts, tokens and subscribers of it are hidden (pharos pages list)`,
    );
  for (const { page, claim } of changed) {
    if (page.access === 'public' || claim.access !== 'public') continue;
    const words = await hiddenPosts(database, page);
    if (words !== null) log.warn({ page: page.slug }, words);
  }
}

/** Posts that a public page hides; null: none. */
async function hiddenPosts(database: Database, { key, slug }: Pick<StoredPage, 'key' | 'slug'>) {
  const count = await countPrivate(database, key);
  if (count === 0) return null;
  const posts = count === 1 ? '1 post that was' : `${count} posts that were`;
  return `The page ${slug} is public and hides ${posts} written while it was private. To show them, publish them in the form at /-/ops/write, or set publish_private_history: true on the page.`;
}

/** The same for every public page, for `pharos check`. */
export async function hiddenHistory(database: Database, pages: readonly ResolvedPage[]) {
  const found = await Promise.all(
    pages.filter(hidesPrivate).map(async ({ definition: { slug }, identity: { key } }) => ({
      slug,
      message: await hiddenPosts(database, { key, slug }),
    })),
  );
  return found.flatMap(({ slug, message }) => (message === null ? [] : [{ slug, message }]));
}
