/** The list of public status pages, at the root of a site that has several. */

import { combinedState, MINUTE_MS, type PageModel, textIn, toEpochMs } from '../../model/index.ts';
import { buildPlainShell, type FreshnessView, type PlainShellInit } from '../frame/shell.ts';
import { formatIn } from '../text/format.ts';
import { cleanLine } from '../text/plain-text.ts';
import { textOfMarkdown } from '../text/safe-html.ts';
import { bannerSentence, findWords } from '../words/index.ts';

interface IndexInit extends Pick<PlainShellInit, 'locale' | 'look'> {
  readonly timezone: string;
  readonly siteTitle: string;
  /** Absolute address of the site with a slash at the end. */
  readonly url: string;
}

/** What the list shows of a page. */
export type ListedPage = Pick<PageModel, 'definition' | 'settings' | 'state' | 'since' | 'asOf'>;

/**
 * How long the list may be believed after the oldest of its pages was true: pages are drawn anew every quarter of an
 * hour, and so is the list, a little later.
 */
const LIST_BELIEVED_MS = 45 * MINUTE_MS;

/** A list of states goes stale with the first of its pages. */
function indexFreshness(models: readonly ListedPage[], { locale, timezone }: IndexInit): FreshnessView | null {
  if (models.length === 0) return null;
  const asOf = toEpochMs(Math.min(...models.map((model) => model.asOf)));
  const format = formatIn(locale, timezone);
  const staleAfter = toEpochMs(asOf + LIST_BELIEVED_MS);
  return {
    since: null,
    stateWord: '',
    checkedEvery: '',
    goodUntil: format.zoned.time(staleAfter),
    isStale: false,
    staleAfter,
    dataFrom: format.zoned.time(asOf),
    nowHref: null,
  };
}

export type IndexOfPagesView = ReturnType<typeof indexOfPagesView>;

/** Lists those of `models` that are public, published and may be indexed, by title. Others leave no trace. */
export function indexOfPagesView(models: readonly ListedPage[], init: IndexInit) {
  const words = findWords(init.locale);
  const format = formatIn(init.locale, init.timezone);
  const listed = models
    .filter(({ definition }) => definition.access === 'public' && definition.published)
    .toSorted((a, b) => (a.definition.title < b.definition.title ? -1 : 1));
  return {
    shell: {
      ...buildPlainShell({
        locale: init.locale,
        title: `${words.allPages} · ${init.siteTitle}`,
        siteTitle: init.siteTitle,
        base: '',
        isIndexed: listed.some(({ settings }) => settings.allowIndex),
        canonical: init.url,
        ...(init.look === undefined ? {} : { look: init.look }),
      }),
      state: listed.length === 0 ? null : combinedState(listed.map((model) => model.state)),
      freshness: indexFreshness(listed, init),
    },
    heading: words.allPages,
    pages: listed.map(({ definition, settings, state, since }) => {
      const site = { locale: init.locale, languages: { all: [settings.locale] } };
      const { text, lang } = textIn(site, definition.description ?? '', definition.descriptions);
      return {
        href: `${definition.slug}/`,
        // In the site's language, where somebody translated it.
        title: textIn(site, definition.title, definition.titles),
        description: cleanLine(textOfMarkdown(text)) || null,
        descriptionLang: lang,
        state,
        sentence: bannerSentence(state, words),
        since: since === null ? null : format.zoned.time(since),
      };
    }),
  };
}
