import { BADGE_SCHEMES, BADGE_STYLES, renderBadge } from '../../badges/index.ts';
import { parseColour } from '../../badges/palette.ts';
import type { Options } from '../common.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { oneOf } from './command-options.ts';

/** Styles with a label and a message; other styles need days or measurements. */
const STYLES = BADGE_STYLES.filter((style) => style !== 'bars' && style !== 'spark');

/** Prints an SVG badge. */
export async function badge(label: string, message: string, options: Options<'style' | 'color' | 'scheme'>) {
  const { style = 'flat', color = 'gray', scheme } = options;
  if (parseColour(color) === null)
    throw new UsageError(`--color expects a name such as orange, or #rrggbb; got "${color}".`);
  const svg = renderBadge({
    ...{ label, message, color },
    scheme: scheme === undefined ? undefined : oneOf('--scheme', scheme, BADGE_SCHEMES),
    style: oneOf('--style', style, STYLES),
  });
  process.stdout.write(`${svg}\n`);
  return EXIT_DONE;
}
