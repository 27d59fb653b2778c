/** The only place that knows Astro at run time: the pages are compiled once for each state of their sources, and loaded. */

import { pathToFileURL } from 'node:url';
import { fingerprintOf } from '../fingerprint.ts';
import { compilePages } from './compile-pages.ts';
import { readModules } from './module-graph.ts';
import { type OwnComponents, ownPlaceOf } from './own-components.ts';
import { type Built, createRenderer, RENDERER_MODULE, type Renderer } from './renderer.ts';

/**
 * Makes sure that the pages are compiled as their sources are now.
 *
 * @throws PUBLISH_FAILED when they do not compile
 */
export async function compileRenderer(own: OwnComponents | null = null): Promise<void> {
  await compilePages(own);
}

/** The compiled pages, compiled first where they are not. Once loaded they stay in memory, about 15 MB. */
export async function loadRenderer(own: OwnComponents | null = null): Promise<Renderer> {
  const pages = await compilePages(own);
  const drawing = readModules(RENDERER_MODULE).versionOf(RENDERER_MODULE);
  // An error in one of their components is told at its place in it.
  if (own !== null) process.setSourceMapsEnabled(true);
  const built = (await import(pathToFileURL(pages.entry).href)) as Built;
  return createRenderer(
    built,
    {
      versionOf: (kind) => fingerprintOf([drawing, pages.versionOf(kind)]),
      version: fingerprintOf([drawing, pages.version]),
    },
    own === null ? undefined : (error) => ownPlaceOf(error, own.folder),
  );
}
