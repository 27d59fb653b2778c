/**
 * What an operator and an upstream say of three pages, and who may see what of it by the rules that the documents give.
 * Written without a look at how the product decides, so that both have to be wrong in the same way to agree wrongly.
 */

import type { PageDefinition } from '../../../src/model/observation.ts';
import { projectPage } from '../../../src/sync/connectors/uptime-service/project.ts';
import { OverviewSchema } from '../../../src/sync/connectors/uptime-service/schema.ts';
import { doubtGivers } from '../../helpers/doubtful-gates.ts';
import type { Row } from '../../helpers/uptime-world.ts';

export const UPSTREAM = 'svc';
/** Custom domains, which pages take from each other. */
export const HOSTS = ['qd.example', 'qe.example'] as const;
export const PASSWORDS = { P1: 'first pass phrase', P2: 'second pass phrase' } as const;

/** Visitors come from here if they have to. */
const OFFICE = '2001:db8:77::/48';
export const OFFICE_ADDRESS = '2001:db8:77::9';

/** `bare`: of the upstream alone; `over`: of the configuration over one of the upstream; `own`: of the configuration alone. */
export const KINDS = ['bare', 'over', 'own'] as const;
export type Kind = (typeof KINDS)[number];

/**
 * Pages of upstreams that are asked as the product asks them, with all that can be wrong with an answer: `plan` of a Terraform
 * state, `live` of the uptime service over its wire.
 */
export const ASKED = ['plan', 'live'] as const;
export type Asked = (typeof ASKED)[number];
export const CONNECTOR_OF: Readonly<Record<Asked, string>> = { plan: 'terraform', live: 'uptime-service' };
export const UPSTREAM_OF = { bare: UPSTREAM, over: UPSTREAM, own: UPSTREAM, plan: 'tf', live: 'live' } as const;
type Origin = keyof typeof UPSTREAM_OF;

/** Names come back, since what was kept under a name may come back with it, and pages take them from each other. */
export const SLUGS: Readonly<Record<Origin, readonly string[]>> = {
  bare: ['qsbarea', 'qsbareb', 'qsowna'],
  over: ['qsovera', 'qsoverb'],
  own: ['qsowna', 'qsownb'],
  plan: ['qsplana', 'qsowna', 'qsbarea'],
  live: ['qslivea', 'qsovera', 'qsplana'],
};
/** A name that no page ever has, as long as that of a page. */
export function nowhere(slug: string): string {
  return 'qszzzzz'.slice(0, slug.length);
}
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

/** What an asked upstream says of the access of its page. */
export interface Shape {
  readonly name: string;
  readonly fields: Row;
  /** Pages that come to it under the same slug. */
  readonly others: readonly Row[];
  /** Of `broken` answers; null: only the access is strange. */
  readonly broken: number | null;
  readonly needs: readonly Need[];
  readonly domains?: readonly string[];
}
export const CLEAN: Shape = { name: 'public', fields: {}, others: [], broken: null, needs: ['public'] };
const A_EXAMPLE = { ...CLEAN, name: 'a.example', needs: ['email'], domains: ['a.example'] } as const;
const CLOSED: Shape = { ...CLEAN, name: 'closed', needs: ['nobody'] };

/** Clean ones more often than each way to be in doubt. */
export const SHAPES = Object.fromEntries(
  ASKED.map((kind) => {
    const { doubts = [], broken = [] } = doubtGivers('')[CONNECTOR_OF[kind]] ?? {};
    const domains = { plan: 'auth_email_domains', live: 'authEmailDomains' }[kind];
    const type = { plan: { access_type: 'email-domain' }, live: { accessType: 'PAGE_ACCESS_TYPE_AUTHENTICATED' } }[
      kind
    ];
    const email: Shape = { ...A_EXAMPLE, fields: { ...type, [domains]: A_EXAMPLE.domains } };
    const clean = Array.from({ length: 16 }, (_, index) => (index % 4 === 0 ? email : CLEAN));
    const doubtful = doubts.map(([name, fields, others = []]): Shape => ({ ...CLOSED, name, fields, others }));
    // A state of Terraform is taken without what is wrong in it, so that it never breaks off as an answer does.
    const cut = kind === 'plan' ? [] : broken.map(([name], index) => ({ ...CLOSED, name, broken: index }));
    return [kind, [...clean, ...doubtful, ...cut]];
  }),
) as unknown as Readonly<Record<Asked, readonly Shape[]>>;

