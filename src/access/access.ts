/** The contract between the front door and the gates (access control of pages). Every decision is made by `canView`. */

import type { AccessType, PageDefinition } from '../model/observation.ts';
import type { PageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';

/** The gate of a published page. Unpublished and closed pages have none: to visitors they do not exist. */
type Gate =
  | { readonly kind: 'public' }
  | {
      readonly kind: Exclude<AccessPage['access'], 'public'>;
      /** Changes with the gate's settings; sessions of another version see nothing. */
      readonly version: string;
      /**
       * Null: any address. `isEnough`: visitors from these addresses need no session, as with access `ip`.
       */
      readonly addresses: { readonly isEnough: boolean; readonly includes: (address: string) => boolean } | null;
    };

/** A status page as the gates know it. */
export interface GatedPage {
  readonly key: PageKey;
  readonly gate: Gate;
}

/** Who sent a request: its address, and the pages that its session is signed in to. */
export interface Principal {
  /** Taken from X-Forwarded-For with the configured number of proxies. Empty: unknown, and in no range. */
  readonly address: string;
  /** Gate version by page: for pages with a valid session, and for the requested page if the address is enough. */
  readonly sessions: ReadonlyMap<PageKey, string>;
}

export const NOBODY: Principal = Object.freeze({ address: '', sessions: new Map() });

/** Whether `principal` may see any file of `page`. Denies by default: nobody sees an unknown page. */
export function canView(principal: Principal, page: GatedPage | null): boolean {
  if (page === null) return false;
  const { gate, key } = page;
  if (gate.kind === 'public') return true;
  if (principal.sessions.get(key) !== gate.version) return false;
  return gate.addresses === null || gate.addresses.isEnough || gate.addresses.includes(principal.address);
}

/** A request to a gate, reduced to what gates need. */
export interface GateRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** `login/`, `login/link/`, `logout` …, relative to the page. */
  readonly path: string;
  /** From the address; the page need not exist. */
  readonly slug: string;
  readonly query: URLSearchParams;
  /** Parsed `application/x-www-form-urlencoded` body, at most 64 kB; empty for other requests. */
  readonly form: URLSearchParams;
  readonly cookie: string | null;
  /** The Origin header. */
  readonly origin: string | null;
  /** The Sec-Fetch-Site header. */
  readonly fetchSite: string | null;
  /** Scheme, host and port as the visitor sees them: `https://status.example.com`. */
  readonly ownOrigin: string;
  /** Path prefix of the page as the visitor sees it: `/acme/`, or `/` on its own domain. */
  readonly base: string;
  /** Whether the visitor uses https (according to the configured proxies or site.url). */
  readonly isSecure: boolean;
  /** Taken from X-Forwarded-For with the configured number of proxies. */
  readonly clientAddress: string;
  readonly now: EpochMs;
}

export interface GateResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** A page with the settings of its gate. The clear-text password never leaves memory. */
export interface AccessPage extends Pick<PageDefinition, 'slug' | 'title' | 'emailDomains' | 'oidc' | 'addresses'> {
  readonly key: PageKey;
  readonly locale: string;
  /** Absolute address of the page with a trailing slash. */
  readonly url: string;
  readonly access: Exclude<AccessType, 'closed'>;
  /** Reveals the password; null unless access is `password`. */
  readonly password: { readonly reveal: () => string } | null;
}

// Checks of what requests say: that a form was sent from our own pages, and where to go after signing in.

/**
 * Trusts what browsers say about the origin of a POST. Sec-Fetch-Site decides if present: it is correct even behind
 * proxies that rewrite Host. A client that sends neither header is not a current browser: other programs carry no
 * visitor's cookies, and SameSite protects the cookies of old browsers.
 */
export function isSameOrigin(request: Pick<GateRequest, 'origin' | 'fetchSite' | 'ownOrigin'>): boolean {
  const { origin, fetchSite, ownOrigin } = request;
  if (fetchSite !== null) return fetchSite === 'same-origin';
  return origin === null || origin === ownOrigin;
}

/**
 * The same for a form with a secret of its own, whose page sends no referrer: such a page posts `Origin: null` to
 * itself.
 */
export function isSameOriginOrOpaque(request: Pick<GateRequest, 'origin' | 'fetchSite' | 'ownOrigin'>): boolean {
  return isSameOrigin(request) || (request.fetchSite === null && request.origin === 'null');
}

const TO_LENGTH_MAX = 512;
/** Plain segments: excludes schemes, `//`, `\`, `%`, control characters and dot segments. */
const INSIDE = /^(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*\/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?$/;

/** The path if it is inside the page; otherwise empty, the page itself. */
export function safeReturnTo(path: string | null): string {
  if (path === null || path.length > TO_LENGTH_MAX || !INSIDE.test(path)) return '';
  return /^log(?:in|out)(?:\/|$)/.test(path) ? '' : path.replace(/(^|\/)index\.html$/, '$1');
}

/** A path prefix that is safe in a Location header and a form; `/` for anything else. */
export function safeBase(base: string): string {
  return /^\/(?:[A-Za-z0-9_.~-]+\/)*$/.test(base) && !/\/\.{1,2}\//.test(base) ? base : '/';
}
