/**
 * What an operator and an upstream say of three pages, and who may see what of it by the rules that the documents give.
 * Written without a look at how the product decides, so that both have to be wrong in the same way to agree wrongly.
 */

import type { PageDefinition } from '../../../src/model/observation.ts';
import { projectPage } from '../../../src/sync/connectors/uptime-service/project-page.ts';
import { OverviewSchema } from '../../../src/sync/connectors/uptime-service/schema.ts';

export const UPSTREAM = 'svc';
export const CUSTOM_HOST = 'qd.example';
export const PASSWORDS = { P1: 'first pass phrase', P2: 'second pass phrase' } as const;

/** Visitors come from here if they have to. */
const OFFICE = '2001:db8:77::/48';
export const OFFICE_ADDRESS = '2001:db8:77::9';

/** `bare`: of the upstream alone; `over`: of the configuration over one of the upstream; `own`: of the configuration alone. */
export const KINDS = ['bare', 'over', 'own'] as const;
export type Kind = (typeof KINDS)[number];

/** Names come back, since what was kept under a name may come back with it; `bare` may take the name of `own`. */
export const SLUGS: Readonly<Record<Kind, readonly string[]>> = {
  bare: ['qsbarea', 'qsbareb', 'qsowna'],
  over: ['qsovera', 'qsoverb'],
  own: ['qsowna', 'qsownb'],
};
export const ALL_SLUGS: readonly string[] = [...new Set(Object.values(SLUGS).flat())];

/** As the API of the upstream says it. */
export type UpstreamGate = Readonly<Record<string, unknown>>;
export const UPSTREAM_GATES: readonly UpstreamGate[] = [
  { accessType: 'public' },
  { accessType: 'public' },
  { accessType: 'PAGE_ACCESS_TYPE_PUBLIC' },
  { accessType: 'email-domain', authEmailDomains: ['a.example'] },
  { accessType: 'authenticated', authEmailDomains: ['b.example', 'a.example'] },
  { accessType: 'password', password: 'known to the upstream only' },
  { accessType: 'password' },
  // What it says is beside itself, or is no word of ours.
  { accessType: 'public', password: 'known to the upstream only' },
  { accessType: 'public', authEmailDomains: ['a.example'] },
  { accessType: 'email-domain' },
  { accessType: 'ip-restriction' },
  { accessType: 'members' },
  { accessType: 7 },
  {},
  { accessType: 'public', published: false },
  { accessType: 'public', published: 'perhaps' },
];

/** As in pharos.yaml. */
export type ConfigGate = Readonly<Record<string, unknown>>;
export const CONFIG_GATES: readonly ConfigGate[] = [
  {},
  {},
  { access_type: 'public' },
  { password: '${P1}' },
  { password: '${P2}' },
  { access_type: 'password', password: '${P1}' },
  { auth_email_domains: ['a.example'] },
  { access_type: 'email-domain', auth_email_domains: ['b.example'] },
  { access_type: 'public', password: '${P1}' },
  { access_type: 'public', auth_email_domains: ['a.example'] },
  { password: '${P1}', auth_email_domains: ['a.example'] },
  { published: false },
  { allow_ips: [OFFICE] },
  { access_type: 'ip', allow_ips: [OFFICE] },
  { access_type: 'public', allow_ips: [OFFICE] },
  { password: '${P1}', allow_ips: [OFFICE] },
  { auth_email_domains: ['a.example'], allow_ips: [OFFICE], access: 'all' },
  { password: '${P2}', allow_ips: [OFFICE], access: 'any' },
];

/** A page at the upstream. */
export interface UpstreamPage {
  readonly slug: string;
  readonly gate: UpstreamGate;
  readonly word: string;
}

/** A page of the configuration. */
export interface ConfigPage {
  readonly slug: string;
  /** The slug there that it builds on. */
  readonly from: string | null;
  readonly gate: ConfigGate;
  readonly domain: boolean;
  readonly word: string;
}

/** What was committed last; `answers` is null after everything was forgotten and before the first answer. */
export interface Known {
  readonly pages: Readonly<Partial<Record<Kind, UpstreamPage>>>;
  /** The word of each page in what the upstream says beside definitions: monitors, incidents, maintenances. */
  readonly texts: Readonly<Record<Kind, string>>;
  /** The word of the announcement by the slug that it is for. */
  readonly announced: Readonly<Record<string, string>>;
}

export type Configured = Readonly<Partial<Record<'over' | 'own', ConfigPage>>>;

/**
 * `public`, or what a visitor needs: `office` (to come from there), `password:…`, `email:…`; with `office+` both, with
 * `office|` either. Pages that nobody may see are in no list.
 */
export type Seen = ReadonlyMap<string, { readonly gate: string; readonly words: readonly string[] }>;

export interface Session {
  readonly slug: string;
  /** What it took to get in. */
  readonly gate: string;
  readonly cookie: string;
  readonly isAtOffice: boolean;
}

/** The definition that the upstream's page becomes, by the connector's own reading. */
export function definitionOf(kind: Kind, { slug, gate, word }: UpstreamPage): PageDefinition {
  const overview = OverviewSchema.parse({
    statusPage: {
      id: kind,
      slug,
      title: `${word} title`,
      description: `${word} words`,
      published: true,
      ...gate,
    },
    components: [
      { id: `${kind}-1`, name: `${word} part`, type: 'monitor', monitorId: kind, order: 1 },
      { id: `${kind}-2`, name: `${word} static`, type: 'static', order: 2 },
    ],
    groups: [],
    statusReports: [],
    maintenances: [],
  });
  const { page } = projectPage(overview, { upstreamId: UPSTREAM, isRecorded: false });
  if (page === null) throw new Error(`the slug ${slug} is none`);
  return page;
}

