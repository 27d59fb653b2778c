/** Decides which file of which release an address gets, and what is shown if there is none or it may not be seen. */

import { hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { canView, type GatedPage, NOBODY, type Principal } from '../../access/access.ts';
import type { Access } from '../../access/create-access.ts';
import type { SourceFreshness } from '../../model/page.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import { noPageKey, PAGE_SCRIPTS } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import { KINDS } from '../../publish/files/kinds.ts';
import { SITE_SLUG } from '../../publish/releases/folders.ts';
import { INERT_CSP, NOW_CACHE, releasePage, SCRIPT_CACHE } from '../../publish/releases/manifest.ts';
import { jsonText, type NowFacts, nowDocument } from '../../views/json/state-json.ts';
import { NOW_JSON_PATH } from '../../views/text/addresses.ts';
import { isSinglePath, singleDocuments } from '../../views/v2/documents.ts';
import { findWords, localeDirection } from '../../views/words/index.ts';
import type { Address } from '../address.ts';
import { type Answer, NEVER_CACHED, plain, type RequestHead, whole } from '../answer.ts';
import type { BadgeService } from './badge-service.ts';
import { type FileAnswer, type FileRequest, fileAnswer } from './file-answer.ts';
import { gateReply } from './gate-answer.ts';
import type { OpenRelease, ReleaseReader } from './release-reader.ts';

export interface PageDeps {
  readonly reader: ReleaseReader;
  readonly access: Access;
  /** Draws badges from a release's data. */
  readonly badges: BadgeService;
  /** On nodes that fetch releases from elsewhere: fetches what an address needs; null: it is already here. */
  readonly ensure?: ((slug: string, path: string) => Promise<void> | null) | undefined;
  /** Current age of each upstream's data. */
  readonly sources: () => readonly SourceFreshness[];
  /** Language of the site. */
  readonly locale: () => string;
  readonly now: () => EpochMs;
}

/**
 * Browsers request this for documents without an icon, such as JSON. The site has none; pages have one that shows their
 * state.
 */
const ICON_PATH = 'favicon.ico';
const NO_ICON: Answer = { status: 204, headers: { 'cache-control': 'public, max-age=86400' }, body: null };

type PageAddress = Address & { kind: 'page' };

/** One request for a file of a page. */
interface Asked {
  readonly address: PageAddress;
  readonly query: URLSearchParams;
  readonly head: RequestHead;
  /** Called only if the page has a gate. */
  readonly clientAddress: () => string;
}

/** Responds with a file of the site itself, which everybody may see. */
export function siteAnswer(deps: PageDeps, address: Address & { kind: 'site' }, head: RequestHead) {
  const { path } = address;
  return orAgain(() => {
    const release = deps.reader.open(SITE_SLUG);
    if (release === null) return preparing(path, deps.locale());
    const file = fileAnswer(release, { path, isPublic: true, head, address });
    return file ?? (path === ICON_PATH ? NO_ICON : missing(deps, head));
  });
}

/** Responds with a file of a page, according to its gate. Public files are returned synchronously. */
export function pageAnswer(deps: PageDeps, asked: Asked): Answer | Promise<Answer> {
  return orAgain(() => {
    const { slug, path, orHome } = asked.address;
    const page = deps.access.pageOf(slug);
    // The release being served may have a language that the home page gave up since, or isn't known to have yet.
    if (page === null && orHome !== undefined && deps.reader.open(orHome.slug)?.manifest.locales?.includes(slug, 1))
      return pageAnswer(deps, { ...asked, address: orHome });
    if (!canView(NOBODY, page)) return gatedFile(deps, asked, null);
    const coming = deps.ensure?.(slug, path);
    return coming ? gatedFile(deps, asked, coming) : pageFile(deps, asked, page);
  });
}

/** Tries again if files vanish: after a long wait, an opened release may have been replaced twice and deleted. */
function orAgain(answer: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
  const again = async (error: unknown): Promise<Answer> => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await turn();
    return answer();
  };
  try {
    const answered = answer();
    return answered instanceof Promise ? answered.catch(again) : answered;
  } catch (error) {
    return again(error);
  }
}

