/** A page as its authors see it: the stored data with all posts, including drafts. */

import { WRITTEN_ID } from '../model/observation.ts';
import type { PageIncident, PageMaintenance } from '../model/page.ts';
import type { EpochMs } from '../model/time.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { SiteState } from '../publish/definitions/site-state.ts';
import { loadPageInputs, ownIncidents, ownMaintenances } from '../publish/page-inputs.ts';
import type { Store } from '../store/create-store.ts';
import { readMade } from '../store/written/components.ts';
import { readWritten, type WrittenRow } from '../store/written/posts.ts';
import { parseWritten, projectWritten, type WrittenPost, writtenText } from '../sync/connectors/markdown/written.ts';
import { pageModel } from '../views/model/page-model.ts';
import { v2ComponentId, v2GroupId } from '../views/v2/components.ts';
import { v2IncidentId, v2MaintenanceId } from '../views/v2/incidents.ts';
import { faultAt } from './requests.ts';
import { authorPage } from './writer.ts';

export type WritingPage = NonNullable<Awaited<ReturnType<typeof loadWritingPage>>>;

/** A stored post, and its parsed document. */
export interface WrittenStory {
  readonly row: WrittenRow;
  readonly document: WrittenPost;
}

export interface WritingPageInit {
  readonly state: SiteState;
  readonly slug: string;
  readonly now: EpochMs;
  /**
   * For a preview: a post to show as if it were published; other drafts are left out. Default: all posts, including
   * drafts.
   */
  readonly candidate?: { readonly id: string; readonly document: WrittenPost };
}

/** Reads a page; null: there is no such page. */
export async function loadWritingPage(store: Store, { state, slug, now, candidate }: WritingPageInit) {
  const page = state.resolved.pages.find(({ definition }) => definition.slug === slug);
  if (page === undefined) return null;
  const [inputs, known, made] = await Promise.all([
    loadPageInputs(store, { ...state, now }, page),
    readWritten(store.database, page.identity.key),
    readMade(store.database, page.identity.key),
  ]);
  const rows = candidate === undefined ? known : withCandidate(known, candidate, page, now);
  const projected = projectWritten(rows, { now, drafts: candidate === undefined });
  const createdAt = new Map(rows.map((row) => [`${WRITTEN_ID}/${row.id}`, row.createdAt]));
  const stored = new Map([...inputs.incidents, ...inputs.maintenances].map((one) => [one.id, one]));
  const isOther = ({ id }: { readonly id: string }): boolean => !id.startsWith(`${WRITTEN_ID}/`);
  /** With what the store adds to an incident or a maintenance. */
  const recorded = <One extends { readonly id: string }>(one: One) => {
    const { firstSeenAt = createdAt.get(one.id) ?? now, changedAt, sequence }: Recorded = stored.get(one.id) ?? {};
    const later = {
      ...(changedAt === undefined ? {} : { changedAt }),
      ...(sequence === undefined ? {} : { sequence }),
    };
    return { firstSeenAt, ...later, ...one };
  };
  const model = pageModel({
    ...inputs,
    announcements: [
      ...inputs.announcements.filter((one) => isOther(one) || (one.pages?.includes(slug) ?? true) === false),
      ...projected.announcements,
    ],
    incidents: [
      ...inputs.incidents.filter(isOther),
      ...ownIncidents(page, projected.incidents).map((one) => recorded(one)),
    ],
    maintenances: [
      ...inputs.maintenances.filter(isOther),
      ...ownMaintenances(page, projected.maintenances).map((one) => recorded(one)),
    ],
    asOf: now,
  });
  return {
    page,
    /** Computed for now, whatever is published. */
    model,
    /** Incidents, maintenances and overrides that were written on this page. */
    written: storiesIn(rows),
    /** Components and groups created over the API, by their id in addresses. */
    made: new Map(made.map((one) => [one.id, one])),
  };
}

