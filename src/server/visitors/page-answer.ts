/** Which file of which release an address gets, and what stands in where there is none to be seen. */

import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { type Access, canView, NOBODY } from '../../access/access.ts';
import type { SourceFreshness } from '../../model/page.ts';
import type { EpochMs } from '../../model/time.ts';
import { SITE_SLUG } from '../../publish/releases/folders.ts';
import { NOW_JSON_PATH } from '../../views/text/addresses.ts';
import { isSinglePath } from '../../views/v2/single.ts';
import type { Address } from '../address.ts';
import { type Answer, plain } from '../answer.ts';
import { type BadgeAnswer, type BadgeService, badgeAddressOf } from './badge-service.ts';
import { type FileAnswer, fileAnswer } from './file-answer.ts';
import { gateReply } from './gate-answer.ts';
import { nowAnswer } from './now-answer.ts';
import { preparing } from './preparing.ts';
import type { OpenRelease, ReleaseReader } from './release-reader.ts';
import { singleAnswer } from './single-answer.ts';

export interface PageDeps {
  readonly reader: ReleaseReader;
  readonly access: Access;
  /** Draws badges from the data of a release. */
  readonly badges: BadgeService;
  /** Brings here what an address of a page needs, where releases are taken from elsewhere; null: it is all here. */
  readonly ensure?: ((slug: string, path: string) => Promise<void> | null) | undefined;
  /** How fresh each upstream is by now. */
  readonly sources: () => readonly SourceFreshness[];
  /** Of the site. */
  readonly locale: () => string;
  readonly now: () => EpochMs;
}

/** An answer, and whether it may be given to everybody who asks the same. */
export interface PageAnswer extends Answer {
  /** What it follows from beside the request and the addresses of the site; absent: from more, or it is not for everybody. */
  readonly basis?: {
    readonly release: OpenRelease;
    /** True: the release is the site's own, which has no gate. */
    readonly isOfSite: boolean;
    /** When it is true, the first instant excluded; null: as long as the release is served. */
    readonly window: BadgeAnswer['window'] | null;
  };
}

interface Asked {
  readonly address: Address & { kind: 'page' | 'site' };
  readonly query: URLSearchParams;
}

/** Answers with a file of a page or of the site, whoever asks and whatever they may see. */
export async function pageAnswer(deps: PageDeps, request: IncomingMessage, asked: Asked): Promise<PageAnswer> {
  try {
    return await answerOnce(deps, request, asked);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // A process that had to wait for its turn may find that what it opened was replaced twice and cleared away.
    await turn();
    return answerOnce(deps, request, asked);
  }
}

async function answerOnce(deps: PageDeps, request: IncomingMessage, { address, query }: Asked): Promise<PageAnswer> {
  if (address.kind === 'site') {
    const release = deps.reader.open(SITE_SLUG);
    if (release === null) return preparing(address.path, deps.locale());
    const file = fileAnswer(release, { path: address.path, isPublic: true, headers: request.headers });
    return file === null ? missing(deps, request) : { ...file, basis: { release, isOfSite: true, window: null } };
  }
  const page = deps.access.pageOf(address.slug);
  const isPublic = page?.gate.kind === 'public';
  const badge = badgeAddressOf(address.path);
  // Asked for pages that do not exist too, so that the time it takes tells nothing.
  const principal = isPublic ? NOBODY : await deps.access.principalOf(request.headers.cookie ?? null, deps.now());
  const isSeen = canView(principal, page) || (badge !== null && (await hasBadgeToken(deps, address.slug, query)));
  const coming = isSeen ? deps.ensure?.(address.slug, address.path) : null;
  if (coming) await coming;
  const release = isSeen ? openSeen(deps.reader, address.slug, isPublic) : null;
  if (badge !== null) {
    if (release === null) return deps.badges.missing();
    const { answer, window } = await deps.badges.draw(release, {
      address: badge,
      query,
      now: deps.now(),
      isPublic,
      ifNoneMatch: request.headers['if-none-match'],
    });
    return isPublic ? { ...answer, basis: { release, isOfSite: false, window } } : answer;
  }
  // One that was never published is no secret for whoever may see it.
  if (release === null && isSeen && deps.reader.open(address.slug) === null)
    return preparing(address.path, deps.locale());
  // Before anything is known each may be one that is coming. All of them are told so, which tells nothing of any.
  if (release === null && !deps.access.knowsPages() && deps.reader.open(SITE_SLUG) === null)
    return preparing(address.path, deps.locale());
  if (release === null) return denied(deps, request, { address, query });
  if (address.path === NOW_JSON_PATH)
    return nowAnswer(release, { sources: deps.sources(), isPublic }) ?? missing(deps, request);
  const asked = { path: address.path, isPublic, headers: request.headers };
  if (isSinglePath(address.path)) return singleAnswer(release, asked) ?? missing(deps, request);
  const moved = redirected(release.manifest.files, address);
  if (moved !== null) return moved;
  const file = fileAnswer(release, asked);
  if (file !== null) return isPublic ? { ...file, basis: { release, isOfSite: false, window: null } } : file;
  return (
    directoryRedirect(release.manifest.files, address) ??
    (await oldAddress(deps, request, { address, query })) ??
    missing(deps, request)
  );
}

