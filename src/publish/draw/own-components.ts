/** The operator's own components: which parts of pages they replace, and how the build finds them. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { StatusError } from '../../errors.ts';
import { didYouMean } from '../../schema/nearest.ts';

/** The parts that can be replaced: name of the operator's file, and the template that it replaces. */
const PARTS = {
  Banner: 'components/state/Banner.astro',
  ComponentRow: 'components/rows/ComponentRow.astro',
  Footer: 'layouts/Footer.astro',
  Group: 'components/rows/Group.astro',
  Header: 'layouts/Header.astro',
  IncidentCard: 'components/events/EventCard.astro',
} as const;
type Part = keyof typeof PARTS;

/** Their folder, and the folder for builds with them. */
export interface OwnComponents {
  readonly folder: string;
  readonly builds: string;
}

/** Prefix in imports of own components for our templates and modules, followed by their path below `src`. */
const OURS = 'pharos:';
/** Environment variable that passes the folder to the build. */
export const OWN_COMPONENTS_VARIABLE = 'PHAROS_OWN_COMPONENTS';
/** Environment variable that passes the build's cache folder. */
export const BUILD_CACHE_VARIABLE = 'PHAROS_BUILD_CACHE';

/**
 * Names of the parts that a folder replaces, sorted. Templates in folders below it are for the parts to import.
 *
 * @throws CONFIG_INVALID when there is no such folder, or a template in it has no part to replace
 */
export function ownParts(folder: string): readonly Part[] {
  const refuse = (message: string): StatusError =>
    new StatusError({ code: 'CONFIG_INVALID', message, issues: [{ path: 'site.components', message }] });
  if (!existsSync(folder)) throw refuse(`There is no folder ${folder}.`);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.astro'))
    .map((name) => name.slice(0, -'.astro'.length))
    .toSorted();
  const known = Object.keys(PARTS);
  const strange = names.find((name) => !known.includes(name));
  if (strange !== undefined)
    throw refuse(
      `${join(folder, `${strange}.astro`)} doesn’t replace any part.${didYouMean(strange, known)} Parts are ${known.join(', ')}. Put files that they import into a subfolder.`,
    );
  return names as Part[];
}

/**
 * Below the project, where the build takes an operator's files to be: Astro compiles nothing elsewhere, and packages are found
 * from there. Nothing is written to it.
 */
export const OWN_PLACE = 'src/own-components';

/** The real file of a path in the build: the operator's file if it is below `OWN_PLACE`. */
function realPath(root: string, own: string | undefined, path: string): string {
  const place = relative(join(root, OWN_PLACE), path);
  return own === undefined || place.startsWith('..') || isAbsolute(place) ? path : join(own, place);
}

/** File and line of the first own component in the stack of an error; null: none. */
export function findOwnPlace(error: unknown, folder: string): string | null {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const [, file, line] = new RegExp(`${OWN_PLACE}/([^\\s():]+):(\\d+)`).exec(stack) ?? [];
  return file === undefined ? null : `${join(folder, file)}:${line}`;
}

/** The build plugin that replaces templates. @param root  of the project */
export function useOwnComponents(root: string, folder: string) {
  const source = join(root, 'src');
  const place = join(root, OWN_PLACE);
  const replaced = new Map(ownParts(folder).map((name) => [join(source, PARTS[name]), join(place, `${name}.astro`)]));
  return {
    name: 'pharos-own-components',
    enforce: 'pre' as const,
    resolveId(id: string, importer: string | undefined): string | null {
      if (id.startsWith(OURS)) return join(source, id.slice(OURS.length));
      // Keeps the query of a template's parts (`Banner.astro?astro&type=style`).
      if (importer === undefined || !id.startsWith('.') || id.includes('?')) return null;
      const target = join(dirname(importer.split('?')[0] ?? ''), id);
      const real = realPath(root, folder, target);
      return real !== target && existsSync(real) ? target : (replaced.get(target) ?? null);
    },
    load(id: string): string | null {
      const real = realPath(root, folder, id);
      return real === id || id.includes('?') ? null : readFileSync(real, 'utf8');
    },
  };
}
