import { describe, expect, it } from 'vitest';
import type { PageDefinition, Problem } from '../../../src/model/observation.ts';
import { closeDoubtful, tightenGates } from '../../../src/sync/pass/snapshot.ts';

function page(id: string, over: Partial<PageDefinition> = {}): PageDefinition {
  return {
    ...{ id, slug: id, title: id, description: null, homepageUrl: null, contactUrl: null, icon: null },
    ...{ customDomain: null, access: 'public', emailDomains: [], published: true, theme: 'system' },
    ...{ groups: [], components: [] },
    ...over,
  } as PageDefinition;
}

const doubt = (about: string | null | undefined): Problem => ({
  kind: 'gate',
  place: 'pages',
  message: 'in doubt',
  ...(about === undefined ? {} : { page: about }),
});
const gates = (pages: readonly PageDefinition[]) => pages.map(({ id, access }) => `${id} ${access}`);

describe('doubt in an answer', () => {
  it('closes the page that it is about, all if it does not say, and none that it shows if it is about the others', () => {
    const pages = [page('a'), page('b', { access: 'password' })];
    const settled = (about: string | null | undefined) =>
      gates(closeDoubtful({ pages, problems: [doubt(about)] }).pages);
    expect(settled('a')).toEqual(['a closed', 'b password']);
    expect(settled(undefined)).toEqual(['a closed', 'b closed']);
    expect(settled(null)).toEqual(['a public', 'b password']);
  });

  it('closes pages that share a slug, in whatever letters, or an id, and says so', () => {
    const { pages, problems } = closeDoubtful({
      pages: [page('a', { slug: 'acme' }), page('b', { slug: 'Acme' }), page('c'), page('c', { slug: 'd' })],
      problems: [],
    });
    expect(gates(pages)).toEqual(['a closed', 'b closed', 'c closed', 'c closed']);
    expect(problems).toMatchObject([{ kind: 'gate', place: 'a, b' }]);
  });
});

describe('an answer that is not taken', () => {
  const known = [page('a'), page('b', { access: 'email-domain', emailDomains: ['x.example', 'y.example'] })];
  const settled = (pages: readonly PageDefinition[], ...problems: readonly Problem[]) =>
    tightenGates(known, { pages, problems });

  it('closes known pages all the same, by id or by slug, and opens none', () => {
    expect(gates(settled([page('a', { access: 'password' })]))).toEqual(['a password', 'b email-domain']);
    expect(gates(settled([page('z', { slug: 'a', access: 'closed' })]))).toEqual(['a closed', 'b email-domain']);
    expect(settled([page('a', { published: false })])[0]?.published).toBe(false);
    expect(settled([page('b', { access: 'email-domain', emailDomains: ['y.example', 'z.example'] })])[1]).toMatchObject(
      {
        emailDomains: ['y.example'],
      },
    );
    expect(settled([page('a'), page('b')])).toBe(known);
  });

  it('closes a page that it shows behind another kind of gate, which would let other people in', () => {
    expect(gates(settled([page('b', { access: 'password' })]))).toEqual(['a public', 'b closed']);
    const behind = tightenGates([page('c', { access: 'password' })], {
      pages: [page('c', { access: 'email-domain', emailDomains: ['x.example'] })],
      problems: [],
    });
    expect(gates(behind)).toEqual(['c closed']);
  });

  it('closes pages that it should show and does not, and no page of which it says nothing', () => {
    expect(gates(settled([page('a')], doubt(null)))).toEqual(['a public', 'b closed']);
    expect(gates(settled([], doubt('a')))).toEqual(['a closed', 'b email-domain']);
    expect(settled([])).toBe(known);
  });
});
