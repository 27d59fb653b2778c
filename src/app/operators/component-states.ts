/** States of the components of public pages, as visitors see them. For metrics. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Access } from '../../access/access.ts';
import type { State } from '../../model/state.ts';
import type { EpochMs } from '../../model/time.ts';
import { type ReleaseFolders, servedRelease } from '../../publish/releases/folders.ts';
import { readReleaseData } from '../../publish/releases/release-data.ts';

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

/**
 * Creates a function that reads them from releases. Pages that are no longer public are left out. If a copy is out of date, its
 * states are unknown.
 */
export function createComponentStates({
  folders,
  access,
}: {
  readonly folders: ReleaseFolders;
  readonly access: Pick<Access, 'pageOf'>;
}): (slugs: readonly string[], now: EpochMs) => Promise<readonly ComponentState[]> {
  const known = new Map<string, PageStates>();

  /** Null: not public, or not published. */
  function publicNumber(slug: string): number | null {
    if (access.pageOf(slug)?.gate.kind !== 'public') return null;
    const served = servedRelease(folders, slug);
    return served?.isPublic === true ? served.number : null;
  }

  return async (slugs, now) => {
    const there = new Set(slugs);
    for (const slug of known.keys()) if (!there.has(slug)) known.delete(slug);
    for (const slug of slugs) {
      const number = publicNumber(slug);
      if (number === null) known.delete(slug);
      else if (known.get(slug)?.number !== number) {
        const read = readStates(folders, slug, number);
        if (read === null) known.delete(slug);
        else known.set(slug, read);
        // Lets requests of visitors through between two pages.
        await turn();
      }
    }
    return slugs.flatMap((slug) => {
      const page = publicNumber(slug) === null ? undefined : known.get(slug);
      if (page === undefined) return [];
      return now > page.staleAfter ? page.states.map((one) => ({ ...one, state: 'unknown' as const })) : page.states;
    });
  };
}

/** Null: the release was removed in the meantime, is damaged, or is of an older version. The next scrape tries again. */
function readStates(folders: ReleaseFolders, slug: string, number: number): PageStates | null {
  const data = readReleaseData(folders, slug, number)?.onDemand ?? null;
  if (data === null) return null;
  const states = data.subjects.components.map(({ id, subject }) => ({
    page: slug,
    component: id,
    state: subject.state,
  }));
  return { number, staleAfter: data.staleAfter, states };
}
