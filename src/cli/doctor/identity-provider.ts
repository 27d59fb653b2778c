/** Checks identity providers as far as possible without an account. Nobody is signed in. */

import { callbackAt } from '../../access/oidc/oidc.ts';
import { beginSignIn, discover, type OidcClient, type Provider, tryCode } from '../../access/oidc/provider.ts';
import type { Config } from '../../config/load.ts';
import { messageOf } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import { createDispatcher, createFetch } from '../../network/dispatcher.ts';
import type { ProxySettings } from '../../network/proxy.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import { clockFinding, type Finding, fault, ok, SKEW_WARN_MS, skipped } from './finding.ts';

const PATIENCE_MS = 5_000;
const LIMITS = { connectMs: PATIENCE_MS, headersMs: PATIENCE_MS, idleMs: PATIENCE_MS, connectionsMax: 4 };
/** Clock tolerance for tokens, as in a sign-in. */
const SKEW_MAX_MS = 30_000;
const REDIRECTS_MAX = 5;
/** Error codes of a provider that accepts the redirect address but would have to ask a user. */
const WOULD_ASK = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

type Fetch = ReturnType<typeof createFetch>;

/**
 * Checks what would prevent signing in by `access.oidc` and `operators.oidc`; empty if neither is set.
 *
 * @param pages  those with a custom domain have a redirect address there
 */
export async function providerFindings(
  { access, operators, site }: Config,
  { now, proxy, pages }: { now: () => EpochMs; proxy: ProxySettings; pages: readonly ResolvedPage[] },
): Promise<Finding[]> {
  const own = pages.filter(({ definition }) => definition.access === 'oidc' && definition.customDomain !== null);
  const roots = [site.url, ...own.map(({ settings }) => new URL(settings.url).origin)];
  const way = createDispatcher({ ...LIMITS, proxy });
  const inspect = async (key: string, client: OidcClient | undefined, roots: readonly string[]) =>
    client === undefined ? [] : await inspectProvider({ key, client, fetch: createFetch(way) }, roots, now);
  try {
    const both = [inspect('access.oidc', access.oidc, roots), inspect('operators.oidc', operators.oidc, [site.url])];
    return (await Promise.all(both)).flat();
  } finally {
    await way.close();
  }
}

interface Asked {
  /** Of the configuration. */
  readonly key: string;
  readonly client: OidcClient;
  readonly fetch: Fetch;
}

async function inspectProvider(asked: Asked, roots: readonly string[], now: () => EpochMs): Promise<Finding[]> {
  const { key, client, fetch } = asked;
  let skewMs: number | null = null;
  const timed: Fetch = async (url, init) => {
    const began = now();
    const answer = await fetch(url, init);
    const serverTime = Date.parse(answer.headers.get('date') ?? '');
    if (!Number.isNaN(serverTime)) skewMs = serverTime - (began + now()) / 2;
    return answer;
  };
  const name = `${key}.issuer`;
  try {
    const provider = await discover(client, timed);
    const { jwks_uri: keys = '', backchannel_logout_supported: endsSessions } = provider.serverMetadata();
    const detail = endsSessions === true ? 'tells when sessions end' : 'doesn’t tell when sessions end';
    return [
      (await hasKeys(keys, fetch))
        ? ok(name, `answers, and ${detail}`)
        : fault(name, 'publishes no keys that can be read, so nobody can sign in', 'Check jwks_uri at the provider.'),
      skewFinding(key, skewMs),
      ...(await Promise.all(roots.map((root) => redirectFinding(asked, callbackAt(root), provider)))),
      await secretFinding(key, provider, callbackAt(roots[0] ?? '')),
    ];
  } catch (error) {
    const remedy = `It must be exactly what ${new URL('.well-known/openid-configuration', `${client.issuer.replace(/\/$/, '')}/`)} says as "issuer". Check DNS, firewalls and HTTP_PROXY too.`;
    return [fault(name, `can’t be asked, so nobody can sign in: ${messageOf(error)}`, remedy)];
  }
}

async function hasKeys(url: string, fetch: Fetch): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const { keys } = (await answer.json()) as { keys?: unknown };
    return Array.isArray(keys) && keys.length > 0;
  } catch {
    return false;
  }
}

function skewFinding(key: string, skewMs: number | null): Finding {
  const remedy = 'Let NTP set this machine’s clock (timedatectl set-ntp true).';
  // Responses have their time in whole seconds, and take a moment.
  const isInSync = skewMs !== null && Math.abs(skewMs) <= SKEW_WARN_MS;
  const found = clockFinding(key, isInSync ? 0 : skewMs, remedy);
  if (skewMs === null || Math.abs(skewMs) <= SKEW_MAX_MS) return found;
  return fault(found.name, `${found.message}, so its tokens are refused and nobody can sign in`, remedy);
}

/** Requests a sign-in without user interaction. Providers only answer to redirect addresses that they know. */
async function redirectFinding({ key, client, fetch }: Asked, redirectUri: string, provider: Provider) {
  const name = `${key} redirect address`;
  const remedy = `Register ${redirectUri} at the provider, exactly like this, and check client_id.`;
  try {
    let next = new URL((await beginSignIn(provider, client.scopes, redirectUri)).url);
    next.searchParams.set('prompt', 'none');
    for (let hops = 0; hops < REDIRECTS_MAX; hops += 1) {
      const answer = await fetch(next.href, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
      await answer.body?.cancel();
      if (answer.status >= 500) return skipped(name, `can’t be tested now: the provider answers ${answer.status}`);
      if (answer.status >= 400) return fault(name, `the provider refuses ${redirectUri} (${answer.status})`, remedy);
      const location = URL.parse(answer.headers.get('location') ?? '', next);
      if (location === null) break;
      if (`${location.origin}${location.pathname}` === redirectUri) {
        const word = location.searchParams.get('error') ?? '';
        return WOULD_ASK.includes(word)
          ? ok(name, `the provider sends browsers back to ${redirectUri}`)
          : fault(name, `the provider answers ${wordIn(word)}`, 'Check scopes, client_id and the kind of the client.');
      }
      next = location;
    }
    return skipped(name, `can’t be tested without signing in; register ${redirectUri}`);
  } catch (error) {
    return skipped(name, `can’t be tested now: ${messageOf(error)}`);
  }
}

/** Redeems a made-up code: a provider only reports it as invalid if the secret is right. */
async function secretFinding(key: string, provider: Provider, redirectUri: string): Promise<Finding> {
  const name = `${key}.client_secret`;
  const word = await tryCode(provider, redirectUri);
  if (word === 'invalid_grant') return ok(name, 'accepted');
  if (word === null || word === '') return skipped(name, 'can’t be tested without signing in');
  const remedy = 'Check client_id and client_secret, and whether it expired.';
  return fault(name, `the provider answers ${wordIn(word)}`, remedy);
}

function wordIn(text: string): string {
  return /^[\w.-]{1,60}$/.test(text) ? text : 'something unexpected';
}
