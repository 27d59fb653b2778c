/**
 * Renders compiled pages. A page is one function call in this process, and a pure function of its view. With `compile-pages.ts`,
 * this is the only place that knows Astro at run time.
 *
 * Templates of Astro's server build are called directly, without a request and an answer (`renderer-entry.ts`): those took as long as
 * drawing a small page, and need no listener, headers or address. `drawFiles` renders the files of a release that have changed.
 */

import { hash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { LRUCache } from 'lru-cache';
import { messageOf, StatusError } from '../../errors.ts';
import type { Handed, ViewByKind, ViewKind } from '../../views/html.ts';
import { type FileEntry, fileKeys, PRIORITIES, type Priority } from '../files/file-entry.ts';
import type { Drawn, PageRenderer } from '../files/kinds.ts';
import type { FileRecord, Manifest } from '../releases/manifest.ts';
import type { DrawnFile, ReleaseFile } from '../releases/write.ts';
import { compilePages } from './compile-pages.ts';
import { findOwnPlace, type OwnComponents } from './own-components.ts';
import { programVersion } from './program-version.ts';
import type { DrawnPage } from './renderer-entry.ts';

export interface Rendered {
  readonly html: string;
  /** For the `Content-Security-Policy` header. The `<meta>` in the document has as much of it as a document can set. */
  readonly csp: string;
}

export type Renderer = Awaited<ReturnType<typeof loadRenderer>>;

/** What the built entry exports. */
interface Built {
  readonly draw: (handed: Handed, hasFiles: boolean) => Promise<DrawnPage>;
  readonly stylesByKind: ReadonlyMap<string, readonly string[]>;
  readonly scriptFiles: readonly (readonly [name: string, content: string])[];
  readonly STYLES_PLACE: string;
}

/**
 * Loads the compiled pages, which are compiled first if needed. They stay in memory, about 15 MB.
 *
 * @throws PUBLISH_FAILED when they do not compile
 */
export async function loadRenderer(own: OwnComponents | null = null) {
  const entry = await compilePages(own);
  // Errors in an operator's components are reported with their file and line.
  if (own !== null) process.setSourceMapsEnabled(true);
  const built = (await import(pathToFileURL(entry).href)) as Built;
  const placeOf = (error: unknown): string | null => (own === null ? null : findOwnPlace(error, own.folder));
  const policies = cachePolicies(built);
  const files = built.scriptFiles.map(([name, content]) => scriptFile(name, content));
  const renderParts = async ({ kind, view }: Handed, place?: 'file') => {
    const { themeCss, subscribeHref, isGated, isOfPage, root } = view.shell;
    // What is behind a gate is kept by nobody, and a page that nobody finds is shown at any address.
    const hasFiles = place === 'file' && isOfPage && !isGated && kind !== 'not-found';
    const page = await drawn(built, { kind, view } as Handed, hasFiles, placeOf);
    const beside = hasFiles ? files.filter(({ content }) => page.scripts.includes(content)) : [];
    const scripts = page.scripts.map((one) => beside.find(({ content }) => content === one)?.text ?? one);
    const policy = policies(kind, scripts, { themeCss, formHref: isGated ? null : subscribeHref });
    // The policy follows directly, before anything that it applies to. Styles of the build are at the end of the head, and the
    // operator's after them, so that these take precedence.
    const parts = replaceInTurn(page.html, [
      [CHARSET, CHARSET + policy.meta],
      ...(page.styles === '' ? [] : [[built.STYLES_PLACE, page.styles] as const]),
      ...(themeCss === null ? [] : [['</head>', `<style>${themeCss}</style></head>`] as const]),
      ...(beside.length === 0
        ? []
        : [[BODY_END, `${beside.map((one) => scriptElement(one, root)).join('')}${BODY_END}`] as const]),
    ]);
    return { parts, csp: policy.header };
  };
  return {
    /** With the same version, the same view gives the same bytes. */
    version: programVersion(own),
    /** Text of one of `PAGE_SCRIPTS`. */
    scriptOf: (name: string): string => files.find((file) => file.name === name)?.text ?? '',
    /**
     * @param place  `file`: the page loads its scripts from files (`scriptOf`). Default: it contains all of them.
     * @throws PUBLISH_FAILED when the view cannot be drawn
     */
    render: async <Kind extends ViewKind>(kind: Kind, view: ViewByKind[Kind], place?: 'file'): Promise<Rendered> => {
      const { parts, csp } = await renderParts({ kind, view } as Handed, place);
      return { html: parts.join(''), csp };
    },
    /** The same for a file, in UTF-8. */
    renderFile: async (kind: string, view: unknown) => {
      const { parts, csp } = await renderParts({ kind, view } as Handed, 'file');
      return { body: encodeParts(parts), csp };
    },
  };
}

/** Each in turn, since joining them first makes another copy of a long text; not in a pool, since few are shorter than a pool. */
function encodeParts(parts: readonly string[]): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0));
  let end = 0;
  for (const part of parts) end += bytes.write(part, end);
  return bytes;
}

