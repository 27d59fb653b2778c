/**
 * What surrounds every file of a page: the parts of its model that all views share, and the head, header, age of the data and
 * footer. A view that takes a part can be made from nothing else, so that the digest of the part says whether the view is still
 * what it was.
 */

import { LRUCache } from 'lru-cache';
import {
  type ComponentDefinition,
  type ComponentModel,
  type EpochMs,
  MINUTE_MS,
  type PageDefinition,
  type PageGroup,
  type PageIncident,
  type PageLanguages,
  type PageLook,
  type PageModel,
  type PageSettings,
  type Pieces,
  SECOND_MS,
  type SourceFreshness,
  type State,
} from '../../model/index.ts';
import { safeLink } from '../../model/scalars.ts';
import { NOW_JSON_PATH, SUBSCRIBE_PATH } from '../text/addresses.ts';
import { type Format, formatIn } from '../text/format.ts';
import { cleanLine } from '../text/plain-text.ts';
import { catalogueTag, fill, findWords, localeDirection, stateWord, type Words } from '../words/index.ts';
import { type OwnLook, themeStyle } from './theme.ts';

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

// Which addresses from outside may become a picture.

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

type Section = 'status' | 'history' | 'uptime' | 'reports' | 'badges' | null;

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

/** Everything a view needs to write in the page's language, zone and place; `Page`: the part of the model that it shows. */
export interface ViewContext<Page extends PageFrame = PageModel> {
  readonly model: Page;
  readonly words: Words;
  readonly format: Format;
  readonly locale: string;
  /** From the file back to the root of its status page: `''`, `'../'`, … */
  readonly base: string;
  /** From the file to the page's own root, where everything is that has no words; `base` in its default language. */
  readonly root: string;
}

