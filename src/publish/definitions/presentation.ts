/** Settings of a page: from the configuration, from the service that defines it, or by default. Also lists what is left out. */

import type { PageConfig } from '../../config/schema.ts';
import type { ComponentDefinition, MonitorId, MonitorObservation, PageDefinition } from '../../model/observation.ts';
import type { PageSettings } from '../../model/page.ts';
import { hasWords } from '../../views/words/index.ts';

/** An image that the page serves. */
export interface PageIcon {
  /** Base64. */
  readonly png: string;
}

/** Path of the image below the page. */
export const ICON_PATH = 'icon.png';
/** Maximum number of names in a message; further ones are counted. */
const NAMED_MAX = 5;

/** The service's settings apply unless the configuration has its own. `told`: messages about what is left out. */
export function choosePresentation(
  { presentation = {} }: PageDefinition,
  config: PageConfig | null,
  site: { readonly locale: string; readonly locales?: readonly string[] },
): {
  readonly settings: Pick<PageSettings, 'locale' | 'languages' | 'allowIndex' | 'showUptime'>;
  readonly told: readonly string[];
} {
  const { allowIndex = true, showUptime = true } = presentation;
  const own = config?.locales ?? (config?.locale === undefined ? undefined : [config.locale]);
  const ofSite = site.locales ?? [site.locale];
  const { locale: said, locales: others = said === undefined || ofSite.length > 1 ? ofSite : [] } = presentation;
  const wanted = own ?? [...(said === undefined ? [] : [said]), ...others];
  const spoken = own ?? [...new Set(wanted.filter(hasWords))];
  const all = spoken.length === 0 ? ofSite : spoken;
  const [locale = site.locale] = all;
  const left = wanted.filter((tag) => !all.includes(tag));
  return {
    settings: {
      locale,
      ...(all.length === 1 ? {} : { languages: { all, path: '' } }),
      allowIndex: config?.allow_index ?? allowIndex,
      showUptime: config?.show_uptime ?? showUptime,
    },
    told: left.map((tag) =>
      tag === said
        ? `its language is ${tag}, which Pharos doesn’t support, so the page is in ${locale}`
        : `its language ${tag} is left out, because Pharos doesn’t support it`,
    ),
  };
}

/**
 * Returns the components that may be shown. `public: false` hides a monitor on public pages. Private pages show it, and so do
 * services whose own pages show all their components.
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

/** Whether a visitor's browser would load it from another host. */
export function isForeign(address: string, pageUrl: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin !== new URL(pageUrl).origin;
}
