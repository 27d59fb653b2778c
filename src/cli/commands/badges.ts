import { createBadgeTokens } from '../../access/gate/badge-tokens.ts';
import { now } from '../../app/clock.ts';
import { keyOfSlug } from '../../store/pages.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { table } from '../terminal/table.ts';
import { openQuietly, openToRead, requireConfig, slugsOf, unknownName } from './common.ts';

export interface BadgeTokenOptions {
  readonly config?: string;
  /** True: every token of the page; a text: that one, by its id or itself. */
  readonly revoke?: boolean | string;
  readonly list?: boolean;
}

/** Makes, lists or revokes the tokens that open the badges of a gated page. */
export async function badgesToken(slug: string, options: BadgeTokenOptions): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await (options.list === true ? openToRead(config) : openQuietly(config));
  const tokens = createBadgeTokens(pharos.store.database);
  if (options.list === true) {
    const rows = (await tokens.list(await keyOfSlug(pharos.store.database, slug))).map((token) => [
      token.id,
      new Date(token.createdAt).toISOString(),
    ]);
    process.stdout.write(`${rows.length === 0 ? `${slug} has no tokens.` : table(['id', 'created'], rows)}\n`);
    return EXIT_DONE;
  }
  if (options.revoke !== undefined && options.revoke !== false) {
    const key = await keyOfSlug(pharos.store.database, slug);
    const count = await tokens.revoke(key, options.revoke === true ? undefined : options.revoke);
    process.stdout.write(`${count} ${count === 1 ? 'token' : 'tokens'} of ${slug} revoked.\n`);
    return EXIT_DONE;
  }
  const state = await pharos.readSite(now());
  const page = state.resolved.pages.find(({ definition }) => definition.slug === slug);
  if (page === undefined) throw unknownName('page', slug, slugsOf(state));
  if (page.definition.access === 'public') throw new UsageError(`${slug} is public, so its badges need no token.`);
  const { id, token } = await tokens.create(page.identity.key, now());
  process.stdout.write(`${page.settings.url}badges/status.svg?token=${token}\n`);
  process.stderr.write(
    `Token ${id}. It gives access to all badges of ${slug} and nothing else. This is the only time it is shown.\n`,
  );
  return EXIT_DONE;
}