/** Also for pages that don't exist, so that the response time reveals nothing. */
function gatedFile(deps: PageDeps, asked: Asked, coming: Promise<void> | null): Answer | Promise<Answer> {
  const { slug, path } = asked.address;
  const { cookie } = asked.head;
  const request = { slug, cookie, clientAddress: asked.clientAddress(), now: deps.now() };
  const principal = coming === null ? deps.access.principalOf(request) : NOBODY;
  const page = deps.access.pageOf(slug);
  const isKnown = coming === null && !(principal instanceof Promise) && canView(principal, page);
  const needed = isKnown ? (deps.ensure?.(slug, path) ?? null) : coming;
  return isKnown && needed === null ? pageFile(deps, asked, page) : gatedLater(deps, asked, { principal, needed });
}

async function gatedLater(
  deps: PageDeps,
  asked: Asked,
  known: { readonly principal: Principal | Promise<Principal>; readonly needed: Promise<void> | null },
): Promise<Answer> {
  const { slug, path, badge } = asked.address;
  const principal = await known.principal;
  const hasToken = badge !== null && (await hasBadgeToken(deps, asked));
  const isSeen = (): boolean => canView(principal, deps.access.pageOf(slug)) || hasToken;
  await (known.needed ?? (isSeen() ? deps.ensure?.(slug, path) : null));
  // Checked again, because the page may have been closed in the meantime.
  return isSeen() ? pageFile(deps, asked, deps.access.pageOf(slug)) : hiddenFile(deps, asked, false);
}

/** The response for a visitor who may see the page. */
function pageFile(deps: PageDeps, asked: Asked, page: GatedPage | null): Answer | Promise<Answer> {
  const { address, query, head } = asked;
  const { path, badge } = address;
  const isPublic = page?.gate.kind === 'public';
  const release = openSeen(deps.reader, address.slug, page);
  if (release === null) return hiddenFile(deps, asked, true);
  if (badge !== null)
    return deps.badges.draw(release, {
      address: badge,
      query,
      now: deps.now(),
      isPublic,
      ifNoneMatch: head.ifNoneMatch,
    });
  if (path === NOW_JSON_PATH) return nowAnswer(release, { sources: deps.sources(), isPublic }) ?? missing(deps, head);
  if (path.startsWith('api/') && isSinglePath(path))
    return singleAnswer(release, { path, isPublic, head, address }) ?? missing(deps, head);
  const file = fileAnswer(release, { path: path === ICON_PATH ? 'favicon.svg' : path, isPublic, head, address });
  // With another digest, it is the script of another version of the page, which must not be cached under that address.
  const isScript = isPublic && query.size > 0 && PAGE_SCRIPTS.some((name) => name === path);
  if (file !== null && isScript && query.has(release.manifest.files[path]?.sha256.slice(0, 8) ?? ''))
    return { ...file, headers: scriptHeaders.getOrInsertComputed(file.headers, cachedForLong) };
  return redirected(release.manifest.files, address) ?? file ?? withoutFile(deps, asked, release);
}

/** By those of the file, which are the same object each time, so that the head of a script is made once, too. */
const scriptHeaders = new WeakMap<OutgoingHttpHeaders, OutgoingHttpHeaders>();
const cachedForLong = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders => ({
  ...headers,
  'cache-control': SCRIPT_CACHE,
});

/** The response if the visitor may not see the page, or if it has no release. */
function hiddenFile(deps: PageDeps, asked: Asked, isSeen: boolean): Answer | Promise<Answer> {
  return asked.address.badge === null ? withoutRelease(deps, asked, isSeen) : deps.badges.missing();
}

