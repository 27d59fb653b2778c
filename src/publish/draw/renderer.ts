/**
 * Renders compiled pages. A page is one function call in this process, and a pure function of its view.
 *
 * Astro's server build is called directly, not over HTTP or with an injected request. That takes two thirds of the time
 * (docs/theme.md), and needs no listener, headers or address.
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
  /** Version of a kind: the same version renders the same bytes from the same view. */
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

/** Renders what was built. This module is part of the version of every page. */
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

/** Number of themes whose policies are kept. */
const POLICIES_MAX = 1_000;

/** Policies by kind and theme, each computed once: every page of a kind has the same styles and scripts. */
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

/** Placed after the styles of the build, which are at the end of the head, so that the operator's styles take precedence. */
function withTheme(html: string, themeCss: SafeCss): string {
  return html.replace('</head>', () => `<style>${themeCss}</style></head>`);
}

/** The policy follows directly, before anything that it applies to. */
const CHARSET = '<meta charset="utf-8">';