async function drawn(built: Built, handed: Handed, hasFiles: boolean, placeOf: (error: unknown) => string | null) {
  try {
    return await built.draw(handed, hasFiles);
  } catch (error) {
    const place = placeOf(error);
    throw new StatusError({
      code: 'PUBLISH_FAILED',
      message: `A page of kind ${handed.kind} could not be rendered: ${messageOf(error)}${place === null ? '' : ` (${place})`}`,
      context: { kind: handed.kind },
      cause: error,
    });
  }
}

/**
 * A script with its text as a file (`content`: inside a page), and the rest of its address there with its other attributes. What is
 * declared in one script is none of the next, as in modules. A script may end in a comment, with which a build with an
 * operator's components names its source map. Opened from a disk, browsers load no file with `integrity`.
 */
function scriptFile(name: string, content: string) {
  const text = `(()=>{"use strict";${content}\n})()`;
  const digests = `${hash('sha256', text).slice(0, 8)}" integrity="sha256-${hash('sha256', text, 'base64')}"`;
  return { name, content, text, attributes: `${name}?${digests}` };
}

/**
 * The scripts that a page can do without at first come from files that browsers keep for all pages, so that a visitor in a crowd
 * gets the news in fewer bytes. They run in the order and at the time of modules; those that stand in the page wait for none.
 *
 * @param root  of the page, from where it is
 */
function scriptElement({ attributes }: ReturnType<typeof scriptFile>, root: string): string {
  return `<script defer src="${root}${attributes}></script>`;
}

/** Replaces the first of each text, which are in this order, and returns what stands between them and in their places. */
function replaceInTurn(html: string, changes: readonly (readonly [from: string, to: string])[]): string[] {
  const parts: string[] = [];
  let end = 0;
  for (const [from, to] of changes) {
    // The last is at the end of a long page.
    const at = from === BODY_END ? html.lastIndexOf(from) : html.indexOf(from, end);
    if (at === -1) continue;
    parts.push(html.slice(end, at), to);
    end = at + from.length;
  }
  return [...parts, html.slice(end)];
}

/** Number of themes whose policies are kept. */
const POLICIES_MAX = 1_000;

