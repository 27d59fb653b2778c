/** Reads paged lists, up to a limit, and detects when they change in the meantime. */

import type { Problem } from '../../model/observation.ts';
import { type Answer, ask, attemptOne, explainMissing, type Pull, type Query } from '../connector.ts';
import { note } from './items.ts';

/** A list that comes in pages. */
export interface Listing<Page> {
  readonly first: Query<Page>;
  /** The question after page `index` (from 0); null after the last page. */
  readonly next: (page: Page, index: number) => Query<Page> | null;
  /** Maximum number of pages, whatever the upstream says. */
  readonly pagesMax: number;
  /** True: failures are thrown. False: they are returned as `failed` or `skipped`. */
  readonly isNeeded: boolean;
}

/**
 * Pages in order, as far as they could be read. `cut`: the ceiling was met; `skipped`: the quota did not allow more;
 * `shifting`: the list changed while it was read, twice.
 */
export type Reading<Page> = { readonly pages: readonly Page[] } & (
  | { readonly kind: 'ok' | 'cut' | 'shifting' }
  | Exclude<Answer<Page>, { readonly kind: 'ok' }>
);

interface StableListing<Page> extends Listing<Page> {
  /** The number of items in the whole list (null: not given), and the ids on this page. */
  readonly factsOf: (page: Page) => { readonly total: number | null; readonly ids: readonly string[] };
  /** Whether the total must equal the number of items (false where unreadable rows are counted too). */
  readonly countsAll: boolean;
}

function* askOne<Page>(question: Query<Page>, isNeeded: boolean): Pull<Answer<Page>> {
  if (isNeeded) return { kind: 'ok', ...(yield* ask(question)) };
  return yield* attemptOne(question);
}

/** Reads every page once. */
export function* readPages<Page>(listing: Listing<Page>): Pull<Reading<Page>> {
  const pages: Page[] = [];
  let question: Query<Page> | null = listing.first;
  while (question !== null) {
    if (pages.length >= listing.pagesMax) return { kind: 'cut', pages };
    const answer: Answer<Page> = yield* askOne(question, listing.isNeeded);
    if (answer.kind !== 'ok') return { ...answer, pages };
    pages.push(answer.payload);
    question = listing.next(answer.payload, pages.length - 1);
  }
  return { kind: 'ok', pages };
}

/**
 * Reads every page so that nothing is lost or counted twice when the list shifts meanwhile: all totals, the ids and a
 * second look at page 1 must agree, or it is read once more; `shifting` when that does not agree either. The pages are
 * facts all the same, only not the whole list. Lists of one page cost one question.
 */
export function* readStablePages<Page>(listing: StableListing<Page>): Pull<Reading<Page>> {
  let pages: readonly Page[] = [];
  for (let tries = 0; tries < 2; tries += 1) {
    const reading = yield* readPages(listing);
    if (reading.kind !== 'ok') return reading;
    pages = reading.pages;
    const again = pages.length > 1 ? yield* askOne(listing.first, listing.isNeeded) : null;
    if (again !== null && again.kind !== 'ok') return { ...again, pages };
    if (isConsistent(listing, pages, again?.payload ?? null)) return reading;
  }
  return { kind: 'shifting', pages };
}

/**
 * Reads a list that is asked with an empty request first, as it was recorded and documented. Only when its answer counts
 * more than it holds is the list read in pages of a known size, from the start: the size of the first is a default that
 * may change. Rows that the service cannot read itself count too, so only the offset says where the end is.
 */
export function* readOffsetPages<Page>({
  ask,
  limit,
  ...list
}: Pick<StableListing<Page>, 'factsOf' | 'pagesMax' | 'isNeeded'> & {
  /** The question; null: the empty request. */
  readonly ask: (range: { readonly limit: number; readonly offset: number } | null) => Query<Page>;
  readonly limit: number;
}): Pull<Reading<Page>> {
  const first: Answer<Page> = yield* askOne(ask(null), list.isNeeded);
  if (first.kind !== 'ok') return { ...first, pages: [] };
  const facts = list.factsOf(first.payload);
  if (facts.total === null || facts.total <= facts.ids.length) return { kind: 'ok', pages: [first.payload] };
  return yield* readStablePages({
    ...list,
    first: ask({ limit, offset: 0 }),
    next: (page, index) => {
      const offset = (index + 1) * limit;
      return offset >= (list.factsOf(page).total ?? 0) ? null : ask({ limit, offset });
    },
    countsAll: false,
  });
}

/** @param again  page 1 after the last; null: it was not asked for */
function isConsistent<Page>(
  { factsOf, countsAll }: StableListing<Page>,
  pages: readonly Page[],
  again: Page | null,
): boolean {
  const facts = pages.map(factsOf);
  const [first] = facts;
  if (first === undefined) return true;
  const ids = facts.flatMap((page) => page.ids);
  const seen = again === null ? facts : [...facts, factsOf(again)];
  return (
    seen.every(({ total }) => total === first.total) &&
    (pages.length === 1 || new Set(ids).size === ids.length) &&
    (!countsAll || first.total === null || first.total === ids.length) &&
    (again === null || seen.at(-1)?.ids.join('\n') === first.ids.join('\n'))
  );
}

/** Why a list is incomplete, in a few words; null if it is complete. */
export function explainPartial(reading: Reading<unknown>): string | null {
  switch (reading.kind) {
    case 'ok':
      return null;
    case 'cut':
      return `more than ${reading.pages.length} pages`;
    case 'shifting':
      return 'changed twice while it was read';
    default:
      return explainMissing(reading);
  }
}

/** Adds to the problems why a list is incomplete. Returns whether it is. */
export function notePartial(reading: Reading<unknown>, place: string, problems: Problem[]): boolean {
  const reason = explainPartial(reading);
  if (reason !== null) problems.push(note(place, reason));
  return reason !== null;
}