/**
 * Who may see which page.
 *
 * @param known  null: the upstream has not said yet which pages it has
 * @param before  what was seen before; as long as it is not known better, public pages stay as they were published
 */
export function seenBy(configured: Configured, known: Known | null, before: Seen): Seen {
  if (known === null) return leftOf(configured, before);
  const seen = new Map<string, { gate: string; words: readonly string[] }>();
  const there = Object.entries(known.pages) as [Kind, UpstreamPage][];
  const claims = new Map<string, number>();
  const claim = (slug: string): void => void claims.set(slug, (claims.get(slug) ?? 0) + 1);
  const pages: { kind: Kind; slug: string; gate: string | null; words: readonly string[] }[] = [];
  const { over, own } = configured;
  const base = there.find(([, page]) => page.slug === over?.from);
  for (const [kind, page] of there) {
    if (kind === base?.[0]) continue;
    claim(page.slug);
    pages.push({ kind, slug: page.slug, gate: gateOf(page, null), words: [page.word, known.texts[kind]] });
  }
  // It has its slug also while what it builds on is not there.
  if (over !== undefined) claim(over.slug);
  if (over !== undefined && base !== undefined) {
    const [kind, page] = base;
    pages.push({ kind, slug: over.slug, gate: gateOf(page, over), words: [page.word, over.word, known.texts[kind]] });
  }
  if (own !== undefined) {
    claim(own.slug);
    pages.push({ kind: 'own', slug: own.slug, gate: gateOf(null, own), words: [own.word, known.texts.own] });
  }
  for (const { slug, gate, words } of pages) {
    const announced = known.announced[slug];
    if (gate !== null && claims.get(slug) === 1)
      seen.set(slug, { gate, words: announced === undefined ? words : [...words, announced] });
  }
  return seen;
}

/** Public pages that nobody has closed since: what builds on the upstream is withheld, what has a gate is closed. */
function leftOf({ over, own }: Configured, before: Seen): Seen {
  return new Map(
    [...before].filter(([slug, { gate }]) => {
      if (gate !== 'public' || slug === over?.slug) return false;
      return slug !== own?.slug || gateOf(null, own) === 'public';
    }),
  );
}

const UPSTREAM_WORDS: Readonly<Record<string, Need>> = {
  public: 'public',
  page_access_type_public: 'public',
  password: 'password',
  'email-domain': 'email',
  authenticated: 'email',
};

type Need = 'public' | 'password' | 'email' | 'nobody';

/** The most private of what is stated, and what it takes to get in; null: nobody does. */
function gateOf(there: UpstreamPage | null, here: ConfigPage | null): string | null {
  const needs: Need[] = [];
  const lists: (readonly string[])[] = [];
  if (there !== null) {
    const { accessType, password, authEmailDomains, published = true } = there.gate;
    needs.push(UPSTREAM_WORDS[String(accessType).toLowerCase()] ?? 'nobody');
    if (published !== true) needs.push('nobody');
    if (password !== undefined) needs.push('password');
    if (authEmailDomains !== undefined) {
      needs.push('email');
      lists.push(authEmailDomains as string[]);
    }
  }
  if (here !== null) {
    const { access_type: type, password, auth_email_domains: domains, published } = here.gate;
    if (type === 'email-domain') needs.push('email');
    if (type === 'password' || password !== undefined) needs.push('password');
    if (published === false) needs.push('nobody');
    if (domains !== undefined) {
      needs.push('email');
      lists.push(domains as string[]);
    }
  }
  if (needs.includes('nobody')) return null;
  const signIn = signInOf(needs, lists, here);
  if (here?.gate['allow_ips'] === undefined || signIn === null) return signIn;
  if (signIn === 'public') return 'office';
  // An address opens no gate of the upstream.
  const isOpenThere = there === null || gateOf(there, null) === 'public';
  return `office${here.gate['access'] === 'any' && isOpenThere ? '|' : '+'}${signIn}`;
}

function signInOf(
  needs: readonly Need[],
  lists: readonly (readonly string[])[],
  here: ConfigPage | null,
): string | null {
  if (needs.includes('email')) {
    const [first = [], ...others] = lists;
    const both = first.filter((domain) => others.every((list) => list.includes(domain)));
    return both.length === 0 ? null : `email:${both.toSorted().join(',')}`;
  }
  if (!needs.includes('password')) return 'public';
  const name = here === null ? undefined : (here.gate['password'] as string | undefined);
  return name === undefined ? null : `password:${name.slice(2, -1)}`;
}

/** Whether a gate opens to somebody at the office (or not) who got in by what `signedIn` says, if by anything. */
function opens(gate: string, { isAtOffice, signedIn }: { isAtOffice: boolean; signedIn: string | null }): boolean {
  if (gate === 'public') return true;
  if (gate === 'office') return isAtOffice;
  if (gate.startsWith('office|') && isAtOffice) return true;
  return gate === signedIn && (isAtOffice || !gate.startsWith('office+'));
}

/** Whether a page with this gate may be seen with a session; undefined: there is no such page. */
export function isOpenTo(session: Session | null, slug: string, gate: string | undefined): boolean {
  if (gate === undefined) return false;
  const signedIn = session?.slug === slug ? session.gate : null;
  return opens(gate, { isAtOffice: session?.isAtOffice === true, signedIn });
}
