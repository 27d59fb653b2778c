/** What settings keep of an operator's look: everything but the bytes of its pictures. */

import type { LogoFile, OwnLook } from '../../config/look.ts';
import type { PageSettings } from '../../model/page.ts';

/** @param prefix  before the names of its pictures; default: none */
export function lookSettings(
  { accentColor, logo, ...others }: OwnLook,
  prefix = '',
): Pick<PageSettings, 'accentColor' | 'look'> {
  const look = { ...others, ...(logo === undefined ? {} : { logo: placed(logo, prefix) }) };
  return { accentColor: accentColor ?? null, ...(Object.keys(look).length === 0 ? {} : { look }) };
}

function placed({ light, dark }: Required<OwnLook>['logo'], prefix: string) {
  const place = ({ path, width, height }: LogoFile) => ({ path: prefix + path, width, height });
  return { light: place(light), ...(dark === undefined ? {} : { dark: place(dark) }) };
}
