/** The contract between the front door and the gates. The one decision is `canView`. */

import type { AccessType, AddressRule, OidcAllow } from '../model/observation.ts';
import type { PageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';

/** What stands before a page, as published. Unpublished and closed pages have none: they do not exist. */
type Gate =
  | { readonly kind: 'public' }
  | {
      readonly kind: Exclude<AccessPage['access'], 'public'>;
      /** Changes when what the gate asks for does; a session of another version sees nothing. */
      readonly version: string;
      /** Null: it asks for no address. */
      readonly addresses: AddressCheck | null;
    };

interface AddressCheck {
  /** True: no session is needed, as of `ip`. */
  readonly isEnough: boolean;
  readonly includes: (address: string) => boolean;
}

/** A status page as the gates know it. */
export interface GatedPage {
  readonly key: PageKey;
  readonly gate: Gate;
}

/** Whoever sends a request: nobody, or an address and sessions for some pages. */
export interface Principal {
  /** Counted from the configured number of proxies; empty: unknown, which is in no range. */
  readonly address: string;
  /** Gate version by page: of sessions that are alive, and of the page asked for if the address is enough. */
  readonly sessions: ReadonlyMap<PageKey, string>;
}

export const NOBODY: Principal = Object.freeze({ address: '', sessions: new Map() });

/** Whether `principal` may see any file of `page`. Deny by default: an unknown page is not seen by anybody. */
export function canView(principal: Principal, page: GatedPage | null): boolean {
  if (page === null) return false;
  const { gate, key } = page;
  if (gate.kind === 'public') return true;
  if (principal.sessions.get(key) !== gate.version) return false;
  return gate.addresses === null || gate.addresses.isEnough || gate.addresses.includes(principal.address);
}

/** A request to a gate, stripped to what gates need. */
export interface GateRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** `login/`, `login/link/`, `logout` …, relative to the page. */
  readonly path: string;
  /** As in the address; there need not be such a page. */
  readonly slug: string;
  readonly query: URLSearchParams;
  /** Parsed `application/x-www-form-urlencoded` body, at most 64 kB; empty otherwise. */
  readonly form: URLSearchParams;
  readonly cookie: string | null;
  /** The Origin header as sent. */
  readonly origin: string | null;
  /** The Sec-Fetch-Site header as sent. */
  readonly fetchSite: string | null;
  /** Scheme, host and port of the address as the visitor sees it, `https://status.example.com`. */
  readonly ownOrigin: string;
  /** Path prefix of the page as the visitor sees it: `/acme/`, or `/` on its own domain. */
  readonly base: string;
  /** Whether the visitor came over https (by the configured proxies or site.url). */
  readonly isSecure: boolean;
  /** Counted from the configured number of proxies. */
  readonly clientAddress: string;
  readonly now: EpochMs;
}

export interface GateResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** An address that is not there, or not for whoever asks. */
interface DeniedRequest {
  readonly base: string;
  /** As asked for below `base`, so that the visitor gets there after signing in. */
  readonly path: string;
}

/** What the front door calls. */
export interface Access {
  /** Who sends a request, by its address and the sessions that its Cookie header stands for. A store that fails stands for nobody new. */
  readonly principalOf: (request: Pick<GateRequest, 'slug' | 'cookie' | 'clientAddress' | 'now'>) => Promise<Principal>;
  /**
   * Signs in, sends links, signs out. Answers alike for pages that do not exist. Null: no page of the site has a gate,
   * so these addresses do not exist either.
   */
  readonly handle: (request: GateRequest) => Promise<GateResponse | null>;
  /** Answers a browser that comes back from the identity provider; where it began says what for. */
  readonly returned: (request: GateRequest) => Promise<GateResponse>;
  /**
   * The answer, status 404 with the form to sign in, for every address of a page that the visitor may not see or that
   * does not exist. Null: no page of the site has a gate, so the ordinary 404 gives nothing away.
   */
  readonly denied: (request: DeniedRequest) => Promise<GateResponse | null>;
  /** Shows pages that are known to be public before the store can be asked of any; `setPages` then knows them all. */
  readonly showPublic: (slugs: readonly string[]) => void;
  /**
   * Pages as resolved from configuration and upstreams; called whenever they change. Sessions of changed gates end at
   * once; a page whose gate is new or changed is closed to everybody until the promise resolves.
   *
   * @param waiting  slugs of pages that nobody sees for now; their sessions are kept for the same gate
   *
   * @throws STORE_UNAVAILABLE those gates stay closed; call again
   */
  readonly setPages: (pages: readonly AccessPage[], waiting?: readonly string[]) => Promise<void>;
  /** The gate of a page as last set; null: unknown, unpublished or closed. */
  readonly pageOf: (slug: string) => GatedPage | null;
  /** Whether there is any page, as before the first of them is known. */
  readonly knowsPages: () => boolean;
  /** Whether a token opens the badges of a gated page, and of that page only. */
  readonly allowsBadge: (slug: string, token: string) => Promise<boolean>;
  /** Tries queued mails again and forgets what has expired; its own timer calls it every few seconds. */
  readonly tend: () => Promise<void>;
  /** Waits for what is under way; the database stays open. */
  readonly close: () => Promise<void>;
}

/** A page with what its gate needs; the clear password never leaves memory. */
export interface AccessPage {
  readonly key: PageKey;
  readonly slug: string;
  readonly title: string;
  readonly locale: string;
  /** Absolute address of the page with a trailing slash. */
  readonly url: string;
  readonly access: Exclude<AccessType, 'closed'>;
  /** Reveals the password; null unless access is `password`. */
  readonly password: { readonly reveal: () => string } | null;
  readonly emailDomains: readonly string[];
  /** Absent: nobody by an identity provider. */
  readonly oidc?: OidcAllow | undefined;
  /** Absent: from any address. */
  readonly addresses?: AddressRule | undefined;
}
