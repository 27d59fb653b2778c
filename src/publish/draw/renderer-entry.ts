/** What `astro build` makes of the pages: one function that draws a view. Loaded by renderer.ts only, from the built folder. */

import { createApp } from 'astro/app/entrypoint';
import { HEAD_SCRIPT } from '../../layouts/head-script.ts';
import type { Handed } from '../../views/html.ts';

const app = createApp({ streaming: false });

/** Contents of the styles that stand in every page of a route, by the route's name. */
export const stylesByKind: ReadonlyMap<string, readonly string[]> = new Map(
  app.manifest.routes.map(({ routeData, styles }) => [
    routeData.route.slice(1),
    styles.flatMap((style) => (style.type === 'inline' ? [style.content] : [])),
  ]),
);

/** Contents of the scripts that stand in pages; which page has which is seen when it is drawn. */
export const scripts: readonly string[] = [HEAD_SCRIPT, ...app.manifest.inlinedScripts.values()];

// Astro would hash the styles of a page each time that it is drawn, to write a header that says what this list says.
app.manifest.shouldInjectCspMetaTags = false;

// What a template throws is for whoever draws, with its place; there is no page to show instead.
app.renderError = (_request, { error, status }) => Promise.reject(error ?? new TypeError(`It ended with ${status}`));

const routes = new Map(app.manifest.routes.map(({ routeData }) => [routeData.route, routeData]));

/** Draws what is handed over; the origin is never looked at, since no route reads its address. */
export async function draw(handed: Handed): Promise<Response> {
  const routeData = routes.get(`/${handed.kind}`);
  if (routeData === undefined) throw new TypeError(`There is no route for views of ${handed.kind}`);
  const request = new Request(`http://renderer.invalid/${handed.kind}/`);
  return app.render(request, { routeData, locals: { handed }, addCookieHeader: false });
}