/** What no page has may be an address that the home page had before, which the configuration leads on. */
async function oldAddress(
  deps: PageDeps,
  request: IncomingMessage,
  { address, query }: { readonly address: Address & { kind: 'page' }; readonly query: URLSearchParams },
): Promise<Answer | null> {
  if (address.orHome === undefined) return null;
  const answer = await pageAnswer(deps, request, { address: address.orHome, query });
  return answer.status === 301 ? answer : null;
}

/** A release that went behind a gate in another process is not shown while this one still takes the page for public. */
function openSeen(reader: ReleaseReader, slug: string, isPublic: boolean): OpenRelease | null {
  const release = reader.open(slug);
  return isPublic && release?.manifest.access !== 'public' ? null : release;
}

/** Badges of a gated page also open for a token that the operator gave out; asked for every page, so that it tells nothing. */
async function hasBadgeToken(deps: PageDeps, slug: string, query: URLSearchParams): Promise<boolean> {
  const token = query.get('token');
  return token !== null && deps.access.allowsBadge(slug, token);
}

/** Where a redirect of the page leads. */
function redirected(
  files: OpenRelease['manifest']['files'],
  { path, base }: Address & { kind: 'page' },
): FileAnswer | null {
  const location = Object.hasOwn(files, path) ? files[path]?.location : undefined;
  return location === undefined ? null : movedTo(`${base}${location}`);
}

function movedTo(location: string): FileAnswer {
  return { status: 301, headers: { location, 'cache-control': 'no-store' }, body: null };
}

/** `/acme/history` is the folder `/acme/history/`, as static hosts have it. */
function directoryRedirect(
  files: Readonly<Record<string, unknown>>,
  { path, base }: Address & { kind: 'page' },
): FileAnswer | null {
  if (!Object.hasOwn(files, `${path}/index.html`)) return null;
  return movedTo(`${base}${path}/`);
}

/** The one answer for a page that does not exist and for one that is not for whoever asks. */
async function denied(
  deps: PageDeps,
  request: IncomingMessage,
  { address, query }: { readonly address: Address & { kind: 'page' }; readonly query: URLSearchParams },
): Promise<Answer> {
  // Before the gate, which asks whoever comes for a name that no page has.
  const old = await oldAddress(deps, request, { address, query });
  if (old !== null) return old;
  const { base, path } = address;
  const answered = await deps.access.denied({ base, path: path.replace(/(^|\/)index\.html$/, '$1') });
  return answered === null ? missing(deps, request) : gateReply(answered);
}

/** What is not there, on the site or on a page that whoever asks may see. */
export function missing(deps: PageDeps, request: IncomingMessage): Answer {
  const release = deps.reader.open(SITE_SLUG);
  const page =
    release === null
      ? null
      : fileAnswer(release, {
          path: '404.html',
          isPublic: false,
          headers: { 'accept-encoding': request.headers['accept-encoding'] },
        });
  return page === null ? plain(404, 'Not found.') : { ...page, status: 404 };
}
