/** `site.webmanifest` of a page: what it is called and drawn by on a home screen. */

import type { PageModel } from '../../model/index.ts';
import { createContext, ownPictureFrom } from '../frame/shell.ts';
import { cleanLine } from '../text/plain-text.ts';
import { localeDirection } from '../words/index.ts';

/** Addresses in it are relative to itself, so it works wherever its page is. */
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
