/** Reads paged lists, up to a limit, and detects when they change in the meantime. */

import type { StatusError } from '../../errors.ts';
import { type Answer, ask, attemptOne, type Pull, type Query } from '../connector.ts';

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
export type Reading<Page> =
  | { readonly kind: 'ok' | 'cut' | 'skipped' | 'shifting'; readonly pages: readonly Page[] }
  | { readonly kind: 'failed'; readonly pages: readonly Page[]; readonly error: StatusError };

/** What a page says about the whole list, and the ids on it. */
interface ListPageFacts {
  /** Number of items in the whole list; null: not given. */
  readonly total: number | null;
  readonly ids: readonly string[];
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
    if (answer.kind === 'skipped') return { kind: 'skipped', pages };
    if (answer.kind === 'failed') return { kind: 'failed', pages, error: answer.error };
    pages.push(answer.payload);
    question = listing.next(answer.payload, pages.length - 1);
  }
  return { kind: 'ok', pages };
}

/**
 * Reads every page so that nothing is lost or counted twice when the list shifts meanwhile: all totals, the ids and a
 * second look at page 1 must agree, or it is read once more; `shifting` when that does not agree either. The pages are
 * facts all the same, only not the whole list. Lists of one page cost one question.
 *
 * @param countsAll  whether the total must equal the number of items (false where unreadable rows are counted too)
 */
export function* readStablePages<Page>(
  listing: Listing<Page>,
  { factsOf, countsAll }: { readonly factsOf: (page: Page) => ListPageFacts; readonly countsAll: boolean },
): Pull<Reading<Page>> {
  let last: readonly Page[] = [];
  for (let tries = 0; tries < 2; tries += 1) {
    const reading = yield* readPages(listing);
    if (reading.kind !== 'ok') return reading;
    last = reading.pages;
    const facts = last.map(factsOf);
    const again = last.length > 1 ? yield* askOne(listing.first, listing.isNeeded) : null;
    if (again?.kind === 'skipped') return { kind: 'skipped', pages: last };
    if (again?.kind === 'failed') return { kind: 'failed', pages: last, error: again.error };
    if (isConsistent(facts, again === null ? null : factsOf(again.payload), countsAll)) return reading;
  }
  return { kind: 'shifting', pages: last };
}

/**
 * Reads a list that is asked with an empty request first, as it was recorded and documented. Only when its answer counts
 * more than it holds is the list read in pages of a known size, from the start: the size of the first is a default that
 * may change. Rows that the service cannot read itself count too, so only the offset says where the end is.
 */
export function* readOffsetPages<Page>(list: {
  /** The question; null: the empty request. */
  readonly ask: (range: { readonly limit: number; readonly offset: number } | null) => Query<Page>;
  readonly factsOf: (page: Page) => ListPageFacts;
  readonly limit: number;
  readonly pagesMax: number;
  readonly isNeeded: boolean;
}): Pull<Reading<Page>> {
  const { limit, pagesMax, isNeeded, factsOf } = list;
  const first: Answer<Page> = yield* askOne(list.ask(null), isNeeded);
  if (first.kind === 'skipped') return { kind: 'skipped', pages: [] };
  if (first.kind === 'failed') return { kind: 'failed', pages: [], error: first.error };
  const facts = factsOf(first.payload);
  if (facts.total === null || facts.total <= facts.ids.length) return { kind: 'ok', pages: [first.payload] };
  const listing: Listing<Page> = {
    first: list.ask({ limit, offset: 0 }),
    next: (page, index) => {
      const offset = (index + 1) * limit;
      return offset >= (factsOf(page).total ?? 0) ? null : list.ask({ limit, offset });
    },
    pagesMax,
    isNeeded,
  };
  return yield* readStablePages(listing, { factsOf, countsAll: false });
}

function isConsistent(pages: readonly ListPageFacts[], again: ListPageFacts | null, countsAll: boolean): boolean {
  const [first] = pages;
  if (first === undefined) return true;
  const ids = pages.flatMap((page) => page.ids);
  const total = first.total;
  const seen = again === null ? pages : [...pages, again];
  return (
    seen.every((page) => page.total === total) &&
    (pages.length === 1 || new Set(ids).size === ids.length) &&
    (!countsAll || total === null || total === ids.length) &&
    (again === null || again.ids.join('\n') === first.ids.join('\n'))
  );
}

/** Why a list is incomplete, in a few words; null if it is complete. */
export function explainPartial(reading: Reading<unknown>): string | null {
  if (reading.kind === 'ok') return null;
  if (reading.kind === 'failed') return reading.error.message;
  if (reading.kind === 'cut') return `more than ${reading.pages.length} pages`;
  return reading.kind === 'skipped' ? 'waits for quota' : 'changed twice while it was read';
}