/** The response if the page has no such file. */
async function withoutFile(deps: PageDeps, asked: Asked, { manifest }: OpenRelease): Promise<Answer> {
  return (
    directoryRedirect(manifest.files, asked.address) ?? (await oldAddress(deps, asked)) ?? missing(deps, asked.head)
  );
}

/** The response for a page that isn't published, doesn't exist, or may not be seen. */
function withoutRelease(deps: PageDeps, asked: Asked, isSeen: boolean): Answer | Promise<Answer> {
  const { slug, path } = asked.address;
  // A page that was never published is no secret to those who may see it.
  if (isSeen && ownRelease(deps.reader, slug, deps.access.pageOf(slug)) === null) return preparing(path, deps.locale());
  // Before any pages are known, every address gets this response, so it reveals nothing.
  if (!deps.access.knowsPages() && deps.reader.open(SITE_SLUG) === null) return preparing(path, deps.locale());
  return denied(deps, asked);
}

/** A former address of the home page, which its configuration redirects. */
async function oldAddress(deps: PageDeps, asked: Asked): Promise<Answer | null> {
  const { orHome } = asked.address;
  if (orHome === undefined) return null;
  const answer = await pageAnswer(deps, { ...asked, address: orHome });
  return answer.status === 301 ? answer : null;
}

/**
 * Hides a release that another process put behind a gate while this process still thinks the page is public, and
 * releases of the page that had the slug before.
 */
function openSeen(reader: ReleaseReader, slug: string, page: GatedPage | null): OpenRelease | null {
  const release = ownRelease(reader, slug, page);
  return page?.gate.kind === 'public' && release?.manifest.access !== 'public' ? null : release;
}

function ownRelease(reader: ReleaseReader, slug: string, page: GatedPage | null): OpenRelease | null {
  const release = reader.open(slug);
  if (release === null || page === null || releasePage(release.manifest) === page.key) return release;
  // Before the configuration and upstreams were read, the last published pages are served by slug.
  return page.key === noPageKey(slug) ? release : null;
}

/** Badges of a gated page can also be opened with a badge token. Checked for every page, so that it reveals nothing. */
async function hasBadgeToken(deps: PageDeps, { address, query }: Asked): Promise<boolean> {
  const token = query.get('token');
  return token !== null && deps.access.allowsBadge(address.slug, token);
}

/** The target of one of the page's redirects. */
function redirected(files: OpenRelease['manifest']['files'], { path, base }: PageAddress): Answer | null {
  const location = Object.hasOwn(files, path) ? files[path]?.location : undefined;
  return location === undefined ? null : movedTo(`${base}${location}`);
}

function movedTo(location: string): Answer {
  return { status: 301, headers: { location, 'cache-control': 'no-store' }, body: null };
}

/** Redirects `/acme/history` to `/acme/history/`, as static hosts do. */
function directoryRedirect(files: Readonly<Record<string, unknown>>, { path, base }: PageAddress): Answer | null {
  if (!Object.hasOwn(files, `${path}/index.html`)) return null;
  return movedTo(`${base}${path}/`);
}

/** The same response whether the page doesn't exist or may not be seen. */
async function denied(deps: PageDeps, asked: Asked): Promise<Answer> {
  // Before the gate, which would ask for a sign-in at addresses that no page has.
  const old = await oldAddress(deps, asked);
  if (old !== null) return old;
  const { base, path } = asked.address;
  const answered = await deps.access.denied({ base, path: path.replace(/(^|\/)index\.html$/, '$1') });
  return answered === null ? missing(deps, asked.head) : gateReply(answered);
}

/** The 404 page, for the site or a page that the visitor may see. */
export function missing(deps: Pick<PageDeps, 'reader'>, { acceptEncoding }: RequestHead): Answer {
  const release = deps.reader.open(SITE_SLUG);
  const page =
    release === null ? null : fileAnswer(release, { path: '404.html', isPublic: false, head: { acceptEncoding } });
  return page === null ? plain(404, 'Not found.') : { ...page, status: 404 };
}

// The placeholder for a page that was never published. It reloads itself until the page is there.

