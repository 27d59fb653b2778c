/** Tells operators when what is kept for a page stays behind: with a page that ended, or from the time that it was private. */

import type { PageKey } from '../model/slugs.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { DefinitionProblem } from '../publish/definitions/inputs.ts';
import { hidesPrivate } from '../publish/page/page-inputs.ts';
import type { Database } from '../store/database.ts';
import type { PageChanges } from '../store/pages.ts';
import { countPrivate } from '../store/written/posts.ts';
import type { Log } from './log.ts';

/** Says of eras that begin again and of pages that open what is not shown any more. */
export async function logSettled(log: Log, database: Database, { ended, changed }: PageChanges): Promise<void> {
  for (const { key, slug } of ended)
    log.info(
      { page: slug, key },
      `the page ${slug} was removed or is defined elsewhere now; posts, tokens and subscribers of it are hidden (pharos pages list)`,
    );
  for (const { page, claim } of changed) {
    if (page.access === 'public' || claim.access !== 'public') continue;
    const words = await hiddenPosts(database, page);
    if (words !== null) log.warn({ page: page.slug }, words);
  }
}

/** What a public page does not show of itself; null: nothing. */
async function hiddenPosts(
  database: Database,
  { key, slug }: { readonly key: PageKey; readonly slug: string },
): Promise<string | null> {
  const count = await countPrivate(database, key);
  if (count === 0) return null;
  const posts = count === 1 ? '1 post that was' : `${count} posts that were`;
  return `The page ${slug} is public and hides ${posts} written while it was private. To show them, publish them in the form at /-/ops/write, or set publish_private_history: true on the page.`;
}

/** The same of every public page, for `pharos check`. */
export async function hiddenHistory(
  database: Database,
  pages: readonly ResolvedPage[],
): Promise<readonly DefinitionProblem[]> {
  const found = await Promise.all(
    pages.filter(hidesPrivate).map(async ({ definition: { slug }, identity: { key } }) => ({
      slug,
      message: await hiddenPosts(database, { key, slug }),
    })),
  );
  return found.flatMap(({ slug, message }) => (message === null ? [] : [{ slug, message }]));
}
