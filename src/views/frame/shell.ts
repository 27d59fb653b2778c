/** What stands around every page of a status page: head, header, age of the data, footer. */

import { LRUCache } from 'lru-cache';
import {
  type EpochMs,
  MINUTE_MS,
  type OwnPicture,
  type PageGroup,
  type PageIncident,
  type PageLanguages,
  type PageLook,
  type PageModel,
  type PageSettings,
  type Pieces,
  SECOND_MS,
  type State,
  type Theme,
} from '../../model/index.ts';
import { safeLink } from '../../model/scalars.ts';
import { NOW_JSON_PATH, SUBSCRIBE_PATH } from '../text/addresses.ts';
import { type Format, formatIn, type TimeView } from '../text/format.ts';
import { catalogueTag, fill, findWords, localeDirection, type Words } from '../words/index.ts';
import { stateWord } from '../words/state-words.ts';
import type { PageAge, PageFrame } from './page-frame.ts';
import { type OwnLook, type SafeCss, themeStyle } from './theme.ts';

/** Which addresses from outside may become a picture. */

const PICTURE_DATA = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,][\w+/=%.,:;!*'()~-]*$/i;
/** A picture inside the page counts against its weight. */
const PICTURE_DATA_LENGTH_MAX = 4_096;

/**
 * The address of a page's icon if a visitor's browser can have it from us: a small `data:` picture, or a file of the
 * page's own origin. A picture from anywhere else would send every visitor to a third party, so it is null.
 */
export function ownPicture(address: string | null, pageUrl: string): string | null {
  if (address === null) return null;
  const trimmed = address.trim();
  if (trimmed.startsWith('data:'))
    return trimmed.length <= PICTURE_DATA_LENGTH_MAX && PICTURE_DATA.test(trimmed) ? trimmed : null;
  if (/[\t\n\r\\]/.test(trimmed) || !URL.canParse(trimmed, pageUrl)) return null;
  const url = new URL(trimmed, pageUrl);
  return url.origin === new URL(pageUrl).origin && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** How a view is placed. */
export interface ViewOptions {
  /** From the file back to the root of its status page: `''`, `'../'`, …; `'acme/'` for the copy at the site's root. */
  readonly base?: string;
}

type Section = 'status' | 'history' | 'uptime' | 'reports' | 'badges' | null;

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
  /** From the file to the page's own root, where everything is that has no words; `base` in its default language. */
  readonly root: string;
  /** All of the page's, the default first; empty: it has one. */
  readonly languages: readonly LanguageView[];
  /** Null: a page of the site, or one that must not say whose it is. */
  readonly pageTitle: string | null;
  /** Of the title, where that is not the page's. */
  readonly titleLang?: string | undefined;
  /** A picture that may be drawn, else null. */
  readonly icon: string | null;
  readonly monogram: string;
  /** In place of both, and of the title; null: none. The second, where there is one, stands on dark headers. */
  readonly logo: readonly [LogoView, ...LogoView[]] | null;
  readonly homepage: LinkView | null;
  readonly contact: string | null;
  /** Where visitors subscribe, absolute, since a static host has no such address; null: nowhere. */
  readonly subscribeHref: string | null;
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
  /** In which its times are written, for the script that writes them in the visitor's; null: it has none. */
  readonly clock: ClockView | null;
}

interface LogoView extends Omit<OwnPicture, 'path'> {
  readonly src: string;
}

interface LanguageView {
  readonly locale: string;
  /** As its speakers call it. */
  readonly name: string;
  /** The same file in it, from here. */
  readonly href: string;
  /** Absolute; null where the address is not ours to claim. */
  readonly url: string | null;
  /** "View this page in English", in that language. */
  readonly offer: string;
}

interface ClockView {
  /** IANA zone. */
  readonly zone: string;
  readonly locale: string;
}

export interface LinkView {
  readonly href: string;
  readonly text: string;
  /** Where that is not the page's. */
  readonly lang?: string | undefined;
  /** Of a text that has names in another language. */
  readonly pieces?: Pieces | undefined;
}

/** A link to what has a name. */
export function linkTo({ name: text, lang }: Pick<PageGroup, 'name' | 'lang'>, href: string): LinkView {
  return { href, text, lang };
}

/** A link to a story, by its title. */
export function linkToStory(
  { title: text, lang, pieces }: Pick<PageIncident, 'title' | 'lang' | 'pieces'>,
  href: string,
): LinkView {
  return { href, text, lang, pieces };
}

/**
 * How old what a page says is: since when the state is what it is, how often that is checked, and until when this copy
 * may be believed. Never how old the file is, which is no age of anything that is known.
 */
export interface FreshnessView {
  /** Null: nothing was known before, or the page is about several states. */
  readonly since: TimeView | null;
  /** What it is since then. */
  readonly stateWord: string;
  readonly checkedEvery: string;
  readonly goodUntil: TimeView;
  readonly isStale: boolean;
  /** Later than this the page warns by script. */
  readonly staleAfter: EpochMs;
  readonly staleText: string;
  /** Where the script asks when it was checked last, relative to the page; null: nowhere. */
  readonly nowHref: string | null;
}

/** Everything a view needs to write in the page's language, zone and place; `Page`: the part of the model that it shows. */
export interface ViewContext<Page extends PageFrame = PageModel> {
  readonly model: Page;
  readonly words: Words;
  readonly format: Format;
  readonly locale: string;
  readonly base: string;
  /** See `ShellView`. */
  readonly root: string;
}

export function createContext<Page extends PageFrame>(model: Page, { base = '' }: ViewOptions = {}): ViewContext<Page> {
  const { locale, timezone, languages } = model.settings;
  const root = isInOther(languages) ? `${base}../` : base;
  return { model, words: findWords(locale), format: formatIn(locale, timezone), locale, base, root };
}

function isInOther(languages: PageLanguages | undefined): boolean {
  return languages !== undefined && languages.path !== '';
}

/** The absolute address of a page in its default language. */
export function rootUrl({ url, languages }: Pick<PageSettings, 'url' | 'languages'>): string {
  return isInOther(languages) ? url.slice(0, -(languages?.path.length ?? 0)) : url;
}

/** What a language is called by those who speak it. */
const languageNames = new LRUCache<string, string>({
  max: 64,
  memoMethod: (locale) => new Intl.DisplayNames(locale, { type: 'language' }).of(locale) ?? locale,
});

/** A file of the page in each of its languages; none where it has one. */
function languageViews({ model, root }: ViewContext<PageFrame>, path: string | null): readonly LanguageView[] {
  const { languages } = model.settings;
  if (languages === undefined) return [];
  return languages.all.map((locale, index) => {
    const place = (index === 0 ? '' : `${locale}/`) + (path ?? '');
    return {
      locale,
      name: languageNames.memo(locale),
      href: root + place || './',
      url: path === null ? null : rootUrl(model.settings) + place,
      offer: findWords(locale).languageOffer,
    };
  });
}

interface ShellInit {
  /** Before the page's title; null on the home page. */
  readonly title: string | null;
  readonly description: string;
  /** Below the page's root; null: nothing canonical. */
  readonly path: string | null;
  readonly section: Section;
  /** Null: it shows what is past, or nothing. Otherwise it has a state, is drawn anew at each change and goes stale. */
  readonly present: Present | null;
}

/** What it is about, as it is now. */
interface Present extends PageAge {
  readonly state: State;
  /** When it came into that state; null: nothing was known before, or it is about several. */
  readonly since: EpochMs | null;
}

/** The address of a picture on the page's own origin, by its place from here where it is below the page; else null. */
export function ownPictureFrom({ model, root }: ViewContext<PageFrame>, address: string | null): string | null {
  const url = rootUrl(model.settings);
  const picture = ownPicture(address, url);
  return picture?.startsWith(url) === true ? root + picture.slice(url.length) : picture;
}

export function buildShell(context: ViewContext<PageFrame>, init: ShellInit): ShellView {
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
    root: context.root,
    languages: languageViews(context, init.path),
    pageTitle: definition.title,
    titleLang: model.titleLang,
    icon: ownPictureFrom(context, definition.icon),
    monogram: monograms.memo(definition.title),
    logo: logoView(settings.look, context.root),
    homepage: homepage === null ? null : { href: homepage, text: fill(words.home, { host: hostOf(homepage) }) },
    contact: safeLink(definition.contactUrl),
    subscribeHref: settings.subscriptions ? `${settings.url}${SUBSCRIBE_PATH}` : null,
    theme: definition.theme,
    themeCss: themeStyle(settings),
    state: init.present?.state ?? null,
    section: init.section,
    isGated: definition.access !== 'public',
    isOfPage: true,
    freshness: init.present === null ? null : freshnessView(context, init.present),
    timesIn: fill(words.timesIn, { zone: format.zone }),
    clock: { zone: settings.timezone, locale: settings.locale },
  };
}

