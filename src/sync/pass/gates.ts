/**
 * Doubt closes: a page whose access an answer does not state cleanly is closed at once, whatever becomes of the rest of the answer.
 * This is decided here for all connectors. Pure.
 */

import type { Learned, PageDefinition, Problem } from '../../model/observation.ts';

/** What an answer says of pages. */
type PagesAnswer = Pick<Learned, 'pages' | 'problems'>;

/** The answer with its doubtful pages closed: those that a `gate` problem is about, and those that share a slug or an id. */
export function closeDoubtful<T extends PagesAnswer>(answer: T): T {
  const isDoubtful = doubtsIn(answer.problems);
  const slugs = Map.groupBy(answer.pages, ({ slug }) => slug.toLowerCase());
  const ids = Map.groupBy(answer.pages, ({ id }) => id);
  const isShared = ({ slug, id }: PageDefinition): boolean =>
    (slugs.get(slug.toLowerCase())?.length ?? 0) > 1 || (ids.get(id)?.length ?? 0) > 1;
  const pages = answer.pages.map((page) => (isDoubtful(page, true) || isShared(page) ? closed(page) : page));
  const problems = [...slugs].flatMap(([slug, shared]): Problem[] =>
    shared.length < 2 ? [] : [{ kind: 'gate', place: shared.map(({ id }) => id).join(', '), message: sameSlug(slug) }],
  );
  return { ...answer, pages, problems: [...answer.problems, ...problems] };
}

function sameSlug(slug: string): string {
  return `have the same slug ${JSON.stringify(slug.slice(0, 60))}; both are closed`;
}

/**
 * The known pages after an answer that is not taken as a whole. None becomes more open by it: what it shows as more private is so at
 * once, and what it leaves in doubt is closed. The same list if nothing changes.
 */
export function tightenGates(known: readonly PageDefinition[], answer: PagesAnswer): readonly PageDefinition[] {
  const isDoubtful = doubtsIn(answer.problems);
  const pages = known.map((page) => {
    const shown = answer.pages.filter(({ id, slug }) => id === page.id || slug === page.slug);
    if (isDoubtful(page, shown.length > 0)) return closed(page);
    return shown.reduce(moreGuarded, page);
  });
  return pages.every((page, index) => page === known[index]) ? known : pages;
}

/** @returns whether a page is in doubt, given whether the answer shows it */
function doubtsIn(problems: readonly Problem[]): (page: PageDefinition, isShown: boolean) => boolean {
  const gates = problems.filter(({ kind }) => kind === 'gate');
  // A problem that says nothing of whom it is about is about all.
  return ({ id }, isShown) =>
    gates.some(({ page }) => page === undefined || page === id || (page === null && !isShown));
}

function moreGuarded(page: PageDefinition, shown: PageDefinition): PageDefinition {
  const published = page.published && shown.published;
  const { access, emailDomains } = narrower(page, shown);
  const isSame = access === page.access && emailDomains.length === page.emailDomains.length;
  return isSame && published === page.published ? page : { ...page, access, emailDomains, published };
}

/** Who may see both. */
function narrower(one: PageDefinition, two: PageDefinition): Pick<PageDefinition, 'access' | 'emailDomains'> {
  if (two.access === 'public') return one;
  if (one.access === 'public') return two;
  // Another kind of gate lets other people in.
  if (one.access !== two.access) return closed(one);
  return { ...one, emailDomains: one.emailDomains.filter((domain) => two.emailDomains.includes(domain)) };
}

function closed(page: PageDefinition): PageDefinition {
  return page.access === 'closed' ? page : { ...page, access: 'closed', emailDomains: [] };
}
