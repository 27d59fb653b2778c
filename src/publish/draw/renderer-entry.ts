/** What `astro build` makes of the pages: one function that draws a view. Loaded by renderer.ts only, from the built folder. */

import { createApp } from 'astro/app/entrypoint';
import { FetchState } from 'astro/fetch';
import { renderToString } from 'astro/runtime/server/index.js';
import { HEAD_SCRIPT, OFFER_SCRIPT } from '../../layouts/head-script.ts';
import type { Handed } from '../../views/html.ts';

const { manifest } = createApp({ streaming: false });

/** Contents of the styles that stand in every page of a route, by the route's name. */
export const stylesByKind: ReadonlyMap<string, readonly string[]> = new Map(
  manifest.routes.map(({ routeData, styles }) => [
    routeData.route.slice(1),
    styles.flatMap((style) => (style.type === 'inline' ? [style.content] : [])),
  ]),
);

// Astro would hash the styles of a page each time that it is drawn, to write a header that says what this list says.
manifest.shouldInjectCspMetaTags = false;

/** A page, and the contents of the scripts that stand in it. */
export interface DrawnPage {
  readonly html: string;
  readonly scripts: readonly string[];
}

/** One for each kind, which finds its route; no template reads it. */
const requests = new Map<string, Request>();
/** The modules of pages, which take a while to be found, loaded or not. */
const pages = new Map<string, ReturnType<FetchState['loadComponentInstance']>>();

/**
 * Draws what is handed over. Only the page's template is run: an answer as Astro gives it to a visitor has headers and bytes, which
 * would be taken apart again, and takes as long as drawing a small page.
 */
export async function draw(handed: Handed): Promise<DrawnPage> {
  const { kind } = handed;
  if (!stylesByKind.has(kind)) throw new TypeError(`There is no route for views of ${kind}`);
  const request = requests.getOrInsertComputed(kind, () => new Request(`http://renderer.invalid/${kind}/`));
  const state = new FetchState(request);
  state.locals = { handed };
  const instance = await pages.getOrInsertComputed(kind, () => state.loadComponentInstance());
  const result = await state.createResult(instance, state.getActionAPIContext());
  const drawn = await renderToString(result, instance.default, {}, {}, true);
  if (typeof drawn !== 'string') throw new TypeError(`It ended with ${drawn.status}`);
  // Nothing is painted before it has put times in the visitor's zone, or text would move. Astro takes no attributes of a script.
  const html = drawn.replace(/<script type="module">(?=.*?<\/head>)/s, '<script type="module" blocking="render">');
  const { renderedScripts } = result._metadata;
  const inlined = [...manifest.inlinedScripts].filter(([id]) => renderedScripts.has(id));
  return {
    html,
    scripts: [
      ...[HEAD_SCRIPT, OFFER_SCRIPT].filter((script) => html.includes(script)),
      ...inlined.map(([, content]) => content),
    ],
  };
}
