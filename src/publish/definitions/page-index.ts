/** An index of which pages show a monitor, component or event, so that news doesn't require a search. */

import { type MonitorId, type PageDefinition, upstreamOf } from '../../model/observation.ts';
import { type Subject, subjects } from '../../store/store.ts';
import type { ResolvedPage } from './definitions.ts';

export interface PageIndex {
  readonly page: (slug: string) => ResolvedPage | undefined;
  /** Slugs of the pages that a monitor, a component or an event of theirs shows on. */
  readonly showing: (subject: Subject) => readonly string[];
  /** Slugs of the pages whose data, or whose definition, comes from an upstream. */
  readonly drawingOn: (upstreamId: string) => readonly string[];
}

/** The subjects of a page, by which its incidents and maintenances are found. */
export function pageSubjects({ definition }: ResolvedPage): readonly Subject[] {
  return [
    subjects.page(definition.slug),
    ...namesOfPage(definition).flatMap((name) => [
      subjects.page(name),
      ...definition.components.map(({ id }) => subjects.component(`${name}/${id}`)),
    ]),
    ...shownMonitors(definition).map((id) => subjects.monitor(id)),
  ];
}

/** Names of a page in subjects: its id, and its slug as used in posts. */
export function namesOfPage({ id, slug }: Pick<PageDefinition, 'id' | 'slug'>): readonly string[] {
  return [...new Set([id, `config/${slug}`])];
}

/** The monitors of a page, each once. */
export function shownMonitors({ components }: ResolvedPage['definition']): readonly MonitorId[] {
  return [...new Set(components.flatMap(({ monitor }) => (monitor === null ? [] : [monitor])))];
}

export function indexPages(pages: readonly ResolvedPage[]): PageIndex {
  const bySlug = new Map(pages.map((page) => [page.definition.slug, page]));
  const bySubject = new Map<Subject, string[]>();
  const byUpstream = new Map<string, string[]>();
  for (const page of pages) {
    const { slug, id } = page.definition;
    for (const subject of pageSubjects(page)) bySubject.getOrInsert(subject, []).push(slug);
    const [definedBy = ''] = id.split('/');
    for (const upstream of new Set([definedBy, ...shownMonitors(page.definition).map(upstreamOf)]))
      byUpstream.getOrInsert(upstream, []).push(slug);
  }
  return {
    page: (slug) => bySlug.get(slug),
    showing: (subject) => bySubject.get(subject) ?? [],
    drawingOn: (upstreamId) => byUpstream.get(upstreamId) ?? [],
  };
}
