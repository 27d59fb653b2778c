import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import { type AccessType, type PageDefinition, toMonitorId } from '../../../src/model/observation.ts';
import { toPageKey } from '../../../src/model/slugs.ts';
import { resolvePages, standingIn } from '../../../src/publish/definitions/definitions.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';

const SITE = {
  url: 'https://status.example.com',
  name: 'Example',
  home: null,
  timezone: 'UTC',
  locale: 'en',
  historyDays: 400,
};
const MONITOR = { id: toMonitorId('svc', 1), name: 'API', isPublic: true };

function pagesOf(pages: readonly object[], password = 'correct horse') {
  const upstreams = ['svc', 'other'].map((id) => ({
    id,
    kind: 'uptime-service',
    rpcUrl: 'https://x.example',
    restUrl: 'https://x.example/v1',
    apiKey: '${K}',
  }));
  const oidc = { issuer: 'https://id.example', client_id: 'pharos', client_secret: '${K}' };
  const text = JSON.stringify({ site: { url: SITE.url }, upstreams, pages, access: { oidc } });
  return parseConfig({ text, file: null, folder: '/' }, CONNECTORS, { K: 'k', PW: password }).pages;
}

function definition(over: Partial<PageDefinition> = {}): PageDefinition {
  return {
    id: 'svc/1',
    slug: 'staff',
    title: 'Staff',
    description: null,
    homepageUrl: null,
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: [],
    components: [],
    ...over,
  };
}

function resolve({
  pages = [],
  definitions = [],
  undecided = [],
  home = null,
  password,
}: {
  pages?: readonly object[];
  definitions?: readonly PageDefinition[];
  undecided?: readonly string[];
  home?: string | null;
  /** Of pages that have one. */
  password?: string;
}) {
  return resolvePages({
    site: { ...SITE, home },
    pages: pagesOf(pages, password),
    upstreamDefinitions: definitions,
    undecidedUpstreams: new Set(undecided),
    monitors: new Map([[MONITOR.id, MONITOR]]),
  });
}

/** Slug and access of what would be published. */
const shown = (site: ReturnType<typeof resolve>) =>
  site.pages.map(({ definition: { slug, access } }) => [slug, access] as const);

const OWN = {
  nothing: {},
  public: { access_type: 'public' },
  'a password': { password: '${PW}' },
  domains: { auth_email_domains: ['corp.example'] },
  addresses: { allow_ips: ['192.0.2.0/24'] },
  'addresses or a password': { allow_ips: ['192.0.2.0/24'], password: '${PW}', access: 'any' },
  'a provider': { oidc: { allow: { groups: ['sre'] } } },
  'a provider and domains': { oidc: { allow: { groups: ['sre'] } }, auth_email_domains: ['corp.example'] },
  'a password, said to be public': { access_type: 'public', password: '${PW}' },
  'domains, said to be a password': {
    access_type: 'password',
    password: '${PW}',
    auth_email_domains: ['corp.example'],
  },
} as const;

