/** The `pharos.yaml` that points at a running sandbox. */

import { stringify } from 'yaml';
import { pageEntry, SITE_ENTRY } from '../../src/sandbox/sandbox.ts';
import type { LocalUpstream } from './kind.ts';
import type { World } from './world.ts';

export interface ConfigTextOptions {
  /** Names of the upstreams in it. Default: the usual ones. */
  readonly include?: readonly string[];
  /** False leaves `pages` out: definitions then come from the upstreams. Default true. */
  readonly hasPages?: boolean;
}

interface Configured extends LocalUpstream {
  readonly id: string;
}

/** The text to paste. Secrets stand in it as `${NAME}` only. */
export function configTextOf(
  {
    url,
    world,
    upstreams,
  }: { readonly url: string; readonly world: World; readonly upstreams: readonly LocalUpstream[] },
  { include, hasPages = true }: ConfigTextOptions = {},
): string {
  const configured = withIds(
    upstreams.filter(({ name, isUsual = false }) => (include === undefined ? isUsual : include.includes(name))),
  );
  const definer = configured.find(({ definesPages = false }) => definesPages);
  const from = definer === undefined ? {} : { from: definer.id };
  const monitor = (serviceId: number): string | null => monitorOf(serviceId, configured);
  return stringify(
    {
      site: SITE_ENTRY,
      upstreams: configured.map(({ id, name, entry }) => ({ ...entry(`${url}/${name}`, world), id })),
      ...(hasPages ? { pages: world.pages.map((page) => ({ ...pageEntry(page, monitor), ...from })) } : {}),
      operators: { token: '${PHAROS_TOKEN}' },
    },
    { lineWidth: 0 },
  );
}

/** Two wires of one service have one id where only one of them is configured. */
function withIds(upstreams: readonly LocalUpstream[]): readonly Configured[] {
  const taken = new Set<string>();
  return upstreams.map((upstream) => {
    const id = upstream.ids.find((one) => !taken.has(one)) ?? upstream.name;
    taken.add(id);
    return { ...upstream, id };
  });
}

/** The monitor of a service: of the upstream that names it in `serviceIds`, else of the first that names any. */
function monitorOf(serviceId: number, upstreams: readonly Configured[]): string | null {
  const candidates = upstreams.filter(({ serviceIds }) => serviceIds !== undefined);
  const chosen = candidates.find(({ serviceIds }) => serviceIds?.includes(serviceId)) ?? candidates[0];
  return chosen === undefined ? null : `${chosen.id}/${serviceId}`;
}
