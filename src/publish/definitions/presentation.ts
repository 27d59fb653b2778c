/** How a page is drawn: by the configuration, by the service that defines it, by default; and what of it is left out. */

import type { PageConfig } from '../../config/schema.ts';
import type { ComponentDefinition, MonitorId, MonitorObservation, PageDefinition } from '../../model/observation.ts';
import type { PageSettings } from '../../model/page.ts';
import { hasWords } from '../../views/words/index.ts';

/** What became of the picture at an address. */
export type IconPicture =
  | { readonly kind: 'picture'; readonly png: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A picture that a page serves itself. */
export interface PageIcon {
  /** Base64. */
  readonly png: string;
}

/** Of the picture that a page serves, below its address. */
export const ICON_PATH = 'icon.png';
/** More names than these are counted. */
const NAMED_MAX = 5;

/** What the page's own service says counts where the configuration says nothing. `told`: what is left out, in words. */
export function presentationOf(
  { presentation = {} }: PageDefinition,
  config: PageConfig | null,
  siteLocale: string,
): { readonly settings: Pick<PageSettings, 'locale' | 'allowIndex' | 'showUptime'>; readonly told: readonly string[] } {
  const { allowIndex = true, showUptime = true, locale = siteLocale } = presentation;
  const isSpoken = hasWords(locale);
  return {
    settings: {
      locale: config?.locale ?? (isSpoken ? locale : siteLocale),
      allowIndex: config?.allow_index ?? allowIndex,
      showUptime: config?.show_uptime ?? showUptime,
    },
    told:
      config?.locale !== undefined || isSpoken || locale === siteLocale
        ? []
        : [`its language is ${locale}, which Pharos doesn’t support, so the page is in ${siteLocale}`],
  };
}

/**
 * The components that may show. `public: false` is the upstream's word that a monitor is nobody's business; behind a gate
 * the page decides, and so does a service whose own pages show all that is placed on them.
 */
export function shownComponents(
  { access, components, presentation }: PageDefinition,
  monitors: ReadonlyMap<MonitorId, Pick<MonitorObservation, 'name' | 'isPublic'>>,
): { readonly components: readonly ComponentDefinition[]; readonly told: readonly string[] } {
  const monitorOf = ({ monitor }: ComponentDefinition) => (monitor === null ? undefined : monitors.get(monitor));
  const isHidden = (component: ComponentDefinition): boolean =>
    access === 'public' && presentation?.showsAllPlaced !== true && monitorOf(component)?.isPublic === false;
  const hidden = components.filter(isHidden);
  const names = hidden.slice(0, NAMED_MAX).map((one) => JSON.stringify(one.name ?? monitorOf(one)?.name ?? one.id));
  if (hidden.length > NAMED_MAX) names.push(`${hidden.length - NAMED_MAX} more`);
  return {
    components: components.filter((component) => !isHidden(component)),
    told:
      hidden.length === 0
        ? []
        : [
            `left out because their monitors are not public in the upstream: ${names.join(', ')}. Make them public, or make the page private`,
          ],
  };
}

/** A picture of another origin as a file of the page; an address of its own is linked as it is. */
export function iconOf(
  address: string | null,
  pageUrl: string,
  icons: ReadonlyMap<string, IconPicture>,
): { readonly address: string | null; readonly icon: PageIcon | null; readonly told: readonly string[] } {
  if (address === null || !isForeign(address, pageUrl)) return { address, icon: null, told: [] };
  const found = icons.get(address);
  if (found === undefined) return { address: null, icon: null, told: [] };
  if (found.kind === 'refused') return { address: null, icon: null, told: [`its icon is left out: ${found.reason}`] };
  return { address: pageUrl + ICON_PATH, icon: { png: found.png }, told: [] };
}

/** Whether a visitor's browser would ask somebody else for it. */
export function isForeign(address: string, pageUrl: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin !== new URL(pageUrl).origin;
}
