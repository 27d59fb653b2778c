/** What a page's social image and favicon show: the state, and the days up to now. */

import { LOOKS, stateOfLetter } from '../../looks/states.ts';
import { dayOf, daysUntil, type PageModel } from '../../model/index.ts';
import { BAR_DAYS, barCells } from '../days/day-bar.ts';
import { rootUrl } from '../frame/shell.ts';
import { countedComponents } from '../model/page-state.ts';
import { formatIn } from '../text/format.ts';
import { cleanLine } from '../text/plain-text.ts';
import { bannerSentence, catalogueTag, count, fill, findWords, TROUBLE_KEYS } from '../words/index.ts';
import { combinedDays } from './badge-subjects.ts';
import { isDrawable, withoutPictures } from './drawable.ts';

/** The image has one line for a title, and two for what is wrong. */
const TITLE_LENGTH_MAX = 48;
const NAME_LENGTH_MAX = 32;
const NAMES_MAX = 3;

/** A picture of the operator's own, `width` × `height` on a page. */
export interface SocialLogo {
  readonly contentType: string;
  readonly base64: string;
  readonly width: number;
  readonly height: number;
}

export type SocialView = ReturnType<typeof socialView>;

/**
 * What the social image shows, in the page's language. A name in a script that the fonts do not have gives way to the page's
 * address, and words in one to English.
 *
 * @param logo  the page's for light grounds and, where it has one, for dark grounds
 */
export function socialView(model: PageModel, logo: readonly SocialLogo[] = []) {
  const { definition, settings, state } = model;
  const isDark = definition.theme === 'dark';
  const tag = catalogueTag(settings.locale);
  const locale = isDrawable(bannerSentence(state, findWords(tag))) ? tag : 'en';
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const address = rootUrl(settings)
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '');
  const days = daysUntil(dayOf(model.asOf, settings.timezone), BAR_DAYS);
  const members = countedComponents(model.components).map((component) => ({
    component,
    cells: barCells(component, days, model),
  }));
  return {
    title: drawableName(definition.title, TITLE_LENGTH_MAX) ?? address,
    state,
    sentence: bannerSentence(state, findWords(locale)),
    // Which components are in trouble; empty while none is.
    detail: socialDetail(model, locale),
    // One state a day, oldest first.
    days: [...combinedDays(members, days.length)].map(stateOfLetter),
    // At the two ends of the days.
    daysFrom: relative.format(1 - days.length, 'day'),
    daysTo: relative.format(0, 'day'),
    // Where the page is, `status.example.com/acme`.
    address,
    isDark,
    // Of the page's look: which colours and faces it begins with, and a line at the top.
    preset: settings.look?.preset ?? 'paper',
    accentColor: settings.accentColor,
    // In place of the title.
    logo: drawableLogo(isDark || LOOKS[state].isLoud ? logo.at(-1) : logo[0]),
    // Of its words; which forms characters have, and from which side it is read, follows from it.
    locale,
  };
}

/** Without fonts of the viewer's, a picture with text in it would lack its name. */
function drawableLogo(logo: SocialLogo | undefined): SocialLogo | null {
  if (logo === undefined) return null;
  const { contentType, base64, width, height } = logo;
  const isWritten = contentType === 'image/svg+xml' && /<text\b/i.test(atob(base64));
  return isWritten ? null : { contentType, base64, width, height };
}

/** The names of those in the worst state there is. */
function socialDetail({ components, settings }: PageModel, locale: string): string {
  const words = findWords(locale);
  for (const [state, key] of TROUBLE_KEYS) {
    const concerned = countedComponents(components).filter((component) => component.state === state);
    if (concerned.length === 0) continue;
    const names = concerned.map(({ name }) => drawableName(name, NAME_LENGTH_MAX)).filter((name) => name !== null);
    const named = names.slice(0, NAMES_MAX);
    const others = concerned.length - named.length;
    if (named.length === 0) return '';
    const list = others === 0 ? named : [...named, count(words.bannerOthers, others, locale)];
    return fill(words[key], { names: formatIn(locale, settings.timezone).list(list) });
  }
  return '';
}

/** A name cut to a length, without pictures; null when the font cannot write it. */
function drawableName(name: string, lengthMax: number): string | null {
  const clean = cleanLine(withoutPictures(name));
  if (clean === '' || !isDrawable(clean)) return null;
  const characters = [...clean];
  return characters.length <= lengthMax
    ? clean
    : `${characters
        .slice(0, lengthMax - 1)
        .join('')
        .trimEnd()}…`;
}
