/** The state of the whole site at one time, without the contents of pages. */

import type { Announcement } from '../../model/observation.ts';
import type { SourceFreshness } from '../../model/page.ts';
import { type EpochMs, earlier, SECOND_MS } from '../../model/time.ts';
import type { UpstreamTimes } from '../../store/revisions.ts';
import type { ResolvedPage, ResolvedSite } from './definitions.ts';
import type { DefinitionInputs, DefinitionProblem } from './inputs.ts';
import { ICON_PATH } from './overlay.ts';

export interface SiteStateInputs extends Pick<DefinitionInputs, 'site' | 'pages' | 'looks' | 'vendorPages'> {
  /** Interval of each upstream. */
  readonly intervalMs: ReadonlyMap<string, number>;
  /** Time that each list request of an upstream needs by its rate limit, ms; absent: none. */
  readonly callMs?: ReadonlyMap<string, number>;
  /** Upstreams that can define pages. */
  readonly definesPages: ReadonlySet<string>;
  /** Fetched icons by `iconKey`; the same object as long as nothing changed. */
  readonly icons?: Icons;
}

export interface SiteState {
  readonly now: EpochMs;
  /** Revision of the store when it was read. */
  readonly revision: number;
  readonly site: DefinitionInputs['site'];
  /** The same object as long as no definition changed. */
  readonly resolved: ResolvedSite;
  readonly announcements: readonly Announcement[];
  /** Freshness of every configured upstream. */
  readonly sources: readonly SourceFreshness[];
}

/** Clocks of several nodes differ by less. */
const AHEAD_TOLD_MS = 2 * SECOND_MS;

/** Data is stale when it is older than two intervals; an upstream that never answered is stale from the start. */
export function sourceFreshness(
  upstreamId: string,
  times: Pick<UpstreamTimes, 'monitorsAt' | 'incidentsAt'> | undefined,
  intervalMs: number,
  now: EpochMs,
): SourceFreshness {
  // Future times come from a clock that was set back; the next pass removes them.
  const past = (at: EpochMs | null | undefined): EpochMs | null => (at == null ? null : earlier(at, now));
  const monitorsAt = past(times?.monitorsAt);
  const incidentsAt = past(times?.incidentsAt);
  const isStale = (at: EpochMs | null): boolean => at === null || now - at > 2 * intervalMs;
  return {
    upstreamId,
    monitorsAt,
    incidentsAt,
    intervalMs,
    isMonitorsStale: isStale(monitorsAt),
    isIncidentsStale: isStale(incidentsAt),
    ...((times?.monitorsAt ?? now) - now > AHEAD_TOLD_MS ? { isAhead: true } : {}),
  };
}

/** Result of fetching an icon. */
export type IconPicture =
  | { readonly kind: 'picture'; readonly png: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** The page with its external icon as a file, if that was fetched. */
export function withIcon(page: ResolvedPage, icons: Icons): ResolvedPage {
  const found = findPicture(page, icons);
  if (found?.kind !== 'picture') return page;
  const definition = { ...page.definition, icon: page.settings.url + ICON_PATH };
  return { ...page, definition, icon: { png: found.png } };
}

/** Problems of pages whose icon was rejected. */
export function refusedIcons(pages: readonly IconPage[], icons: Icons): readonly DefinitionProblem[] {
  return pages.flatMap((page) => {
    const found = findPicture(page, icons);
    const { slug } = page.definition;
    return found?.kind === 'refused' ? [{ slug, message: `its icon is left out: ${found.reason}` }] : [];
  });
}

type Icons = ReadonlyMap<string, IconPicture>;
type IconPage = Pick<ResolvedPage, 'definition' | 'identity' | 'iconAddress'>;

function findPicture({ identity, iconAddress }: IconPage, icons: Icons): IconPicture | undefined {
  return iconAddress === null ? undefined : icons.get(iconKey(identity.key, iconAddress));
}

/** What the icon of a page is kept under: also with the same address, that of another page is not its own. */
export function iconKey(page: string, address: string): string {
  return `${page} ${address}`;
}
