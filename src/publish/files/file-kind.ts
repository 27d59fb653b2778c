/**
 * A kind of file: how its bytes are made from what an entry hands it. Kinds stand at the top of modules of their own, in
 * `kinds/`, where no model is in reach: their files can show nothing but their inputs, and what draws them is what their
 * module imports.
 */

import type { SocialView } from '../../views/badges/social.ts';
import type { ViewByKind, ViewKind } from '../../views/html.ts';

/** Draws a view as HTML; the built pages behind it are compiled once. */
export interface PageRenderer {
  render(kind: string, view: unknown): Promise<Drawn>;
  /** Draws a social image, as PNG, in a thread that does not last; absent: it is drawn in this one. */
  readonly socialImage?: (view: SocialView) => Promise<Uint8Array>;
}

/** A file's bytes, and for HTML the content security policy that belongs to them. */
export interface Drawn {
  readonly body: string | Uint8Array;
  readonly csp: string | null;
  /** Where it leads, below the page; absent: it is not a redirect. */
  readonly location?: string;
}

export interface FileKind<Inputs> extends KindFacts {
  /** Pure: the same inputs give the same bytes. */
  readonly draw: (inputs: Inputs, renderer: PageRenderer) => Promise<Drawn>;
}

export interface KindFacts {
  readonly name: string;
  readonly contentType: string;
  /** Address of the module that declares it. */
  readonly module: string;
  /** The page of Astro's that draws it; null: none. */
  readonly page: ViewKind | null;
}

const HTML_TYPE = 'text/html; charset=utf-8';

/**
 * A kind that one of Astro's pages draws.
 *
 * @param module  `import.meta.url`
 * @param view    default: the inputs are the view, which is best where making it costs little
 */
export function htmlKind<Kind extends ViewKind>(module: string, page: Kind): FileKind<ViewByKind[Kind]>;
export function htmlKind<Kind extends ViewKind, Inputs>(
  module: string,
  page: Kind,
  view: (inputs: Inputs) => ViewByKind[Kind],
): FileKind<Inputs>;
export function htmlKind(
  module: string,
  page: ViewKind,
  view: (inputs: unknown) => unknown = (inputs) => inputs,
): FileKind<unknown> {
  const draw: FileKind<unknown>['draw'] = (inputs, renderer) => renderer.render(page, view(inputs));
  return { module, name: page, contentType: HTML_TYPE, page, draw };
}

/**
 * A kind that is drawn without Astro.
 *
 * @param module  `import.meta.url`
 */
export function fileKind<Inputs>(
  module: string,
  { name, contentType }: Pick<KindFacts, 'name' | 'contentType'>,
  draw: (inputs: Inputs, renderer: PageRenderer) => string | Uint8Array | Promise<string | Uint8Array>,
): FileKind<Inputs> {
  return {
    module,
    name,
    contentType,
    page: null,
    draw: async (inputs, renderer) => ({ body: await draw(inputs, renderer), csp: null }),
  };
}
