/**
 * Asks a page for everything it has: the documents of its public API, whose lists end at the 50 newest, and what is older by
 * the archive that Statuspage's own pages read. The archive is not documented; a page without it has nothing older to give.
 */

import { z } from 'zod';
import { dropped, type ImportNote } from '../site.ts';
import { type Ask, askIfThere } from '../source.ts';
import type { NamedDocument } from './site.ts';

/** What the lists of the API hold at most. */
const LISTED_MAX = 50;
/** A page of the archive is three months; so many without an incident are before the first. */
const EMPTY_PAGES_MAX = 8;
/** A hundred years. */
const PAGES_MAX = 400;

const ListsSchema = z.object({
  incidents: z.array(z.object({ id: z.string() }).catch({ id: '' })).optional(),
  scheduled_maintenances: z.array(z.object({ id: z.string() }).catch({ id: '' })).optional(),
});
const HistorySchema = z.object({
  months: z.array(z.object({ incidents: z.array(z.object({ code: z.string().regex(/^[\w-]{1,100}$/) })).nullish() })),
});

interface ReadPage {
  readonly documents: readonly NamedDocument[];
  readonly notes: readonly ImportNote[];
}

/** All documents of a page. @throws a StatusError where it does not speak the API */
export async function readStatuspage(ask: Ask): Promise<ReadPage> {
  const documents: NamedDocument[] = [];
  const notes: ImportNote[] = [];
  const known = new Set<string>();
  let isFull = false;
  for (const name of ['summary', 'components', 'incidents', 'scheduled-maintenances']) {
    const path = `/api/v2/${name}.json`;
    // Every page has the first; some leave out one of the others.
    const value =
      name === 'summary'
        ? await ask(path)
        : await askIfThere(ask, path, (error) => notes.push(dropped(path, error.message)));
    if (value === null) continue;
    documents.push({ name: path, value });
    const { incidents = [], scheduled_maintenances: maintenances = [] } = ListsSchema.safeParse(value).data ?? {};
    isFull ||= incidents.length >= LISTED_MAX || maintenances.length >= LISTED_MAX;
    for (const { id } of [...incidents, ...maintenances]) known.add(id);
  }
  if (!isFull) return { documents, notes };
  for (const code of await archivedCodes(ask, notes)) {
    if (known.has(code)) continue;
    known.add(code);
    const path = `/incidents/${code}.json`;
    const value = await askIfThere(ask, path, (error) => notes.push(dropped(`incident ${code}`, error.message)));
    if (value !== null) documents.push({ name: path, value });
  }
  return { documents, notes };
}

async function archivedCodes(ask: Ask, notes: ImportNote[]): Promise<readonly string[]> {
  const codes = new Set<string>();
  let empty = 0;
  for (let page = 1; page <= PAGES_MAX && empty < EMPTY_PAGES_MAX; page += 1) {
    const path = `/history.json?page=${page}`;
    let fault = 'it is not a Statuspage archive';
    const answer = await askIfThere(ask, path, (error) => {
      fault = error.message;
    });
    const { data } = HistorySchema.safeParse(answer);
    if (data === undefined) {
      notes.push(
        dropped(
          page === 1 ? 'history' : path,
          `the lists end at the ${LISTED_MAX} newest items, and older ones are not available: ${fault}. With a key for the manage API, save its incidents to a file and import that`,
        ),
      );
      return [...codes];
    }
    const found = data.months.flatMap(({ incidents }) => incidents ?? []);
    empty = found.length === 0 ? empty + 1 : 0;
    for (const { code } of found) codes.add(code);
  }
  return [...codes];
}
