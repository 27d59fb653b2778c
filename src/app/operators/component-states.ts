/** States of the components of public pages, as visitors see them. For metrics. */

import type { Access } from '../../access/access.ts';
import type { State } from '../../model/state.ts';
import type { EpochMs } from '../../model/time.ts';
import type { ReleaseFolders, ServedRelease } from '../../publish/releases/folders.ts';
import { loadReleaseData } from '../../publish/releases/release-data.ts';

interface ComponentState {
  /** Slug of its page. */
  readonly page: string;
  /** Its id in addresses. */
  readonly component: string;
  readonly state: State;
}

/** What is remembered about a page while one of its releases is served. */
interface PageStates {
  readonly number: number;
  readonly staleAfter: EpochMs;
  readonly states: readonly ComponentState[];
}

interface ComponentStates {
  /** Reads what releases say that weren't read yet. */
  readonly read: (served: ReadonlyMap<string, ServedRelease>) => Promise<void>;
  /** From memory. Pages that are no longer public are left out. If a copy is out of date, its states are unknown. */
  readonly known: (now: EpochMs) => readonly ComponentState[];
}

export function createComponentStates(folders: ReleaseFolders, access: Pick<Access, 'pageOf'>): ComponentStates {
  const known = new Map<string, PageStates>();
  const isPublic = (slug: string): boolean => access.pageOf(slug)?.gate.kind === 'public';
  return {
    read: async (served) => {
      for (const slug of known.keys()) if (served.get(slug)?.isPublic !== true) known.delete(slug);
      for (const [slug, release] of served) {
        if (!release.isPublic || !isPublic(slug) || known.get(slug)?.number === release.number) continue;
        const read = await readStates(folders, slug, release.number);
        if (read === null) known.delete(slug);
        else known.set(slug, read);
      }
    },
    known: (now) =>
      [...known].flatMap(([slug, { staleAfter, states }]) => {
        if (!isPublic(slug)) return [];
        return now > staleAfter ? states.map((one) => ({ ...one, state: 'unknown' as const })) : states;
      }),
  };
}

/** Null: the release was removed in the meantime, is damaged, or is of an older version. The next scrape tries again. */
async function readStates(folders: ReleaseFolders, slug: string, number: number): Promise<PageStates | null> {
  const data = (await loadReleaseData(folders, slug, number))?.onDemand ?? null;
  if (data === null) return null;
  const states = data.subjects.components.map(({ id, subject }) => ({
    page: slug,
    component: id,
    state: subject.state,
  }));
  return { number, staleAfter: data.staleAfter, states };
}
