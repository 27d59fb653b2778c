/** Finds names in the configuration and in posts that nothing has, and pages that would have problems. */

import type { UpstreamConfig } from '../config/schema.ts';
import {
  type Learned,
  type MonitorId,
  type PageDefinition,
  type SnapshotPart,
  upstreamOf,
} from '../model/observation.ts';
import { resolvePages } from '../publish/definitions/definitions.ts';
import type { DefinitionInputs, DefinitionProblem, KnownMonitor } from '../publish/definitions/inputs.ts';
import { type UnknownReference, unknownReferences } from '../publish/definitions/references.ts';
import type { Priority } from '../sync/connector.ts';
import { connectorOf } from '../sync/connectors/index.ts';
import { listsOnly } from '../sync/pass/lists-only.ts';
import type { Upstream } from '../sync/upstream.ts';
import type { StoreParts } from './build-store.ts';
import { now, sleep } from './clock.ts';
import { NOTHING_REMEMBERED, singleRunner } from './single-runner.ts';

/**
 * Looks at what the store remembers of each upstream. Files are read as they are now, and an upstream that was never heard
 * is asked for its lists; nothing is stored.
 *
 * @param answering  ids of the upstreams that answer: no other is asked again; `files`: those on this machine are read, and
 *   nobody is asked
 */
export async function findUnknownReferences(
  base: StoreParts,
  answering: ReadonlySet<string> | 'files',
): Promise<readonly UnknownReference[]> {
  const { store, live } = base;
  const [config, upstreams] = [live.config(), live.upstreams()];
  const files = new Set(config.upstreams.filter(isFile).map(({ id }) => id));
  const records = await store.upstreams();
  const looked = new Map<string, Learned>();
  const isToBeLookedAt = (upstream: Upstream): boolean =>
    answering === 'files'
      ? files.has(upstream.id)
      : answering.has(upstream.id) &&
        (files.has(upstream.id) || (records.get(upstream.id)?.monitorsAt ?? null) === null);
  await Promise.all(
    upstreams.filter(isToBeLookedAt).map(async (upstream) => {
      const learned = await lookAt(base, upstream);
      if (learned !== null) looked.set(upstream.id, learned);
    }),
  );
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
  const { site } = await base.readSite(now());
  return unknownReferences({
    definitions: {
      site,
      pages: config.pages,
      upstreamDefinitions: definitions,
      undecidedUpstreams: undecided,
      monitors: new Map([...monitors.values()].flatMap((those) => [...those])),
    },
    upstreams: upstreams.map(({ id }) => id),
    monitors: new Map([...monitors].map(([id, those]) => [id, new Set<MonitorId>(those.keys())])),
    // What a service tells of its own things is nothing that was mistyped here.
    posts: [...files].flatMap((id) => looked.get(id) ?? []),
    now: now(),
  });
}

/** Whether it is on this machine, so that reading it costs nobody anything. */
function isFile({ kind, options }: UpstreamConfig): boolean {
  const { fileOption } = connectorOf(kind);
  return fileOption !== undefined && Object.hasOwn(options as object, fileOption);
}

/** Whether an answer tells of a part and not that it could not be read this time. */
function knows(learned: Learned | undefined, part: SnapshotPart): learned is Learned {
  return learned !== undefined && !learned.stale.includes(part);
}

/** Null: it cannot be read, which its own row tells. */
async function lookAt({ http, store }: StoreParts, upstream: Upstream): Promise<Learned | null> {
  try {
    // Pages are not asked for before monitors are known.
    const wanted: readonly Priority[] = upstream.definesPages ? ['list', 'incident'] : ['list'];
    const context = { upstreamId: upstream.id, now: now(), memory: NOTHING_REMEMBERED };
    return await singleRunner({ http, store, now, sleep }, upstream).run(listsOnly(upstream.pull(context), wanted));
  } catch {
    return null;
  }
}

/** Status pages and monitors of an upstream, as a probe saw them. */
export type ProbedPages = Pick<Learned, 'monitors' | 'pages'>;

/** @param probed  by upstream; of all others what is stored counts, so that a first look needs no pass before it */
export async function pageProblems(
  base: Pick<StoreParts, 'store' | 'siteInputs'>,
  probed: ReadonlyMap<string, ProbedPages>,
): Promise<readonly DefinitionProblem[]> {
  return (await pagesAsProbed(base, probed)).problems;
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
    icons: inputs.icons,
    looks: inputs.looks,
    monitors: new Map<MonitorId, KnownMonitor>([...kept, ...seen.map((monitor) => [monitor.id, monitor] as const)]),
  });
}
