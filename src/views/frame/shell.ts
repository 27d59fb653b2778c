/** What stands around every page of a status page: head, header, age of the data, footer. */

import { type EpochMs, MINUTE_MS, type PageModel, type State, type Theme } from '../../model/index.ts';
import { safeLink } from '../../model/scalars.ts';
import { type Format, formatIn, type TimeView } from '../text/format.ts';
import { ownPicture } from '../text/links.ts';
import { catalogueTag, fill, localeDirection, type Words, wordsOf } from '../words/index.ts';
import type { PageAge, PageFrame } from './page-frame.ts';
import { type SafeCss, themeStyle } from './theme.ts';

/** How a view is placed. */
export interface ViewOptions {
  /** From the file back to the root of its status page: `''`, `'../'`, …; `'acme/'` for the copy at the site's root. */
  readonly base?: string;
}

export type Section = 'status' | 'history' | 'uptime' | 'reports' | 'badges' | null;

export interface ShellView {
  /** Tag of the catalogue that the page's own words come from. */
  readonly locale: string;
  readonly dir: 'ltr' | 'rtl';
  /** Of the document. */
  readonly title: string;
  readonly description: string;
  /** Absolute; null where the address is not ours to claim. */
  readonly canonical: string | null;
  readonly socialImage: string | null;
  readonly isIndexed: boolean;
  readonly base: string;
  /** Null: a page of the site, or one that must not say whose it is. */
  readonly pageTitle: string | null;
  /** A picture that may be drawn, else null. */
  readonly icon: string | null;
  readonly monogram: string;
  readonly homepage: LinkView | null;
  readonly contact: string | null;
  readonly theme: Theme;
  /** The operator's variables as a style sheet, checked; null: none. */
  readonly themeCss: SafeCss | null;
  /** Null: the page is not about a state. */
  readonly state: State | null;
  readonly section: Section;
  readonly isGated: boolean;
  /** It is part of a status page and leads to the other parts. */
  readonly isOfPage: boolean;
  /** Null: it shows what is past, or nothing; the present may have moved on without it. */
  readonly freshness: FreshnessView | null;
  readonly timesIn: string | null;
}

export interface LinkView {
  readonly href: string;
  readonly text: string;
}

export interface FreshnessView {
  /** The instant that the page is true for; on a stale page that of its last data. */
  readonly asOf: TimeView;
  readonly isStale: boolean;
  /** Later than this the page warns by script. */
  readonly staleAfter: EpochMs;
  readonly staleText: string;
  /** How often it is checked and written. */
  readonly rewritten: string;
}

/** Everything a view needs to write in the page's language, zone and place; `Page`: the part of the model that it shows. */
export interface ViewContext<Page extends PageFrame = PageModel> {
  readonly model: Page;
  readonly words: Words;
  readonly format: Format;
  readonly locale: string;
  readonly base: string;
}

export function contextOf<Page extends PageFrame>(model: Page, { base = '' }: ViewOptions = {}): ViewContext<Page> {
  const { locale, timezone } = model.settings;
  return { model, words: wordsOf(locale), format: formatIn(locale, timezone), locale, base };
}

export interface ShellInit {
  /** Before the page's title; null on the home page. */
  readonly title: string | null;
  readonly description: string;
  /** Below the page's root; null: nothing canonical. */
  readonly path: string | null;
  readonly section: Section;
  /** Null: it shows what is past, or nothing. Otherwise it has a state, is drawn anew at each change and goes stale. */
  readonly present: (PageAge & { readonly state: State }) | null;
}

export function shellOf(context: ViewContext<PageFrame>, init: ShellInit): ShellView {
  const { model, words, format } = context;
  const { definition, settings } = model;
  const homepage = safeLink(definition.homepageUrl);
  return {
    locale: catalogueTag(settings.locale),
    dir: localeDirection(settings.locale),
    title: init.title === null ? definition.title : `${init.title} · ${definition.title}`,
    description: init.description,
    canonical: init.path === null ? null : new URL(init.path, settings.url).href,
    socialImage: definition.access === 'public' ? new URL('og.png', settings.url).href : null,
    isIndexed: settings.allowIndex && definition.access === 'public',
    base: context.base,
    pageTitle: definition.title,
    icon: ownPicture(definition.icon, settings.url),
    monogram: monogramOf(definition.title),
    homepage: homepage === null ? null : { href: homepage, text: fill(words.home, { host: hostOf(homepage) }) },
    contact: safeLink(definition.contactUrl),
    theme: definition.theme,
    themeCss: themeStyle(settings),
    state: init.present?.state ?? null,
    section: init.section,
    isGated: definition.access !== 'public',
    isOfPage: true,
    freshness: init.present === null ? null : freshnessView(context, init.present),
    timesIn: fill(words.timesIn, { zone: format.zone }),
  };
}

function freshnessView({ words, format }: ViewContext<PageFrame>, age: PageAge): FreshnessView {
  const dataFrom = age.dataFrom === null ? null : format.timeWithZone(age.dataFrom);
  const { isStale } = age;
  return {
    asOf: isStale && dataFrom !== null ? dataFrom : format.timeWithZone(age.asOf),
    isStale,
    staleAfter: age.staleAfter,
    staleText: dataFrom === null ? words.staleNever : fill(words.staleBody, { time: dataFrom.text }),
    rewritten: rewrittenText({ words, format }, age),
  };
}

/** Nobody is helped by "at least every 13 minutes". */
const HEARTBEAT_STEP_MS = 5 * MINUTE_MS;

/** A copy is believed for a heartbeat and two intervals, so what is left without the intervals is about the heartbeat. */
function rewrittenText(
  { words, format }: Pick<ViewContext, 'words' | 'format'>,
  { asOf, staleAfter, sources }: PageAge,
): string {
  const intervalMs = Math.max(MINUTE_MS, ...sources.map((source) => source.intervalMs));
  const restMs = Math.max(intervalMs, staleAfter - asOf - 2 * intervalMs);
  const heartbeatMs = Math.ceil(restMs / HEARTBEAT_STEP_MS) * HEARTBEAT_STEP_MS;
  return fill(words.rewritten, { interval: format.duration(intervalMs), heartbeat: format.duration(heartbeatMs) });
}

export interface PlainShellInit {
  readonly locale: string;
  /** Of the document. */
  readonly title: string;
  /** Whose site it is; null: nobody's, as before a gate. */
  readonly siteTitle: string | null;
  readonly base: string;
  readonly theme?: Theme;
  readonly isIndexed?: boolean;
  readonly canonical?: string;
}

/** A shell for pages that belong to no status page, or that must not say to which. */
export function plainShellOf({ locale, title, siteTitle, base, ...rest }: PlainShellInit): ShellView {
  return {
    locale: catalogueTag(locale),
    dir: localeDirection(locale),
    title,
    description: title,
    canonical: rest.canonical ?? null,
    socialImage: null,
    isIndexed: rest.isIndexed ?? false,
    base,
    pageTitle: siteTitle,
    icon: null,
    monogram: siteTitle === null ? '' : monogramOf(siteTitle),
    homepage: null,
    contact: null,
    theme: rest.theme ?? 'system',
    themeCss: null,
    state: null,
    section: null,
    isGated: false,
    isOfPage: false,
    freshness: null,
    timesIn: null,
  };
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The first letter or sign of a title, as a person sees one. */
function monogramOf(title: string): string {
  const first = GRAPHEMES.segment(title.trim())[Symbol.iterator]().next();
  return first.done ? '•' : first.value.segment.toLocaleUpperCase('en');
}

function hostOf(address: string): string {
  return new URL(address).host.replace(/^www\./, '');
}
