/** The only place that knows Astro at run time: the pages are compiled once for each state of their sources, and loaded. */

import { pathToFileURL } from 'node:url';
import { fingerprintOf } from '../fingerprint.ts';
import { compilePages } from './compile-pages.ts';
import { readModules } from './module-graph.ts';
import { type Built, createRenderer, RENDERER_MODULE, type Renderer } from './renderer.ts';

/**
 * Makes sure that the pages are compiled as their sources are now.
 *
 * @throws PUBLISH_FAILED when they do not compile
 */
export async function compileRenderer(): Promise<void> {
  await compilePages();
}

/** The compiled pages, compiled first where they are not. Once loaded they stay in memory, about 15 MB. */
export async function loadRenderer(): Promise<Renderer> {
  const pages = await compilePages();
  const own = readModules(RENDERER_MODULE).versionOf(RENDERER_MODULE);
  const built = (await import(pathToFileURL(pages.entry).href)) as Built;
  return createRenderer(built, (kind) => fingerprintOf([own, pages.versionOf(kind)]));
}
