/** What a drawn page may do: nothing but what stands in it, and that only when it came out of the build. */

import { hash } from 'node:crypto';
import type { ViewKind } from '../views/html.ts';

export interface Policy {
  /** The value of the header; who may frame the page is for the host to add, since a document cannot say it. */
  readonly header: string;
  /** The element for hosts that send no headers. */
  readonly meta: string;
}

export interface PolicyInit {
  readonly kind: ViewKind;
  /** Hashes of the styles and scripts that the build made, as `sha256-…`. */
  readonly trusted: ReadonlySet<string>;
  /** The operator's variables: the one style that the build does not know. */
  readonly themeCss: string | null;
}

const INLINE = /<(style|script)\b[^>]*>([\s\S]*?)<\/\1>/g;
const KINDS_WITH_FORMS: ReadonlySet<ViewKind> = new Set(['login', 'ops', 'ops-sign-in']);

/**
 * The strictest policy under which the page works. A style or script is allowed by its hash if the build made it and
 * this page has it; anything else between such tags, however it got there, stays without effect.
 */
export function policyOf(page: string, { kind, trusted, themeCss }: PolicyInit): Policy {
  const theme = themeCss === null ? null : hashOf(themeCss);
  const hashes: Record<string, Set<string>> = { style: new Set(), script: new Set() };
  for (const [, tag = '', content = ''] of page.matchAll(INLINE)) {
    const found = hashOf(content);
    if (trusted.has(found) || found === theme) hashes[tag]?.add(`'${found}'`);
  }
  const directives = [
    "default-src 'none'",
    `script-src ${listOf(hashes['script'])}`,
    `style-src ${listOf(hashes['style'])}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    `form-action ${KINDS_WITH_FORMS.has(kind) ? "'self'" : "'none'"}`,
    "base-uri 'none'",
  ].join(';');
  return {
    header: directives,
    meta: `<meta http-equiv="Content-Security-Policy" content="${directives}">`,
  };
}

function listOf(hashes: ReadonlySet<string> | undefined): string {
  return hashes === undefined || hashes.size === 0 ? "'none'" : [...hashes].join(' ');
}

/** Contents are few and repeat on every page. */
const KNOWN_MAX = 500;
const known = new Map<string, string>();

/** As a policy names it: `sha256-…`. */
export function hashOf(content: string): string {
  const found = known.get(content);
  if (found !== undefined) return found;
  const made = `sha256-${hash('sha256', content, 'base64')}`;
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(content, made);
  return made;
}