function freshnessView({ words, format, root }: ViewContext<PageFrame>, present: Present): FreshnessView {
  const { since, staleAfter, isStale, asOf } = present;
  const dataFrom = present.dataFrom === null ? null : format.zoned.time(present.dataFrom);
  return {
    since: since === null ? null : format.since(since, asOf),
    stateWord: stateWord(present.state, words),
    checkedEvery: checkedEveryText({ words, format }, present),
    goodUntil: format.zoned.time(staleAfter),
    isStale,
    staleAfter,
    staleText: dataFrom === null ? words.staleNever : fill(words.staleBody, { time: dataFrom.text }),
    nowHref: root + NOW_JSON_PATH,
  };
}

/** Where several upstreams are asked, all of them are within the longest interval. */
function checkedEveryText({ words, format }: Pick<ViewContext, 'words' | 'format'>, { sources }: PageAge): string {
  const intervals = sources.map((source) => source.intervalMs);
  const intervalMs = intervals.length === 0 ? MINUTE_MS : Math.max(SECOND_MS, ...intervals);
  if (intervalMs === MINUTE_MS) return words.checkedEveryMinute;
  return fill(words.checkedEvery, { interval: format.duration(intervalMs) });
}

interface PlainShellInit {
  readonly locale: string;
  /** Of the document. */
  readonly title: string;
  /** Whose site it is; null: nobody's, as before a gate. */
  readonly siteTitle: string | null;
  readonly base: string;
  readonly theme?: Theme;
  readonly isIndexed?: boolean;
  readonly canonical?: string;
  /** Of the site; default: as it comes. */
  readonly look?: OwnLook;
}

