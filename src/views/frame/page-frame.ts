/**
 * Parts of a page's model, as far as views need them. A view that takes a part can be made from nothing else, so that the
 * digest of the part says whether the view is still what it was.
 */

import type {
  ComponentDefinition,
  ComponentModel,
  EpochMs,
  PageDefinition,
  PageModel,
  SourceFreshness,
} from '../../model/index.ts';

/** What every file may show of its page, whatever the file is about. */
export interface PageFrame extends Pick<PageModel, 'settings' | 'groups' | 'titleLang'> {
  readonly definition: FrameDefinition;
  readonly components: readonly FrameComponent[];
}

/** Who it is, how it looks and whether everybody may see it; not what is on it. */
type FrameDefinition = Pick<
  PageDefinition,
  'id' | 'title' | 'homepageUrl' | 'contactUrl' | 'icon' | 'access' | 'theme'
>;

interface FrameComponent extends Pick<ComponentModel, 'name' | 'lang'> {
  readonly definition: Pick<ComponentDefinition, 'id' | 'groupId'>;
}

/** A component with its time line, and whether it is part of the page's own figures. */
export interface MeasuredComponent extends FrameComponent, Pick<ComponentModel, 'timeline'> {
  readonly definition: FrameComponent['definition'] & Pick<ComponentDefinition, 'counts' | 'monitor'>;
}

/** What a file about the present says of its age. */
export interface PageAge extends Pick<PageModel, 'asOf' | 'staleAfter' | 'dataFrom' | 'isStale'> {
  readonly sources: readonly Pick<SourceFreshness, 'intervalMs'>[];
}

/** In place of its age for a file about what is over: the latest instant that it depends on. It never goes stale. */
export interface Settled {
  readonly asOf: EpochMs;
  readonly staleAfter: null;
}

/** A page with the instant that what is shown of it is true for. */
export type DatedPage = PageFrame & Pick<PageModel, 'asOf'>;

export function toFrame({ definition, settings, groups, components, titleLang }: PageModel): PageFrame {
  const { id, title, homepageUrl, contactUrl, icon, access, theme } = definition;
  return {
    definition: { id, title, homepageUrl, contactUrl, icon, access, theme },
    titleLang,
    settings,
    groups,
    components: components.map(({ definition: { id, groupId }, name, lang }) => ({
      definition: { id, groupId },
      name,
      lang,
    })),
  };
}

export function toAge({ asOf, staleAfter, dataFrom, isStale, sources }: PageModel): PageAge {
  return { asOf, staleAfter, dataFrom, isStale, sources: sources.map(({ intervalMs }) => ({ intervalMs })) };
}
