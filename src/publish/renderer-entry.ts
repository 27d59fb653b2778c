/** What `astro build` makes of the pages: one function that draws a view. Loaded by renderer.ts only, from the built folder. */

import { createApp } from 'astro/app/entrypoint';
import type { Handed } from '../views/html.ts';

const app = createApp({ streaming: false });

/** Every style and script that the build made and that stands in a page: what a page may have. */
export const builtContents: readonly string[] = [
  ...app.manifest.routes.flatMap(({ styles }) =>
    styles.flatMap((style) => (style.type === 'inline' ? [style.content] : [])),
  ),
  ...app.manifest.inlinedScripts.values(),
];

// Astro would hash the styles of a page each time that it is drawn, to write a header that says what this list says.
app.manifest.shouldInjectCspMetaTags = false;

const routes = new Map(app.manifest.routes.map(({ routeData }) => [routeData.route, routeData]));

/** Draws what is handed over; the origin is never looked at, since no route reads its address. */
export async function draw(handed: Handed): Promise<Response> {
  const routeData = routes.get(`/${handed.kind}`);
  if (routeData === undefined) throw new TypeError(`There is no route for views of ${handed.kind}`);
  const request = new Request(`http://renderer.invalid/${handed.kind}/`);
  return app.render(request, { routeData, locals: { handed }, addCookieHeader: false });
}