/** As in pharos.yaml. */
export type ConfigGate = Readonly<Record<string, unknown>>;
/** By the identity provider, with whatever else may stand beside it. */
export const PROVIDED_GATES: readonly ConfigGate[] = ['sre', 'ops'].flatMap((group) => {
  const oidc = { allow: { groups: [group] } };
  return [
    { oidc },
    { access_type: 'oidc', oidc },
    { oidc, password: '${P1}' },
    { oidc, auth_email_domains: ['a.example'] },
    { oidc, allow_ips: [OFFICE] },
    { oidc, allow_ips: [OFFICE], access: 'any' },
  ];
});

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
  ...PROVIDED_GATES,
];

/** A page at the upstream. */
export interface UpstreamPage {
  readonly slug: string;
  readonly gate: UpstreamGate;
  readonly word: string;
  /** Of asked upstreams, instead of `gate`. */
  readonly shape?: Shape;
  readonly domain?: string | null;
}

/** A page of the configuration. */
export interface ConfigPage {
  readonly slug: string;
  /** The page that it builds on, by its upstream and its slug there. */
  readonly from: string | null;
  readonly gate: ConfigGate;
  readonly domain: string | null;
  readonly word: string;
}

/** What was committed last; `answers` is null after everything was forgotten and before the first answer. */
export interface Known {
  readonly pages: Readonly<Partial<Record<Kind | Asked, UpstreamPage>>>;
  /** The word of each page in what the upstream says beside definitions: monitors, incidents, maintenances. */
  readonly texts: Readonly<Record<Kind, string>>;
  /** The word of the announcement by the slug that it is for. */
  readonly announced: Readonly<Record<string, string>>;
}

export type Configured = Readonly<Partial<Record<'over' | 'own', ConfigPage>>>;

/**
 * `public`, or what a visitor needs: `office` (to come from there), `password:…`, `email:…`, `oidc:group` (`oidc:group&domain`); with `office+` both, with
 * `office|` either. Pages that nobody may see are in no list.
 */
export type Seen = ReadonlyMap<string, { readonly gate: string; readonly words: readonly string[] }>;

/** Somebody who may see a page for what they hold, a session or a token, or for where they are. */
export interface Reader {
  readonly slug: string;
  /** What it took to get in. */
  readonly gate: string;
  /** The page that they got in to. */
  readonly era: string;
  readonly isAtOffice: boolean;
  /** True: whoever writes on the page reads also what it does not show. */
  readonly isAuthor?: boolean;
  /** True: what they got in with was taken from them. */
  readonly isOver?: boolean;
}

export interface Session extends Reader {
  readonly cookie: string;
  /** Who signed in by the identity provider. */
  readonly account?: string;
  /** The database in which the provider ended it; a copy of an older one may have it still. */
  readonly endedIn?: number;
}

/** The page that one of the configuration builds on. */
export function baseOf(
  pages: Known['pages'],
  over: ConfigPage | undefined,
): readonly [kind: Kind | Asked, page: UpstreamPage] | undefined {
  return pagesThere(pages).find(([kind, { slug }]) => `${UPSTREAM_OF[kind]}/${slug}` === over?.from);
}

/** Pages that an upstream has: one whose slug can't be read is none. */
function pagesThere(pages: Known['pages']): [Kind | Asked, UpstreamPage][] {
  return (Object.entries(pages) as [Kind | Asked, UpstreamPage][]).filter(
    ([, { shape }]) => shape?.fields['slug'] === undefined,
  );
}

/** Pages there whose slug is free: one of the configuration that builds on another page takes it. */
export function freePages(pages: Known['pages'], over: ConfigPage | undefined): [Kind | Asked, UpstreamPage][] {
  const base = baseOf(pages, over);
  return pagesThere(pages).filter(([kind, { slug }]) => kind !== base?.[0] && slug !== over?.slug);
}

/** What the configuration says of access. Over a page of an asked upstream nothing, so that doubt decides alone. */
export function configGateOf({ from, gate }: ConfigPage): ConfigGate {
  return from === null || from.startsWith(`${UPSTREAM}/`) ? gate : {};
}

