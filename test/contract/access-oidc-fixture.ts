/** Visitors who sign in to the fixture's site by a real identity provider. */

import type { AccessPage, GateResponse } from '../../src/access/access.ts';
import type { OidcClient } from '../../src/access/oidc/provider.ts';
import type { OidcAllow } from '../../src/model/observation.ts';
import { CLIENT, type TestProvider } from '../helpers/identity-provider.ts';
import { ORIGIN, page, type Site, setCookies, Visitor } from './access-fixture.ts';

export const CALLBACK = `${ORIGIN}/-/oidc/callback`;
const NOBODY_LISTED: OidcAllow = { emails: [], domains: [], groups: [] };
export const oidcPage = (slug: string, allow: Partial<OidcAllow>, over: Partial<AccessPage> = {}): AccessPage =>
  page(slug, { access: 'oidc', oidc: { ...NOBODY_LISTED, ...allow }, ...over });

/** Pharos as the provider knows it. */
export const clientOf = ({ issuer }: TestProvider): OidcClient => ({
  ...CLIENT,
  issuer,
  client_secret: { reveal: () => CLIENT.client_secret },
  scopes: ['openid', 'email', 'profile'],
});

/** A browser that follows the sign-in. */
export class OidcBrowser extends Visitor {
  readonly #site: () => Site;
  readonly #provider: () => TestProvider;

  constructor(site: () => Site, provider: () => TestProvider) {
    super(site);
    this.#site = site;
    this.#provider = provider;
  }

  async begin(slug = 'staff', to = ''): Promise<GateResponse> {
    return this.get(slug, 'login/oidc/', { query: new URLSearchParams({ to }) });
  }

  /** Comes back from the provider. */
  async back(url: URL, over: { readonly cookie?: string | null } = {}): Promise<GateResponse> {
    const site = this.#site();
    const answer = await site.access.returned({
      method: 'GET',
      path: 'login/',
      slug: '',
      query: url.searchParams,
      form: new URLSearchParams(),
      cookie: this.cookie,
      origin: null,
      fetchSite: null,
      ownOrigin: '',
      base: '/',
      isSecure: false,
      clientAddress: '192.0.2.1',
      now: site.now,
      ...over,
    });
    for (const line of setCookies(answer)) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  async signIn(account: string, slug = 'staff', to = ''): Promise<GateResponse> {
    const begun = await this.begin(slug, to);
    return this.back(await this.#provider().signIn(String(begun.headers['location']), account));
  }
}

export const shown = ({ status, body }: GateResponse): string =>
  `${status} ${/role="alert">([^<]*)</.exec(body)?.[1] ?? ''}`.trim();
export const FAILED = '403 Signing in with your organisation didn’t work. Try again.';
export const AWAY = '503 Your organisation’s sign-in service can’t be reached. Try again in a few minutes.';