/** Replaces or adds the candidate's row. */
function withCandidate(
  rows: readonly WrittenRow[],
  { id, document }: NonNullable<WritingPageInit['candidate']>,
  page: ResolvedPage,
  now: EpochMs,
): readonly WrittenRow[] {
  const before = rows.find((row) => row.id === id);
  const text = writtenText({ ...document, post: { ...document.post, draft: false } });
  const { key, isPrivate } = authorPage(page);
  const facts = before ?? { id, page: key, isPrivate, version: 0, createdAt: now, actor: '' };
  return [...rows.filter((row) => row !== before), { ...facts, document: text, updatedAt: now }];
}

/** Parses the posts of rows; leaves out unreadable ones. */
export function storiesIn(rows: readonly WrittenRow[]): readonly WrittenStory[] {
  return rows.flatMap((row) => {
    const document = parseWritten(row.document);
    return document === null ? [] : [{ row, document }];
  });
}

/** The fields that the store adds. */
interface Recorded {
  readonly firstSeenAt?: EpochMs;
  readonly changedAt?: EpochMs;
  readonly sequence?: number;
}

/** The incident or maintenance that the page shows for a post; null: none, as for an override. */
export function storyOf({ model }: WritingPage, id: string): PageIncident | PageMaintenance | null {
  const slug = `${WRITTEN_ID}-${id}`;
  return (
    model.incidents.find((incident) => incident.slug === slug || incident.aliases.includes(slug)) ??
    model.maintenances.find((maintenance) => maintenance.id === `${WRITTEN_ID}/${id}`) ??
    null
  );
}

export function isMaintenance(story: PageIncident | PageMaintenance): story is PageMaintenance {
  return 'windows' in story;
}

/** Id of an incident or a maintenance in the page's v2 JSON. */
function publicId({ model }: WritingPage, story: PageIncident | PageMaintenance): string {
  return isMaintenance(story) ? v2MaintenanceId(model, story) : v2IncidentId(model, story);
}

/** Finds an incident or a maintenance by its id: one written here, one from elsewhere, or null. */
export function findStory(writing: WritingPage, id: string) {
  const { model, written } = writing;
  const stories = [...model.incidents, ...model.maintenances];
  const own = written.find(({ row, document }) => {
    if (document.post.type === 'override') return false;
    const story = storyOf(writing, row.id);
    const known = [row.id, v2IncidentId(model, { id: `${WRITTEN_ID}/${row.id}` })];
    return known.includes(id) || (story !== null && publicId(writing, story) === id);
  });
  if (own !== undefined) return own;
  const foreign = stories.find((story) => publicId(writing, story) === id);
  return foreign === undefined ? null : { foreign };
}

/** Finds a component by its id in the v2 JSON or in the configuration. */
export function findComponent({ model }: WritingPage, id: string): string | null {
  const found = model.components.find(
    ({ definition }) => definition.id === id || v2ComponentId(model, definition.id) === id,
  );
  return found?.definition.id ?? null;
}

/** Finds a group in the same way. */
export function findGroup({ model }: WritingPage, id: string): string | null {
  return model.groups.find((group) => group.id === id || v2GroupId(model, group.id) === id)?.id ?? null;
}

/** The same for what a request names. @throws Refusal 422 with the path of what is not on this page */
export function requireOnPage(kind: 'component' | 'group', writing: WritingPage, id: string, path: string): string {
  const isGroup = kind === 'group';
  const found = isGroup ? findGroup(writing, id) : findComponent(writing, id);
  if (found !== null) return found;
  throw faultAt(path, `No such ${kind} on this page. GET ${isGroup ? 'component-groups' : 'components'} lists them.`);
}

/**
 * Returns the name of a component in posts, `<definition id>/<component id>`. The error is the same whether it exists on
 * another page, behind a gate or nowhere.
 *
 * @throws Refusal 422 with the path of the first that is not on this page
 */
export function componentRef(writing: WritingPage, id: string, path: string): string {
  return `${writing.page.definition.id}/${requireOnPage('component', writing, id, path)}`;
}
