import { renderBadge } from '../../badges/index.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';

export interface BadgeCommandOptions {
  readonly style?: string;
  readonly color?: string;
  readonly scheme?: string;
}

const SCHEMES = ['auto', 'light', 'dark'] as const;

/** One SVG on standard output. */
export async function badge(
  [label, message]: readonly [string, string],
  options: BadgeCommandOptions,
): Promise<number> {
  const scheme = SCHEMES.find((name) => name === (options.scheme ?? 'auto'));
  if (scheme === undefined)
    throw new UsageError(`--scheme expects one of ${SCHEMES.join(', ')}; got "${options.scheme}".`);
  process.stdout.write(
    `${renderBadge({ label, message, color: options.color ?? 'gray', scheme, ...(options.style === undefined ? {} : { style: options.style as never }) })}\n`,
  );
  return EXIT_DONE;
}
