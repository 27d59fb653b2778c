/**
 * How compiled pages are called: a page is one call in this process, a pure function of its view.
 *
 * Astro's server build is called directly and not through HTTP or an injected request: the same page takes about half
 * the time (docs/theme.md has the figures), and no listener, header or address of a request is involved.
 */

import { LRUCache } from 'lru-cache';
import { messageOf, StatusError } from '../../errors.ts';
import type { SafeCss } from '../../views/frame/theme.ts';
import type { Handed, ViewByKind, ViewKind } from '../../views/html.ts';
import { type Policy, policyOf } from './policy.ts';

export interface Rendered {
  readonly html: string;
  /** For the `Content-Security-Policy` header; the same, as far as a document can say it, is in its `<meta>`. */
  readonly csp: string;
}

export interface Renderer {
  /** Two renderers with one version of a kind draw the same bytes from the same view. */
  readonly versionOf: (kind: ViewKind) => string;
  /** Of all kinds together. */
  readonly version: string;
  /** @throws PUBLISH_FAILED when the view cannot be drawn */
  readonly render: <Kind extends ViewKind>(kind: Kind, view: ViewByKind[Kind]) => Promise<Rendered>;
}

/** What the built entry exports: src/publish/draw/renderer-entry.ts. */
export interface Built {
  readonly draw: (handed: Handed) => Promise<Response>;
  readonly stylesByKind: ReadonlyMap<string, readonly string[]>;
  readonly scripts: readonly string[];
}

/** Draws what was built; this module is part of how every page is drawn. */
export const RENDERER_MODULE = import.meta.url;

/** @param placeOf  where in an operator's own components an error comes from, as a text; null: it does not */
export function createRenderer(
  built: Built,
  versions: Pick<Renderer, 'versionOf' | 'version'>,
  placeOf: (error: unknown) => string | null = () => null,
): Renderer {
  const policies = policiesOf(built);
  return {
    ...versions,
    render: async (kind, view) => {
      const page = await drawn(built, { kind, view } as Handed, placeOf);
      const { themeCss } = view.shell;
      const policy = policies(kind, page, themeCss);
      const html = page.replace(CHARSET, `${CHARSET}${policy.meta}`);
      return { html: themeCss === null ? html : withTheme(html, themeCss), csp: policy.header };
    },
  };
}

async function drawn(built: Built, handed: Handed, placeOf: (error: unknown) => string | null): Promise<string> {
  try {
    const response = await built.draw(handed);
    return await response.text();
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

/** Looks of the operators of one site; more are not kept. */
const POLICIES_MAX = 1_000;

/** Policies by kind and theme, each made once: whatever its view, a kind of page has the same styles and scripts. */
function policiesOf(built: Built): (kind: ViewKind, page: string, themeCss: string | null) => Policy {
  const known = new LRUCache<string, Policy>({ max: POLICIES_MAX });
  return (kind, page, themeCss) => {
    const key = `${kind} ${themeCss ?? ''}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const styles = built.stylesByKind.get(kind) ?? [];
    const scripts = built.scripts.filter((content) => page.includes(content));
    const made = policyOf(kind, { styles, scripts }, themeCss);
    known.set(key, made);
    return made;
  };
}

/** Behind the styles of the build, which Astro puts at the end of the head, so that what an operator says holds. */
function withTheme(html: string, themeCss: SafeCss): string {
  return html.replace('</head>', () => `<style>${themeCss}</style></head>`);
}

/** The policy stands right behind it: before anything that it speaks of. */
const CHARSET = '<meta charset="utf-8">';
