/** What `astro build` makes of the pages: one function that draws a view. Loaded by renderer.ts only, from the built folder. */

import { createApp } from 'astro/app/entrypoint';
import type { Handed } from '../views/html.ts';

const app = createApp({ streaming: false });
const routes = new Map(app.manifest.routes.map(({ routeData }) => [routeData.route, routeData]));

/** Draws what is handed over; the origin is never looked at, since no route reads its address. */
export async function draw(handed: Handed): Promise<Response> {
  const routeData = routes.get(`/${handed.kind}`);
  if (routeData === undefined) throw new TypeError(`There is no route for views of ${handed.kind}`);
  const request = new Request(`http://renderer.invalid/${handed.kind}/`);
  return app.render(request, { routeData, locals: { handed }, addCookieHeader: false });
}