/** Policies by kind and page, each computed once: every page of a kind has the same styles, and scripts by what is on it. */
function cachePolicies(built: Built) {
  const known = new LRUCache<string, ReturnType<typeof makePolicy>>({ max: POLICIES_MAX });
  const numbers = new Map<string, number>();
  return (kind: ViewKind, scripts: readonly string[], shell: PolicyShell) => {
    const standing = scripts.map((content) => numbers.getOrInsertComputed(content, () => numbers.size)).join();
    const key = `${kind} ${standing} ${shell.formHref ?? ''} ${shell.themeCss ?? ''}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = makePolicy(kind, { styles: built.stylesByKind.get(kind) ?? [], scripts }, shell);
    known.set(key, made);
    return made;
  };
}

const CHARSET = '<meta charset="utf-8">';
const BODY_END = '</body>';

interface PolicyShell {
  /** The operator's variables, the only style that the build doesn't know. */
  readonly themeCss: string | null;
  /** The target of the form in the header of public pages; null: there is none. */
  readonly formHref: string | null;
}

/** Kinds with a form: a password, an email address, an operator's command. */
const KINDS_WITH_FORMS: ReadonlySet<ViewKind> = new Set(['login', 'ops', 'ops-sign-in', 'ops-write', 'subscribe']);
/** Kinds with another page in a frame. */
const KINDS_WITH_FRAMES: ReadonlySet<ViewKind> = new Set(['ops-write']);

/**
 * The strictest policy under which pages of a kind work. It follows from the build and not from the page: a style or a
 * script that got into a page in any other way stays without effect.
 *
 * @param contents  of the inlined styles and scripts that the build made for one kind of page
 */
function makePolicy(
  kind: ViewKind,
  { styles, scripts }: Readonly<Record<'styles' | 'scripts', readonly string[]>>,
  { themeCss, formHref }: PolicyShell,
) {
  const elsewhere = formHref === null ? "'none'" : new URL(formHref).origin;
  const forms = KINDS_WITH_FORMS.has(kind) ? "'self'" : elsewhere;
  const directives = [
    "default-src 'none'",
    `script-src ${sourceList(scripts)}`,
    `style-src ${sourceList(themeCss === null ? styles : [...styles, themeCss])}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    ...(KINDS_WITH_FRAMES.has(kind) ? ["frame-src 'self'"] : []),
    `form-action ${forms}`,
    "base-uri 'none'",
  ].join(';');
  return {
    /** The value of the header. The host adds who may frame the page, because a document can't. */
    header: directives,
    /** The element for hosts that send no headers. */
    meta: `<meta http-equiv="Content-Security-Policy" content="${directives}">`,
  };
}

function sourceList(contents: readonly string[]): string {
  if (contents.length === 0) return "'none'";
  return contents.map((content) => `'sha256-${hash('sha256', content, 'base64')}'`).join(' ');
}

/** Renders files, and knows the version of the program. */
export type VersionedRenderer = PageRenderer & { readonly version: string };

export interface DrawOptions {
  readonly renderer: VersionedRenderer;
  /** Priorities to render, highest first; files with other priorities stay as they were. */
  readonly priorities: readonly Priority[];
  /** True: what stays for later was drawn for another page or other access rules, and is left out until then. */
  readonly isOther?: boolean;
}

/**
 * Compares keys first, so that a file with the same inputs isn't rendered. A file that is rendered and comes out the
 * same isn't written; only its key is new.
 */
export async function drawFiles(entries: readonly FileEntry[], previous: Manifest | null, options: DrawOptions) {
  const files: ReleaseFile[] = [];
  let hasWaiting = false;
  let filesDrawn = 0;
  const keyOf = fileKeys(options.renderer.version);
  // Left to a later run, except for a deferred file that is missing.
  const later = new Set(PRIORITIES.slice(PRIORITIES.indexOf(options.priorities.at(-1) ?? 'background') + 1));
  for (const entry of entries) {
    const last = previous?.files[entry.path];
    const isThere = last !== undefined;
    if (later.has(entry.priority) && (isThere || entry.priority !== 'deferred')) {
      // Finding out whether long-term figures changed is expensive, so that is left to the run that renders them.
      hasWaiting ||= !isThere || options.isOther === true || entry.priority === 'deferred' || keyOf(entry) !== last.key;
      if (isThere && options.isOther !== true) files.push({ path: entry.path, key: last.key, drawn: null });
      continue;
    }
    const isKept = isThere && !options.priorities.includes(entry.priority);
    const key = isKept ? last.key : keyOf(entry);
    const drawn = key === last?.key ? null : toBytes(await entry.draw(options.renderer));
    const { path } = entry;
    if (drawn === null || isAsBefore(drawn, entry, last)) files.push({ path, key, drawn: null });
    else {
      filesDrawn += 1;
      files.push({ path, drawn: { ...drawn, key, contentType: entry.kind.contentType } });
    }
  }
  return { files, filesDrawn, hasWaiting };
}

type DrawnBytes = Omit<DrawnFile, 'key' | 'contentType'>;

function toBytes({ body, ...drawn }: Drawn): DrawnBytes {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return { ...drawn, body: bytes, sha256: hash('sha256', bytes, 'hex') };
}

function isAsBefore({ csp, location, sha256 }: DrawnBytes, { kind }: FileEntry, last: FileRecord | undefined): boolean {
  return (
    last !== undefined &&
    last.csp === csp &&
    last.location === location &&
    last.contentType === kind.contentType &&
    last.sha256 === sha256
  );
}
