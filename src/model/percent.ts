/** How a share is written as a percentage without ever looking better than it is. */

import { LRUCache } from 'lru-cache';

/**
 * A ratio as a percentage with `decimals` digits after the point, rounded down: 0.99995 is "99.99%", and "100%",
 * always without digits after the point, is only ever exactly 1. "–" for null and for what is not a ratio.
 *
 * @param locale  BCP 47; decides the point and the space before the sign
 */
export function formatUptime(ratio: number | null, decimals: number, locale = 'en'): string {
  if (ratio === null || !(ratio >= 0 && ratio <= 1)) return '–';
  if (ratio === 1) return percentFormat(locale, 0).format(1);
  return percentFormat(locale, decimals).format(floorTo(ratio, decimals + 2));
}

/** A share rounded down to `digits` after the point: never better than it is. The nearest double of a decimal with that many digits is that decimal. */
export function floorTo(ratio: number, digits: number): number {
  const scale = 10 ** digits;
  const floored = Math.floor(ratio * scale);
  // The product is rounded: 0.57 × 100 gives 56.99…, and a value just below a step may be lifted onto it.
  if ((floored + 1) / scale <= ratio) return (floored + 1) / scale;
  return floored / scale <= ratio ? floored / scale : (floored - 1) / scale;
}

/** Building a formatter takes about a thousand times as long as using it. Bounded, since badges are asked for in any locale. */
const formats = new LRUCache<string, Intl.NumberFormat>({ max: 64 });

function percentFormat(locale: string, decimals: number): Intl.NumberFormat {
  const key = `${locale} ${decimals}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat(locale, {
    style: 'percent',
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  formats.set(key, format);
  return format;
}
