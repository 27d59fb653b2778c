/** An index of which pages show a monitor, component or event, so that news doesn't require a search. */

import { type MonitorId, type PageDefinition, upstreamOf } from '../../model/observation.ts';
import { type Subject, subjectNamed, subjects } from '../../store/store.ts';
import type { ResolvedPage } from './definitions.ts';

export type PageIndex = ReturnType<typeof indexPages>;

/** The subjects of a page, by which its incidents and maintenances are found. */
export function pageSubjects({ definition, identity }: ResolvedPage): readonly Subject[] {
  return [
    subjects.page(identity.key),
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

/**
 * Monitors are by far the most names of a large site, and most of them are on one page: all of a page share one list. Components are
 * found by their page, so that they need no names of their own.
 */
export function indexPages(pages: readonly ResolvedPage[]) {
  const bySlug = new Map(pages.map((page) => [page.definition.slug, page]));
  const byName = new Map<string, string[]>();
  const byMonitor = new Map<string, readonly string[]>();
  const byUpstream = new Map<string, string[]>();
  for (const { definition, identity } of pages) {
    const { slug, id } = definition;
    byName.getOrInsert(identity.key, []).push(slug);
    const alone = [slug];
    const monitors = shownMonitors(definition);
    for (const name of namesOfPage(definition)) byName.getOrInsert(name, []).push(slug);
    for (const monitor of monitors) {
      const others = byMonitor.get(monitor);
      byMonitor.set(monitor, others === undefined ? alone : [...others, slug]);
    }
    const [definedBy = ''] = id.split('/');
    for (const upstream of new Set([definedBy, ...monitors.map(upstreamOf)]))
      byUpstream.getOrInsert(upstream, []).push(slug);
  }
  const having = (page: string, component: string): readonly string[] =>
    (byName.get(page) ?? []).filter((slug) =>
      bySlug.get(slug)?.definition.components.some(({ id }) => id === component),
    );
  return {
    /** Slugs of the pages that a monitor, a component or an event of theirs shows on. */
    showing: (subject: Subject): readonly string[] => {
      const { kind, name } = subjectNamed(subject);
      if (kind === 'monitor') return byMonitor.get(name) ?? [];
      if (kind === 'page') return [...(bySlug.has(name) ? [name] : []), ...(byName.get(name) ?? [])];
      const end = name.lastIndexOf('/');
      return end < 0 ? [] : having(name.slice(0, end), name.slice(end + 1));
    },
    /** Slugs of the pages whose data, or whose definition, comes from an upstream. */
    drawingOn: (upstreamId: string): readonly string[] => byUpstream.get(upstreamId) ?? [],
  };
}
