/** Creates, lists and revokes API tokens in the store, also while the server runs. */

import { newToken, systemRandom } from '../../access/digest.ts';
import { createBadgeTokens } from '../../access/gate/badge-tokens.ts';
import { now } from '../../app/clock.ts';
import { newSuffix } from '../../app/operators/writing.ts';
import { hasOperators } from '../../config/rules.ts';
import { readPageKey } from '../../model/slugs.ts';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs, toIso } from '../../model/time.ts';
import { counted } from '../../schema/counted.ts';
import { TOKEN_PREFIX, tokenHash } from '../../server/operators/operator.ts';
import { pageNames } from '../../store/pages.ts';
import { API_SCOPES, type ApiToken, createApiTokens } from '../../store/written.ts';
import {
  noteCommand,
  type Options,
  openQuietly,
  openToRead,
  print,
  requireConfig,
  requireKey,
  requirePage,
} from '../common.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { table } from '../terminal/table.ts';
import { oneOf } from './command-options.ts';

/** `pharos tokens create`: shown once, stored as a hash. */
export async function tokensCreate(options: Options<'name' | 'expires'> & { page: string; scope: readonly string[] }) {
  const wanted = options.scope.map((scope) => oneOf('--scope', scope, API_SCOPES));
  const scopes = API_SCOPES.filter((scope) => wanted.includes(scope));
  const config = requireConfig(options.config);
  if (!hasOperators(config))
    throw new UsageError(
      'There are no operators, so the server does not accept API requests. Set operators.token in the configuration first.',
    );
  // Its name in the audit log; names needn't be unique.
  const { name = options.page } = options;
  if (options.name !== undefined && !/^[\w.-]{1,64}$/.test(name))
    throw new UsageError('--name expects up to 64 letters, digits, dots, - and _.');
  await using pharos = await openQuietly(config);
  const at = now();
  const page = await requirePage(pharos, options.page);
  const token = `${TOKEN_PREFIX}${newToken(systemRandom)}`;
  const made: ApiToken = {
    id: newSuffix() + newSuffix(),
    name,
    scopes,
    page: page.identity.key,
    createdAt: at,
    expiresAt: options.expires === undefined ? null : parseExpiry(options.expires, at),
    revokedAt: null,
  };
  await createApiTokens(pharos.store.database).create(made, tokenHash(token));
  noteCommand(pharos, 'token-create', options.page, `${made.name}/${made.id}`);
  const until = made.expiresAt === null ? 'It does not expire' : `It expires at ${toIso(made.expiresAt)}`;
  return print(
    options,
    { ...shown(made, options.page), token },
    `${token}\n\nThis is the only time it is shown. ${until}. To revoke it, run \`pharos tokens revoke ${made.id}\`.`,
  );
}

/** `pharos tokens list`. */
export async function tokensList(options: Options): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const at = now();
  const tokens = await createApiTokens(pharos.store.database).list();
  const pageOf = await pageNames(pharos.store.database);
  const rows = tokens.map((token) => [
    ...[token.id, token.name, pageOf(token.page), token.scopes.join(' ')],
    describeState(token, at),
  ]);
  const text = rows.length === 0 ? 'No tokens.' : table(['id', 'name', 'page', 'scopes', 'state'], rows);
  return print(options, { tokens: tokens.map((token) => shown(token, pageOf(token.page))) }, text);
}

/** `pharos tokens revoke ID`. */
export async function tokensRevoke(id: string, options: Options): Promise<number> {
  await using pharos = await openQuietly(requireConfig(options.config));
  const tokens = createApiTokens(pharos.store.database);
  const token = (await tokens.list()).find((known) => known.id === id);
  const isRevoked = token !== undefined && (await tokens.revoke(id, now()));
  if (isRevoked) noteCommand(pharos, 'token-revoke', readPageKey(token.page).slug, `${token.name}/${id}`);
  const text = isRevoked
    ? `Token ${id} revoked.`
    : `There is no active token ${id}. To list tokens, run \`pharos tokens list\`.`;
  return print(options, { id, revoked: isRevoked }, text, isRevoked);
}

function shown(token: ApiToken, page: string) {
  const { id, name, scopes, createdAt, expiresAt, revokedAt } = token;
  const iso = (at: EpochMs | null): string | null => (at === null ? null : toIso(at));
  return { id, name, page, scopes, createdAt: iso(createdAt), expiresAt: iso(expiresAt), revokedAt: iso(revokedAt) };
}

function describeState({ expiresAt, revokedAt }: ApiToken, at: EpochMs): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return expiresAt <= at ? 'expired' : `until ${toIso(expiresAt)}`;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

function parseExpiry(text: string, at: EpochMs): EpochMs {
  const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return toEpochMs(at + Number(count) * (UNIT_MS[unit] ?? 0));
  const instant = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(instant) || instant <= at)
    throw new UsageError(
      `--expires expects a duration such as 90d or 12h, or a future time with UTC offset; got "${text}".`,
    );
  return toEpochMs(instant);
}

/**
 * Creates, lists or revokes tokens for the badges of a private page.
 *
 * @param options  `revoke` is true for all tokens of the page, or a token or its id
 */
export async function badgesToken(slug: string, options: Options<never, 'list'> & { revoke?: boolean | string }) {
  const config = requireConfig(options.config);
  await using pharos = await (options.list === true ? openToRead(config) : openQuietly(config));
  const { database } = pharos.store;
  const tokens = createBadgeTokens(database);
  if (options.list === true) {
    const listed = await tokens.list(await requireKey(pharos, slug));
    const rows = listed.map(({ id, createdAt }) => [id, new Date(createdAt).toISOString()]);
    process.stdout.write(`${rows.length === 0 ? `${slug} has no tokens.` : table(['id', 'created'], rows)}\n`);
    return EXIT_DONE;
  }
  const { revoke = false } = options;
  if (revoke !== false) {
    const count = await tokens.revoke(await requireKey(pharos, slug), revoke === true ? undefined : revoke);
    if (count > 0) noteCommand(pharos, 'badge-token-revoke', slug, `${count}`);
    process.stdout.write(`${counted(count, 'tokens')} of ${slug} revoked.\n`);
    return count === 0 && revoke !== true ? EXIT_FAILED : EXIT_DONE;
  }
  const page = await requirePage(pharos, slug);
  if (page.definition.access === 'public') throw new UsageError(`${slug} is public, so its badges need no token.`);
  const { id, token } = await tokens.create(page.identity.key, now());
  noteCommand(pharos, 'badge-token-create', slug, id);
  process.stdout.write(`${page.settings.url}badges/status.svg?token=${token}\n`);
  process.stderr.write(
    `Token ${id}. It gives access to all badges of ${slug} and nothing else. This is the only time it is shown.\n`,
  );
  return EXIT_DONE;
}
