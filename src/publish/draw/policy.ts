/** What a drawn page may do: nothing but what the build put into it. */

import { hash } from 'node:crypto';
import type { ViewKind } from '../../views/html.ts';

export interface Policy {
  /** The value of the header; who may frame the page is for the host to add, since a document cannot say it. */
  readonly header: string;
  /** The element for hosts that send no headers. */
  readonly meta: string;
}

/** Contents of the inlined styles and scripts that the build made for one kind of page. */
interface BuiltContents {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

/** Kinds that send something to us: a password, an address, an operator's order. */
const KINDS_WITH_FORMS: ReadonlySet<ViewKind> = new Set(['login', 'ops', 'ops-sign-in', 'ops-write', 'subscribe']);
/** Kinds that show another of our pages inside. */
const KINDS_WITH_FRAMES: ReadonlySet<ViewKind> = new Set(['ops-write']);

/**
 * The strictest policy under which pages of a kind work. It follows from the build and not from the page: a style or a
 * script that got into a page in any other way stays without effect.
 *
 * @param themeCss  the operator's variables, the one style that the build does not know
 */
export function policyOf(kind: ViewKind, { styles, scripts }: BuiltContents, themeCss: string | null): Policy {
  const directives = [
    "default-src 'none'",
    `script-src ${sourceList(scripts)}`,
    `style-src ${sourceList(themeCss === null ? styles : [...styles, themeCss])}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    ...(KINDS_WITH_FRAMES.has(kind) ? ["frame-src 'self'"] : []),
    `form-action ${KINDS_WITH_FORMS.has(kind) ? "'self'" : "'none'"}`,
    "base-uri 'none'",
  ].join(';');
  return {
    header: directives,
    meta: `<meta http-equiv="Content-Security-Policy" content="${directives}">`,
  };
}

function sourceList(contents: readonly string[]): string {
  if (contents.length === 0) return "'none'";
  return contents.map((content) => `'sha256-${hash('sha256', content, 'base64')}'`).join(' ');
}
