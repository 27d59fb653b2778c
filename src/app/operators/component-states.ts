/** States of the components of public pages, as visitors are shown them. */

import { setImmediate as turn } from 'node:timers/promises';
import type { Access } from '../../access/access.ts';
import type { State } from '../../model/state.ts';
import type { EpochMs } from '../../model/time.ts';
import type { BadgeData } from '../../publish/files/badge-data.ts';
import { type ReleaseFolders, servedRelease } from '../../publish/releases/folders.ts';
import { readData } from '../../publish/releases/manifest.ts';

export interface ComponentState {
  /** Slug of its page. */
  readonly page: string;
  /** Its id in addresses. */
  readonly component: string;
  readonly state: State;
}

/** What is remembered of a page as long as one release of it is served. */
interface PageStates {
  readonly number: number;
  readonly staleAfter: EpochMs;
  readonly states: readonly ComponentState[];
}

/**
 * Makes the look at releases. A page that is not public by the time of the answer is left out; what is shown of a copy that
 * is no longer kept up to date is unknown.
 */
export function createComponentStates({
  folders,
  access,
}: {
  readonly folders: ReleaseFolders;
  readonly access: Pick<Access, 'pageOf'>;
}): (slugs: readonly string[], now: EpochMs) => Promise<readonly ComponentState[]> {
  const known = new Map<string, PageStates>();

  /** Null: not for everybody, or nothing is published. */
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
        // Visitors are answered between two pages.
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

/** Null: the release was cleared away meanwhile, or is damaged; the next scrape looks again. */
function readStates(folders: ReleaseFolders, slug: string, number: number): PageStates | null {
  let data: { readonly onDemand: BadgeData };
  try {
    data = readData(folders, slug, number) as typeof data;
  } catch {
    return null;
  }
  const { subjects, staleAfter } = data.onDemand;
  const states = subjects.components.map(({ id, subject }) => ({ page: slug, component: id, state: subject.state }));
  return { number, staleAfter, states };
}