describe('the gate of a configured page', () => {
  it.each([
    ['nothing', 'public'],
    ['public', 'public'],
    ['a password', 'password'],
    ['domains', 'email-domain'],
    ['addresses', 'ip'],
    ['addresses or a password', 'password'],
    ['a password, said to be public', 'password'],
    ['domains, said to be a password', 'email-domain'],
  ] as const)('that states %s is %s', (stated, access) => {
    expect(shown(resolve({ pages: [{ slug: 'staff', ...OWN[stated] }] }))).toEqual([['staff', access]]);
  });

  const THEIRS: Readonly<Record<string, Partial<PageDefinition>>> = {
    public: { access: 'public' },
    password: { access: 'password' },
    'email-domain': { access: 'email-domain', emailDomains: ['corp.example', 'else.example'] },
    'email-domain, of none': { access: 'email-domain' },
    closed: { access: 'closed' },
  };
  const MATRIX: readonly (readonly [own: keyof typeof OWN, theirs: string, access: AccessType | 'nobody'])[] = [
    ['nothing', 'public', 'public'],
    // Nobody here knows the password.
    ['nothing', 'password', 'nobody'],
    ['nothing', 'email-domain', 'email-domain'],
    ['nothing', 'closed', 'nobody'],
    ['public', 'public', 'public'],
    ['public', 'password', 'nobody'],
    ['public', 'email-domain', 'email-domain'],
    ['public', 'closed', 'nobody'],
    ['a password', 'public', 'password'],
    ['a password', 'password', 'password'],
    ['a password', 'email-domain', 'email-domain'],
    ['a password', 'closed', 'nobody'],
    ['domains', 'public', 'email-domain'],
    ['domains', 'password', 'email-domain'],
    ['domains', 'email-domain', 'email-domain'],
    ['domains', 'closed', 'nobody'],
    ['addresses', 'public', 'ip'],
    ['addresses', 'password', 'nobody'],
    ['addresses', 'email-domain', 'email-domain'],
    ['addresses', 'closed', 'nobody'],
    ['a provider', 'public', 'oidc'],
    ['a provider', 'password', 'oidc'],
    ['a provider', 'email-domain', 'oidc'],
    // Nobody is on a list that is not there.
    ['a provider', 'email-domain, of none', 'nobody'],
    ['a provider and domains', 'email-domain, of none', 'oidc'],
    ['a provider', 'closed', 'nobody'],
  ];
  it.each(MATRIX)('that states %s over a page that is %s is open to %s', (own, theirs, access) => {
    const site = resolve({
      pages: [{ slug: 'staff', from: 'svc', ...OWN[own] }],
      definitions: [definition(THEIRS[theirs])],
    });
    expect(shown(site)).toEqual(access === 'nobody' ? [] : [['staff', access]]);
    if (access === 'nobody') expect(site).toMatchObject({ withheld: ['staff'], problems: [{ slug: 'staff' }] });
  });

  it('lets in who is on both lists of domains, and nobody when no domain is', () => {
    const over = { access: 'email-domain', emailDomains: ['corp.example', 'else.example'] } as const;
    const resolveWith = (domains: readonly string[]) =>
      resolve({
        pages: [{ slug: 'staff', from: 'svc', auth_email_domains: domains }],
        definitions: [definition(over)],
      });
    expect(resolveWith(['Corp.Example', 'third.example']).pages[0]?.definition.emailDomains).toEqual(['corp.example']);
    expect(resolveWith(['third.example'])).toMatchObject({ pages: [], withheld: ['staff'] });
  });

  it('lets addresses alone in only where the upstream asks for nothing', () => {
    const gateOver = (theirs: Partial<PageDefinition>, own: object) =>
      resolve({ pages: [{ slug: 'staff', from: 'svc', ...own }], definitions: [definition(theirs)] });
    const either = OWN['addresses or a password'];
    expect(gateOver({}, either).pages[0]?.definition.addresses).toEqual({ ranges: ['192.0.2.0/24'], isEnough: true });
    const over = gateOver({ access: 'password' }, either);
    expect(over.pages[0]?.definition.addresses).toEqual({ ranges: ['192.0.2.0/24'], isEnough: false });
    expect(over.problems).toMatchObject([{ slug: 'staff', message: expect.stringContaining('access: any') }]);
  });

  it('is closed when either says that the page is not published', () => {
    const unpublished = definition({ published: false });
    expect(
      resolve({ pages: [{ slug: 'staff', from: 'svc', published: true }], definitions: [unpublished] }),
    ).toMatchObject({ pages: [], withheld: ['staff'] });
    expect(
      resolve({ pages: [{ slug: 'staff', from: 'svc', published: false }], definitions: [definition()] }),
    ).toMatchObject({ pages: [], withheld: ['staff'] });
  });
});

describe('a page that builds on a page of an upstream', () => {
  const pages = [{ slug: 'staff', from: 'svc', title: 'Ours' }];

  it.each([
    ['has not listed its pages yet', { undecided: ['svc'] }, /Waiting for svc/],
    ['has none', {}, /svc has no page "staff"/],
    ['renamed it', { definitions: [definition({ slug: 'crew' })] }, /It has crew/],
    ['has it under another id only', { definitions: [definition({ id: 'other/1' })] }, /svc has no page "staff"/],
  ] as const)('is withheld while the upstream %s', (_, given, message) => {
    const site = resolve({ pages, ...given });
    expect(site.pages.filter(({ definition: { slug } }) => slug === 'staff')).toEqual([]);
    expect(site.withheld).toContain('staff');
    expect(site.problems.find(({ slug }) => slug === 'staff')?.message).toMatch(message);
  });

  it('takes it over under another slug, so that it is published once', () => {
    const site = resolve({
      pages: [{ slug: 'crew', from: 'svc/staff' }],
      definitions: [definition({ emailDomains: ['corp.example'], access: 'email-domain' })],
    });
    expect(shown(site)).toEqual([['crew', 'email-domain']]);
  });

  it('is a conflict without `from`: neither is published', () => {
    const site = resolve({ pages: [{ slug: 'staff', title: 'Ours' }], definitions: [definition()] });
    expect(site).toMatchObject({ pages: [], withheld: ['staff'] });
    expect(site.problems[0]?.message).toContain('from: svc');
  });

  it('is not opened by a page of the same slug of another upstream', () => {
    const site = resolve({ pages, definitions: [definition({ access: 'closed' }), definition({ id: 'other/9' })] });
    expect(site).toMatchObject({ pages: [], withheld: ['staff'] });
    expect(site.problems.some(({ message }) => message.includes('other/9'))).toBe(true);
  });
});

