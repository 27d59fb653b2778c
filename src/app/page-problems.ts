/** Finds problems and left-out parts of pages in what upstreams have just answered. */

import { type Learned, type MonitorId, upstreamOf } from '../model/observation.ts';
import { resolvePages } from '../publish/definitions/definitions.ts';
import type { DefinitionProblem, KnownMonitor } from '../publish/definitions/inputs.ts';
import type { Pharos } from './compose.ts';

/** Status pages and monitors of an upstream, as a probe saw them. */
export type ProbedPages = Pick<Learned, 'monitors' | 'pages'>;

/** @param probed  by upstream; of all others what is stored counts, so that a first look needs no pass before it */
export async function pageProblems(
  pharos: Pick<Pharos, 'store' | 'siteInputs'>,
  probed: ReadonlyMap<string, ProbedPages>,
): Promise<readonly DefinitionProblem[]> {
  return (await pagesAsProbed(pharos, probed)).problems;
}

/** The pages that there would be, by the same. */
export async function pagesAsProbed(
  { store, siteInputs }: Pick<Pharos, 'store' | 'siteInputs'>,
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
