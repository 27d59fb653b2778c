/** The answer to shields.io's endpoint badge, for those who already show badges of that make. */

import { toHex } from '../looks/colour.ts';
import { paintOf } from './canvas.ts';
import type { KindFields } from './kinds.ts';
import { cleanText } from './lettering/text.ts';
import type { BadgeStyle } from './names.ts';
import { FALLBACK_COLOUR, LABEL_COLOUR } from './palette.ts';
import type { BadgeFields } from './render.ts';

/** Every key the endpoint knows and we use; it refuses unknown ones. */
interface ShieldsEndpoint {
  readonly schemaVersion: 1;
  readonly label: string;
  readonly message: string;
  readonly color: string;
  readonly labelColor: string;
  readonly isError: boolean;
  /** It takes less than five minutes for five minutes. */
  readonly cacheSeconds: number;
  readonly style?: string;
  readonly logoSvg?: string;
}

const CACHE_SECONDS = 300;

/** The styles that have a like there. */
const STYLES: Readonly<Partial<Record<BadgeStyle, string>>> = {
  flat: 'flat',
  square: 'flat-square',
  tall: 'for-the-badge',
};

/** @see https://shields.io/badges/endpoint-badge */
export function shieldsEndpoint(fields: KindFields): ShieldsEndpoint {
  const style = STYLES[fields.style ?? 'flat'];
  return {
    schemaVersion: 1,
    label: cleanText(fields.label),
    message: cleanText(fields.message),
    color: toHex(paintOf(fields.color, FALLBACK_COLOUR, 'light').colour.light),
    labelColor: toHex(paintOf(fields.labelColor ?? 'label', LABEL_COLOUR, 'light').colour.light),
    isError: fields.isUnknown,
    cacheSeconds: CACHE_SECONDS,
    ...(style === undefined ? {} : { style }),
    ...(fields.logo === undefined ? {} : { logoSvg: logoSvg(fields.logo) }),
  };
}

function logoSvg({ path, size }: NonNullable<BadgeFields['logo']>): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}"><path fill="#fff" d="${path}"/></svg>`;
}