/** @param base  see `ViewContext` */
export function createContext<Page extends PageFrame>(model: Page, base: string): ViewContext<Page> {
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
function languageViews({ model, root }: ViewContext<PageFrame>, path: string | null) {
  const { languages } = model.settings;
  if (languages === undefined) return [];
  return languages.all.map((locale, index) => {
    const place = (index === 0 ? '' : `${locale}/`) + (path ?? '');
    return {
      locale,
      /** As its speakers call it. */
      name: languageNames.memo(locale),
      /** The same file in it, from here. */
      href: root + place || './',
      /** Absolute; null where the address is not ours to claim. */
      url: path === null ? null : rootUrl(model.settings) + place,
      /** "View this page in English", in that language. */
      offer: findWords(locale).languageOffer,
    };
  });
}

interface ShellInit {
  /** Before the page's title; null on the home page. */
  readonly title: string | null;
  /** Default: the title. */
  readonly description?: string;
  /** Below the page's root; null: nothing canonical. */
  readonly path: string | null;
  readonly section?: Section;
  /** Default: it shows what is past, or nothing. Otherwise it has a state, is drawn anew at each change and goes stale. */
  readonly present?: Present | null;
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

export type ShellView = ReturnType<typeof buildShell>;

export function buildShell(context: ViewContext<PageFrame>, init: ShellInit) {
  const { model, words, format } = context;
  const { title, path, section = null, present = null } = init;
  const { definition, settings } = model;
  const homepage = safeLink(definition.homepageUrl);
  return {
    /** Tag of the catalogue that the page's own words come from. */
    locale: catalogueTag(settings.locale),
    dir: localeDirection(settings.locale),
    /** Of the document. */
    title: title === null ? definition.title : `${title} · ${definition.title}`,
    description: init.description ?? title ?? definition.title,
    /** Absolute; null where the address is not ours to claim. */
    canonical: path === null ? null : new URL(path, settings.url).href,
    socialImage: definition.access === 'public' ? new URL('og.png', settings.url).href : null,
    isIndexed: settings.allowIndex && definition.access === 'public',
    /** See `ViewContext`, as `root` too. */
    base: context.base,
    root: context.root,
    /** All of the page's, the default first; empty: it has one. */
    languages: languageViews(context, path),
    /** Null: a page of the site, or one that must not say whose it is. */
    pageTitle: definition.title as string | null,
    /** Of the title, where that is not the page's. */
    titleLang: model.titleLang,
    /** A picture that may be drawn, else null. */
    icon: ownPictureFrom(context, definition.icon),
    monogram: monograms.memo(definition.title),
    /** In place of both, and of the title; null: none. The second, where there is one, stands on dark headers. */
    logo: logoView(settings.look, context.root),
    homepage: homepage === null ? null : { href: homepage, text: fill(words.home, { host: hostOf(homepage) }) },
    contact: safeLink(definition.contactUrl),
    /** Where visitors subscribe, absolute, since a static host has no such address; null: nowhere. */
    subscribeHref: settings.subscriptions ? `${settings.url}${SUBSCRIBE_PATH}` : null,
    theme: definition.theme,
    /** The operator's variables as a style sheet, checked; null: none. */
    themeCss: themeStyle(settings),
    /** Null: the page is not about a state. */
    state: present?.state ?? null,
    section,
    isGated: definition.access !== 'public',
    /** It is part of a status page and leads to the other parts. */
    isOfPage: true as boolean,
    /** Null: it shows what is past, or nothing; the present may have moved on without it. */
    freshness: present === null ? null : freshnessView(context, present),
    timesIn: fill(words.timesIn, { zone: format.zone }) as string | null,
    /** In which its times are written, for the script that writes them in the visitor's; null: it has none. */
    clock: { zone: settings.timezone, locale: settings.locale } as { zone: string; locale: string } | null,
  };
}

/**
 * How old what a page says is: since when the state is what it is, how often that is checked, and until when this copy
 * may be believed. Never how old the file is, which is no age of anything that is known.
 */
export type FreshnessView = ReturnType<typeof freshnessView>;

function freshnessView({ words, format, root }: ViewContext<PageFrame>, present: Present) {
  const { since, staleAfter, isStale, asOf } = present;
  return {
    /** Null: nothing was known before, or the page is about several states. */
    since: since === null ? null : format.since(since, asOf),
    /** What it is since then. */
    stateWord: stateWord(present.state, words),
    checkedEvery: checkedEveryText({ words, format }, present),
    goodUntil: format.zoned.time(staleAfter),
    isStale,
    /** Later than this the page warns by script. */
    staleAfter,
    /** Of the latest data; null: there is none yet. */
    dataFrom: present.dataFrom === null ? null : format.zoned.time(present.dataFrom),
    /** Where the script asks when it was checked last, relative to the page; null: nowhere. */
    nowHref: (root + NOW_JSON_PATH) as string | null,
  };
}

/** Where several upstreams are asked, all of them are within the longest interval. */
function checkedEveryText({ words, format }: Pick<ViewContext, 'words' | 'format'>, { sources }: PageAge): string {
  const intervals = sources.map((source) => source.intervalMs);
  const intervalMs = intervals.length === 0 ? MINUTE_MS : Math.max(SECOND_MS, ...intervals);
  if (intervalMs === MINUTE_MS) return words.checkedEveryMinute;
  return fill(words.checkedEvery, { interval: format.duration(intervalMs) });
}

export interface PlainShellInit {
  readonly locale: string;
  /** Of the document. */
  readonly title: string;
  /** Whose site it is; null: nobody's, as before a gate. */
  readonly siteTitle: string | null;
  readonly base: string;
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
    titleLang: undefined,
    icon: null,
    monogram: siteTitle === null ? '' : monograms.memo(siteTitle),
    logo: logoView(rest.look?.look, base),
    homepage: null,
    contact: null,
    subscribeHref: null,
    theme: 'system',
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

function logoView({ logo }: PageLook = {}, base: string) {
  if (logo === undefined) return null;
  return [logo.light, ...(logo.dark ? [logo.dark] : [])].map(({ path, ...size }) => ({ src: base + path, ...size }));
}

function hostOf(address: string): string {
  return new URL(address).host.replace(/^www\./, '');
}

/**
 * `site.webmanifest` of a page: what it is called and drawn by on a home screen. Addresses in it are relative to itself, so it works
 * wherever its page is.
 */
export function webManifest(model: PageModel) {
  const { definition, settings } = model;
  const picture = ownPictureFrom(createContext(model, ''), definition.icon);
  return {
    name: cleanLine(definition.title),
    lang: settings.locale,
    dir: localeDirection(settings.locale),
    start_url: './',
    scope: './',
    display: 'minimal-ui',
    icons: [
      ...(picture === null ? [] : [{ src: picture, sizes: 'any' }]),
      { src: 'favicon.svg', sizes: 'any', type: 'image/svg+xml' },
    ],
  };
}
