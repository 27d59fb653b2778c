/** Finds out what the next publish would change, by comparing the keys of files. Renders nothing. */

import type { State } from '../model/state.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { DefinitionProblem } from '../publish/definitions/inputs.ts';
import type { SiteState } from '../publish/definitions/site-state.ts';
import { fileKeys } from '../publish/files/file-entry.ts';
import { loadPageInputs } from '../publish/page-inputs.ts';
import { modelFor, type PageReleaseDeps } from '../publish/page-release.ts';
import { currentNumber, publishedSlugs, type ReleaseFolders, SITE_SLUG } from '../publish/releases/folders.ts';
import { currentManifest, type Manifest, readManifest } from '../publish/releases/manifest.ts';
import { readNamedData, readReleaseData } from '../publish/releases/release-data.ts';
import { heldRelease } from '../publish/releases/switch.ts';
import { isLogFile } from '../transparency/entries.ts';
import type { StoreParts } from './build-store.ts';
import { pageName } from './run/outcome.ts';

export type Plan = Awaited<ReturnType<typeof planPublish>>;
export type PagePlan = Awaited<ReturnType<typeof planPage>>;

interface PlanDeps extends Pick<PageReleaseDeps, 'renderer' | 'filesOf'> {
  readonly pharos: Pick<StoreParts, 'store' | 'folders'>;
  /** Called with the number of pages compared so far. */
  readonly onPage?: (done: number, total: number) => void;
}

/** Compares every page with its served release. */
export async function planPublish(deps: PlanDeps, state: SiteState) {
  const { pages, problems } = state.resolved;
  const planned: PagePlan[] = [];
  for (const page of pages) {
    planned.push(await planPage(deps, state, page));
    deps.onPage?.(planned.length, pages.length);
  }
  const damaged = releaseProblems(deps.pharos.folders);
  return {
    pages: [...planned, ...withdrawnPages(deps, state)],
    /** Pages that would not be published, and why. */
    problems: [...damaged, ...problems],
  };
}

async function planPage({ pharos, renderer, filesOf }: PlanDeps, state: SiteState, page: ResolvedPage) {
  const { slug, access, customDomain } = page.definition;
  const previous = currentManifest(pharos.folders, slug);
  const inputs = await loadPageInputs(pharos.store, state, page);
  const { model } = modelFor(inputs, { page, state, previous, priority: 'immediate' });
  const keyOf = fileKeys(renderer.version);
  const keys = new Map(filesOf(model, page).map((entry) => [entry.path, keyOf(entry)]));
  const before = previous?.files ?? {};
  const added = [...keys.keys()].filter((path) => !Object.hasOwn(before, path));
  const changed = [...keys].filter(([path, key]) => Object.hasOwn(before, path) && before[path]?.key !== key);
  // The log's files come with every release and aren't among those that are rendered.
  const removed = Object.keys(before).filter((path) => !keys.has(path) && !isLogFile(path));
  /** Differences from the served release, each with the old and the new value. */
  const facts = [
    { name: 'state', from: servedState(pharos, previous), to: model.state },
    { name: 'gate', from: previous?.access ?? null, to: access },
    { name: 'custom domain', from: previous?.customDomain ?? null, to: customDomain },
  ].filter(({ from, to }) => from !== to);
  const isSame = facts.length + added.length + changed.length + removed.length === 0;
  return {
    slug,
    kind: (previous === null ? 'new' : isSame ? 'unchanged' : 'changed') as
      | 'new'
      | 'unchanged'
      | 'changed'
      | 'withdrawn',
    facts,
    /** The release on which an operator keeps the page; null: it isn't on hold. */
    heldRelease: heldRelease(pharos.folders, slug),
    /** Paths of new files. */
    added: added.toSorted(),
    changed: changed.map(([path]) => path).toSorted(),
    removed: removed.toSorted(),
  };
}

/** Null: nothing is served, or the release doesn't contain it. */
function servedState({ folders }: PlanDeps['pharos'], manifest: Manifest | null): State | null {
  if (manifest === null) return null;
  return readReleaseData(folders, manifest.slug, manifest.number)?.summary?.state ?? null;
}

/** Published releases that can't be read, for example after a full disk. They aren't compared. */
export function releaseProblems(folders: ReleaseFolders): DefinitionProblem[] {
  return publishedSlugs(folders).flatMap((slug) => {
    const number = currentNumber(folders, slug);
    if (number === null || isSound(folders, slug, number)) return [];
    const message = `its published release ${number} is damaged. It is published again at the next start or build.`;
    return [{ slug: pageName(slug), message }];
  });
}

function isSound(folders: ReleaseFolders, slug: string, number: number): boolean {
  try {
    const manifest = readManifest(folders, slug, number);
    if (manifest !== null) readNamedData(folders, manifest);
    return manifest !== null;
  } catch {
    return false;
  }
}

/** Pages that are served but no longer defined as public. */
function withdrawnPages({ pharos }: PlanDeps, { resolved }: SiteState): PagePlan[] {
  const { pages, withheld, isDecided } = resolved;
  const kept = new Set([SITE_SLUG, ...pages.map(({ definition }) => definition.slug)]);
  return publishedSlugs(pharos.folders)
    .filter((slug) => (isDecided ? !kept.has(slug) : withheld.includes(slug)))
    .map((slug) => {
      const removed = Object.keys(currentManifest(pharos.folders, slug)?.files ?? {}).toSorted();
      return { slug, kind: 'withdrawn', facts: [], heldRelease: null, added: [], changed: [], removed };
    });
}
