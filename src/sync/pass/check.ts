/** Decides how much of a pass's result is accepted. `pharos check` uses the same decision. Pure. */

import { createHash } from 'node:crypto';
import type { Learned, MonitorId, PageDefinition, Problem } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Answer, LearnedPages, Priority, Pull } from '../connector.ts';

/** If a larger share disappears at once, the upstream has probably lost its data, or a filter is wrong. */
const VANISHED_RATIO_MAX = 0.5;
/** More monitors can't be kept fresh within any documented quota, or rendered by one process. */
export const MONITORS_MAX = 20_000;
/** Passes are late by at most a tenth of the interval. */
const JITTER_RATIO = 0.1;

export interface LastKnown {
  /** By id. */
  readonly monitors: ReadonlyMap<MonitorId, unknown>;
  readonly pages: readonly PageDefinition[];
  /** The `held` value of an earlier pass; null: there is none. */
  readonly held: string | null;
}

export type Verdict =
  | { readonly kind: 'taken'; readonly learned: Learned }
  | { readonly kind: 'refused'; readonly learned: Learned; readonly reason: string }
  | { readonly kind: 'held'; readonly learned: Learned; readonly held: string; readonly reason: string };

/**
 * Unreadable items are unknown and reported; the others are accepted. Pages whose access is in doubt are closed (`closeDoubtful`).
 * Refused: too many monitors. Held: more than half of the monitors or pages are gone, and no answer at least one interval ago agrees.
 */
export function judge(
  answer: Learned,
  known: LastKnown,
  { at, intervalMs }: { readonly at: EpochMs; readonly intervalMs: number },
): Verdict {
  const learned = closeDoubtful(answer);
  const { monitors, pages, stale } = learned;
  if (monitors.length > MONITORS_MAX) {
    const reason = `it lists ${monitors.length} monitors; the limit for one upstream is ${MONITORS_MAX}`;
    return { kind: 'refused', learned, reason };
  }
  const ids = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);
  const gone = [
    stale.includes('monitors') ? null : vanished('monitors', [...known.monitors.keys()], ids(monitors)),
    stale.includes('pages') ? null : vanished('pages', ids(known.pages), ids(pages)),
  ].filter((words) => words !== null);
  if (gone.length === 0) return { kind: 'taken', learned };
  const hash = createHash('sha256')
    .update([...ids(monitors), ...ids(pages)].toSorted().join('\n'))
    .digest('hex');
  const [heldAt, heldHash] = known.held?.split(' ') ?? [];
  const isSame = heldHash === hash && Number(heldAt) <= at;
  if (isSame && at - Number(heldAt) >= intervalMs * (1 - JITTER_RATIO)) return { kind: 'taken', learned };
  return {
    kind: 'held',
    learned,
    held: isSame ? (known.held ?? '') : `${at} ${hash}`,
    reason: `${gone.join(' and ')} disappeared at once; accepted if a response after the next interval agrees`,
  };
}

function vanished(what: string, before: readonly string[], after: readonly string[]): string | null {
  const left = new Set(after);
  const gone = before.filter((id) => !left.has(id)).length;
  return gone > before.length * VANISHED_RATIO_MAX ? `${gone} of ${before.length} ${what}` : null;
}

// Closes pages whose access isn't stated clearly, at once and for all connectors, even if the rest of the answer is
// rejected. Pure.

/** Closes doubtful pages in an answer: those with a `gate` problem, and those that share a slug or an id. */
export function closeDoubtful<T extends LearnedPages>(answer: T): T {
  const isDoubtful = doubtsIn(answer.problems);
  const slugs = Map.groupBy(answer.pages, ({ slug }) => slug.toLowerCase());
  const ids = Map.groupBy(answer.pages, ({ id }) => id);
  const isShared = ({ slug, id }: PageDefinition): boolean =>
    (slugs.get(slug.toLowerCase())?.length ?? 0) > 1 || (ids.get(id)?.length ?? 0) > 1;
  const pages = answer.pages.map((page) => (isDoubtful(page, true) || isShared(page) ? closed(page) : page));
  const problems = [...slugs].flatMap(([slug, shared]): Problem | [] => {
    const message = `have the same slug ${JSON.stringify(slug.slice(0, 60))}; both are closed`;
    return shared.length < 2 ? [] : { kind: 'gate', place: shared.map(({ id }) => id).join(', '), message };
  });
  return { ...answer, pages, problems: [...answer.problems, ...problems] };
}

/**
 * The known pages after an answer that isn't accepted as a whole. No page becomes more open: pages that the answer shows as more
 * private become so at once, and doubtful ones are closed. Returns the same list if nothing changes.
 */
export function tightenGates(known: readonly PageDefinition[], answer: LearnedPages): readonly PageDefinition[] {
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
  // A problem without a page is about all pages.
  return ({ id }, isShown) =>
    gates.some(({ page }) => page === undefined || page === id || (page === null && !isShown));
}

function moreGuarded(page: PageDefinition, shown: PageDefinition): PageDefinition {
  const published = page.published && shown.published;
  const { access, emailDomains } = narrower(page, shown);
  const isSame = access === page.access && emailDomains.length === page.emailDomains.length;
  return isSame && published === page.published ? page : { ...page, access, emailDomains, published };
}

/** Access for those who may see both. */
function narrower(one: PageDefinition, two: PageDefinition): Pick<PageDefinition, 'access' | 'emailDomains'> {
  if (two.access === 'public') return one;
  if (one.access === 'public') return two;
  // Different kinds of gates admit different people.
  if (one.access !== two.access) return closed(one);
  return { ...one, emailDomains: one.emailDomains.filter((domain) => two.emailDomains.includes(domain)) };
}

function closed(page: PageDefinition): PageDefinition {
  return page.access === 'closed' ? page : { ...page, access: 'closed', emailDomains: [] };
}

/**
 * Answers optional questions as if the quota didn't allow them.
 *
 * @param wanted optional questions to ask nevertheless
 */
export function* listsOnly<R>(pull: Pull<R>, wanted: readonly Priority[]): Pull<R> {
  let step = pull.next();
  while (step.done !== true) {
    const { questions, tolerant } = step.value;
    if (tolerant && !questions.some(({ priority }) => wanted.includes(priority))) {
      step = pull.next(questions.map(() => ({ kind: 'skipped' })));
      continue;
    }
    let answers: readonly Answer<unknown>[];
    try {
      answers = yield step.value;
    } catch (error) {
      step = pull.throw(error);
      continue;
    }
    step = pull.next(answers);
  }
  return step.value;
}