const RETRY_SECONDS = 2;
/** In the typefaces of the page (`layouts/tokens.css`). */
const PREPARING_STYLE =
  'body{font:1rem/1.5 -apple-system,"Segoe UI",Roboto,Ubuntu,"Noto Sans","Helvetica Neue",Arial,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}h1{font-size:1.8rem;line-height:1.15;margin:0 0 .5rem}p{margin:0}';
const PREPARING_CSP = `default-src 'none'; style-src 'sha256-${hash('sha256', PREPARING_STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** @param path below the page: only documents reload themselves */
export function preparing(path: string, locale: string): Answer {
  const words = findWords(locale);
  const headers = { 'retry-after': String(RETRY_SECONDS) };
  if (!path.endsWith('.html')) return plain(503, 'This page is being prepared. Try again in two seconds.', headers);
  const [title, text] = [words.preparingTitle, words.preparingBody].map(escapeMarkup);
  const body = `<!doctype html><html lang="${escapeMarkup(locale)}" dir="${localeDirection(locale)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><meta http-equiv="refresh" content="${RETRY_SECONDS}"><title>${title}</title><style>${PREPARING_STYLE}</style></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>\n`;
  return whole(503, body, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PREPARING_CSP,
    'cache-control': NEVER_CACHED,
    ...headers,
  });
}

// JSON that is made from the release being served: one component or one incident in the v2 format, and
// `api/now.json`.

/** Per release: the documents, and those requested so far, each as a release with that one file. */
const singlesByRelease = new WeakMap<OpenRelease, ReturnType<typeof singlesOf>>();

/** Null: the lists don't contain it. */
function singleAnswer(release: OpenRelease, request: FileRequest): FileAnswer | null {
  const { documents, given } = singlesByRelease.getOrInsertComputed(release, singlesOf);
  const document = documents.get(request.path);
  if (document === undefined) return null;
  const file = given.getOrInsertComputed(request.path, (path) => withFile(release, path, jsonText(document)));
  return fileAnswer(file, request);
}

function singlesOf(release: OpenRelease) {
  const read = (path: string): unknown =>
    Object.hasOwn(release.manifest.files, path) ? JSON.parse(release.read(path, null).toString('utf8')) : null;
  return { documents: singleDocuments(read), given: new Map<string, OpenRelease>() };
}

function withFile(release: OpenRelease, path: string, text: string): OpenRelease {
  const body = Buffer.from(text);
  const { contentType } = KINDS.json;
  const sha256 = hash('sha256', body, 'hex');
  const record = { key: '', sha256, bytes: body.length, contentType, csp: null, variants: [] };
  return { ...release, manifest: { ...release.manifest, files: { [path]: record } }, read: () => body };
}

/** `api/now.json` of a page, from memory: the release being served, and when its upstreams last answered. */
const NOW_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'content-security-policy': INERT_CSP };
const PUBLIC_NOW_HEADERS = { ...NOW_HEADERS, 'cache-control': NOW_CACHE, 'access-control-allow-origin': '*' };
const GATED_NOW_HEADERS = {
  ...NOW_HEADERS,
  'cache-control': 'private, no-store',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'Cookie',
};

/** Cached per release. */
const factsByRelease = new WeakMap<OpenRelease, NowFacts | null>();

/** Null: the release was written by an older version, without this data. */
function nowAnswer(
  release: OpenRelease,
  { sources, isPublic }: { readonly sources: readonly SourceFreshness[]; readonly isPublic: boolean },
): FileAnswer | null {
  const facts = factsByRelease.getOrInsertComputed(release, (served) => served.data().now);
  if (facts === null) return null;
  const body = Buffer.from(`${JSON.stringify(nowDocument(facts, { release: release.manifest.number, sources }))}\n`);
  return {
    status: 200,
    headers: { ...(isPublic ? PUBLIC_NOW_HEADERS : GATED_NOW_HEADERS), 'content-length': body.length },
    body,
  };
}