/** The definition that the upstream's page becomes, by the connector's own reading. */
export function definitionOf(kind: Kind, { slug, gate, word, domain = null }: UpstreamPage): PageDefinition {
  const overview = OverviewSchema.parse({
    statusPage: {
      id: kind,
      slug,
      title: `${word} title`,
      description: `${word} words`,
      published: true,
      ...(domain === null ? {} : { customDomain: domain }),
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
  const page = projectPage(overview, { upstreamId: UPSTREAM, isRecorded: false }, []);
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
  const claims = new Map<string, number>();
  const claim = (slug: string): void => void claims.set(slug, (claims.get(slug) ?? 0) + 1);
  const pages: { slug: string; gate: string | null; words: readonly string[] }[] = [];
  const { over, own } = configured;
  const base = baseOf(known.pages, over);
  const textOf = (kind: Kind | Asked): string[] => (isKind(kind) ? [known.texts[kind]] : []);
  for (const [kind, page] of freePages(known.pages, over)) {
    for (const _ of [page, ...(page.shape?.others ?? [])]) claim(page.slug);
    pages.push({ slug: page.slug, gate: gateOf(page, null), words: [page.word, ...textOf(kind)] });
  }
  // It has its slug also while what it builds on is not there.
  if (over !== undefined) claim(over.slug);
  if (over !== undefined && base !== undefined) {
    const [kind, page] = base;
    pages.push({ slug: over.slug, gate: gateOf(page, over), words: [page.word, over.word, ...textOf(kind)] });
  }
  if (own !== undefined) {
    claim(own.slug);
    pages.push({ slug: own.slug, gate: gateOf(null, own), words: [own.word, known.texts.own] });
  }
  for (const { slug, gate, words } of pages) {
    const announced = known.announced[slug];
    if (gate !== null && claims.get(slug) === 1)
      seen.set(slug, { gate, words: announced === undefined ? words : [...words, announced] });
  }
  return seen;
}

function isKind(kind: Kind | Asked): kind is Kind {
  return KINDS.some((one) => one === kind);
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

type Need = 'public' | 'password' | 'email' | 'oidc' | 'nobody';

/** The most private of what is stated, and what it takes to get in; null: nobody does. */
function gateOf(there: UpstreamPage | null, here: ConfigPage | null): string | null {
  const needs: Need[] = [];
  const lists: (readonly string[])[] = [];
  if (there?.shape !== undefined) {
    needs.push(...there.shape.needs);
    if (there.shape.domains !== undefined) lists.push(there.shape.domains);
  } else if (there !== null) {
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
    const { access_type: type, password, auth_email_domains: domains, published, oidc } = configGateOf(here);
    if (oidc !== undefined) needs.push('oidc');
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
  const own = here === null ? {} : configGateOf(here);
  if (own['allow_ips'] === undefined || signIn === null) return signIn;
  if (signIn === 'public') return 'office';
  // An address opens no gate of the upstream.
  const isOpenThere = there === null || gateOf(there, null) === 'public';
  return `office${own['access'] === 'any' && isOpenThere ? '|' : '+'}${signIn}`;
}

function signInOf(
  needs: readonly Need[],
  lists: readonly (readonly string[])[],
  here: ConfigPage | null,
): string | null {
  const own = here === null ? {} : configGateOf(here);
  const { allow } = (own['oidc'] ?? { allow: { groups: [] } }) as { allow: { groups: string[] } };
  if (needs.includes('email')) {
    const [first = [], ...others] = lists;
    const both = first.filter((domain) => others.every((list) => list.includes(domain)));
    const domains = both.toSorted().join(',');
    if (both.length === 0) return null;
    return needs.includes('oidc') ? `oidc:${allow.groups}&${domains}` : `email:${domains}`;
  }
  if (needs.includes('oidc')) return `oidc:${allow.groups}`;
  if (!needs.includes('password')) return 'public';
  const name = own['password'] as string | undefined;
  return name === undefined ? null : `password:${name.slice(2, -1)}`;
}

/** Whether a gate opens to somebody at the office (or not) who got in by what `signedIn` says, if by anything. */
function opens(gate: string, { isAtOffice, signedIn }: { isAtOffice: boolean; signedIn: string | null }): boolean {
  if (gate === 'public') return true;
  if (gate === 'office') return isAtOffice;
  if (gate.startsWith('office|') && isAtOffice) return true;
  return gate === signedIn && (isAtOffice || !gate.startsWith('office+'));
}

/** Whether a page with this gate may be seen by a reader; undefined: there is no such page. */
export function isOpenTo(reader: Reader | null, slug: string, gate: string | undefined): boolean {
  if (gate === undefined) return false;
  const signedIn = reader?.slug === slug && reader.isOver !== true ? reader.gate : null;
  return opens(gate, { isAtOffice: reader?.isAtOffice === true, signedIn });
}
