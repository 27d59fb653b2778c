/** Status pages as they are read: each with all that is on it, or as much as an older service offers. */

import type { Problem } from '../../../model/observation.ts';
import { type Answer, attempt, attemptOne, type Pull, type Question, whyMissing } from '../../connector.ts';
import { note, parseItems } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { call, type Options, readList } from './calls.ts';
import { type Overview, OverviewSchema, PageAnswerSchema, PageSummarySchema, PagesAnswerSchema } from './schema.ts';

export interface ReadOverviews {
  /** Null: the list of pages could not be read. */
  readonly overviews: readonly Overview[] | null;
  readonly problems: readonly Problem[];
  readonly isStale: boolean;
  /** False: of a page only its gate could be read, and not what is on it. */
  readonly isWhole: boolean;
}

/** Each page with everything on it. */
export function* readOverviews(options: Options): Pull<ReadOverviews> {
  const listed = yield* readList(options, ['StatusPage', 'ListStatusPages'], {
    name: 'list status pages',
    schema: PagesAnswerSchema,
    itemsOf: (page) => page.statusPages,
  });
  const reason = whyPartial(listed);
  if (reason !== null)
    return { overviews: null, problems: [note('list status pages', reason)], isStale: true, isWhole: false };
  const items = parseItems(
    PageSummarySchema,
    listed.pages.flatMap((page) => page.statusPages),
    'statusPages',
  );
  const ids = [...new Set(items.items.map((item) => item.id))];
  const answers = yield* attempt(ids.map((id) => overviewQuestion(options, 'GetStatusPageOverview', id)));
  const overviews: Overview[] = [];
  const problems: Problem[] = [...items.problems];
  let isStale = items.problems.length > 0;
  let isWhole = true;
  for (const [index, answer] of answers.entries()) {
    const id = ids[index] ?? '';
    const isRefused = answer.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
    const content = isRefused ? yield* attemptOne(overviewQuestion(options, 'GetStatusPageContent', id)) : answer;
    const settled = isRefused && content.kind !== 'ok' ? yield* readGate(options, id) : content;
    isWhole &&= content.kind === 'ok';
    if (settled.kind === 'ok') overviews.push(settled.payload);
    else {
      // 404 to every question about it: deleted since it was listed. Anything else keeps what is known.
      const isGone = settled.kind === 'failed' && settled.error.context['status'] === 404;
      isStale ||= !isGone;
      problems.push(note(`pages.${id}`, whyMissing(settled)));
    }
  }
  return { overviews, problems, isStale, isWhole };
}

function overviewQuestion(options: Options, operation: string, id: string): Question<Overview> {
  return call(options, ['StatusPage', operation], {
    name: operation === 'GetStatusPageOverview' ? 'status page overview' : 'status page content',
    priority: 'incident',
    body: { id },
    schema: OverviewSchema,
  });
}

/** A page without what is on it, where an older service offers neither its overview nor its content. */
function* readGate(options: Options, id: string): Pull<Answer<Overview>> {
  const page = yield* attemptOne(
    call(options, ['StatusPage', 'GetStatusPage'], {
      name: 'status page',
      priority: 'incident',
      body: { id },
      schema: PageAnswerSchema,
    }),
  );
  if (page.kind !== 'ok') return page;
  const nothing = { components: [], groups: [], statusReports: [], maintenances: [] };
  return { ...page, payload: { ...page.payload, ...nothing } };
}