/** A shell for pages that belong to no status page, or that must not say to which. */
export function buildPlainShell({ locale, title, siteTitle, base, ...rest }: PlainShellInit): ShellView {
  return {
    locale: catalogueTag(locale),
    dir: localeDirection(locale),
    title,
    description: title,
    canonical: rest.canonical ?? null,
    socialImage: null,
    isIndexed: rest.isIndexed ?? false,
    base,
    root: base,
    languages: [],
    pageTitle: siteTitle,
    icon: null,
    monogram: siteTitle === null ? '' : monograms.memo(siteTitle),
    logo: logoView(rest.look?.look, base),
    homepage: null,
    contact: null,
    subscribeHref: null,
    theme: rest.theme ?? 'system',
    themeCss: rest.look === undefined ? null : themeStyle(rest.look),
    state: null,
    section: null,
    isGated: false,
    isOfPage: false,
    freshness: null,
    timesIn: null,
    clock: null,
  };
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The first letter or sign of a title, as a person sees one. Every page of a site asks for the same. */
const monograms = new LRUCache<string, string>({
  max: 256,
  memoMethod: (title) => {
    const first = GRAPHEMES.segment(title.trim())[Symbol.iterator]().next();
    return first.done ? '•' : first.value.segment.toLocaleUpperCase('en');
  },
});

function logoView({ logo }: PageLook = {}, base: string): ShellView['logo'] {
  if (logo === undefined) return null;
  const view = ({ path, ...size }: OwnPicture): LogoView => ({ src: base + path, ...size });
  return logo.dark === undefined ? [view(logo.light)] : [view(logo.light), view(logo.dark)];
}

function hostOf(address: string): string {
  return new URL(address).host.replace(/^www\./, '');
}