describe('before an upstream that may define pages has told which', () => {
  it('no configured page is published that one of them could claim, nor a page of everything', () => {
    const site = resolve({ pages: [{ slug: 'staff', components: [{ monitor: 'svc/1' }] }], undecided: ['svc'] });
    expect(site).toMatchObject({ pages: [], withheld: [], undecided: ['staff'], isDecided: false });
    expect(resolve({ undecided: ['other'] })).toMatchObject({ pages: [], isDecided: false });
    expect(shown(resolve({}))).toEqual([['status', 'public']]);
  });

  it('what was public of a configured page stays, unless the configuration closes it by itself', () => {
    for (const [own, isOpen] of [
      [OWN.nothing, true],
      [OWN.public, true],
      [OWN['a password'], false],
      [OWN.domains, false],
      [{ published: false }, false],
      [{ access_type: 'public', password: '${PW}' }, false],
    ] as const) {
      const pages = [{ slug: 'staff', components: [{ monitor: 'svc/1' }], ...own }];
      const site = resolve({ pages, undecided: ['svc'], password: 'long enough' });
      const standing = standingIn({ ...site, pages: [] });
      expect(standing.isOpen({ slug: 'staff', page: toPageKey('staff', 1) }), JSON.stringify(own)).toBe(isOpen);
      expect(site.undecided).toEqual(['staff']);
    }
  });

  it('pages of other upstreams are published as theirs show them', () => {
    expect(shown(resolve({ definitions: [definition()], undecided: ['other'] }))).toEqual([['staff', 'public']]);
  });
});

describe('a password that can be guessed', () => {
  it('is said, and the page is shown behind it', () => {
    for (const [password, isSaid] of [
      ['a', true],
      ['sevenły', true],
      ['eight888', false],
    ] as const) {
      const site = resolve({ pages: [{ slug: 'staff', ...OWN['a password'] }], password });
      expect(shown(site)).toEqual([['staff', 'password']]);
      expect(site.problems.map(({ slug, message }) => [slug, /fewer than 8 characters/.test(message)])).toEqual(
        isSaid ? [['staff', true]] : [],
      );
      expect(JSON.stringify(site.problems)).not.toContain(password === 'a' ? '"a"' : password);
    }
  });
});

describe('the page at the root', () => {
  it('is the one that is named, or the only one there is', () => {
    expect(resolve({ pages: [{ slug: 'a' }, { slug: 'b' }], home: 'b' }).home).toBe('b');
    expect(resolve({ pages: [{ slug: 'a' }, { slug: 'b' }] }).home).toBeNull();
    expect(resolve({ pages: [{ slug: 'a', password: '${PW}' }] }).home).toBe('a');
  });
});

describe('a custom domain', () => {
  const hostsOf = (site: ReturnType<typeof resolve>) =>
    site.pages.map(({ definition: { slug, customDomain } }) => [slug, customDomain]);

  it.each(['status.example.com', 'Status.Example.Com', 'localhost', '127.0.0.1'])(
    'that is the address of the site (%s) is refused and said',
    (customDomain) => {
      const site = resolve({ definitions: [definition({ customDomain })] });
      expect(hostsOf(site)).toEqual([['staff', null]]);
      expect(site.problems[0]?.message).toContain('address of the site itself');
    },
  );

  it('claimed twice belongs to the configuration, else to nobody', () => {
    const theirs = definition({ customDomain: 'S.example' });
    const configured = resolve({ pages: [{ slug: 'ours', custom_domain: 's.example' }], definitions: [theirs] });
    expect(hostsOf(configured)).toEqual([
      ['ours', 's.example'],
      ['staff', null],
    ]);
    expect(configured.problems).toEqual([{ slug: 'staff', message: expect.stringContaining('s.example') as string }]);
    const both = resolve({
      definitions: [theirs, definition({ id: 'other/2', slug: 'b', customDomain: 's.example' })],
    });
    expect(hostsOf(both)).toEqual([
      ['b', null],
      ['staff', null],
    ]);
  });

  it('of an upstream is cleared by null in the configuration', () => {
    const site = resolve({
      pages: [{ slug: 'staff', from: 'svc', custom_domain: null }],
      definitions: [definition({ customDomain: 's.example' })],
    });
    expect(hostsOf(site)).toEqual([['staff', null]]);
    expect(site.pages[0]?.settings.url).toBe('https://status.example.com/staff/');
  });
});
