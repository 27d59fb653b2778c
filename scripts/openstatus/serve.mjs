/**
 * To be run by Deno in apps/server of a clone of openstatus: its server as it is, and beside it what the logic of its own
 * status page says (`/__page`), a key (`/__key`), and SQL for what no interface can do (`/__sql`).
 */

import { db, sql } from '@openstatus/db';
import { statusPageRouter } from '../../packages/api/src/router/statusPage.ts';
import { generateApiKey } from '../../packages/db/src/utils/api-key.ts';
import { app } from './src/index.ts';

const pages = statusPageRouter.createCaller({ db, session: null });

const own = {
  '/__page': async (url) => (await pages.get({ slug: url.searchParams.get('slug') })) ?? null,
  '/__key': () => generateApiKey(),
  '/__sql': async (_, request) => {
    const text = sql.raw(await request.text());
    return db.all(text).catch(async () => {
      await db.run(text);
      return [];
    });
  },
};

Deno.serve({ port: 3900, hostname: '127.0.0.1' }, async (request) => {
  const url = new URL(request.url);
  const answer = own[url.pathname];
  return answer === undefined ? app.fetch(request) : Response.json(await answer(url, request));
});
