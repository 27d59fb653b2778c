/** The templates as text: what they import, and the rules of their styles. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const SRC = resolve(import.meta.dirname, '../../src');

export interface Template {
  /** Below `src`. */
  readonly path: string;
  /** Without its style. */
  readonly text: string;
  /** Null: it has none. The operator's variables are no style of a template. */
  readonly style: { readonly isGlobal: boolean; readonly selectors: readonly string[] } | null;
}

export function readTemplates(): Template[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.astro'))
    .map((path) => {
      const text = readFileSync(join(SRC, path), 'utf8');
      const [style, isGlobal, css = ''] = /\n<style( is:global)?>([\s\S]*)<\/style>/.exec(text) ?? [''];
      return {
        path,
        text: text.replace(style, ''),
        style: style === '' ? null : { isGlobal: isGlobal !== undefined, selectors: outermostSelectors(css) },
      };
    });
}

/** Selectors of the rules that stand in no other rule. */
function outermostSelectors(css: string): string[] {
  const selectors: string[] = [];
  let depth = 0;
  let from = 0;
  for (const [at, character] of [...css].entries()) {
    if (character === '{' && depth === 0) selectors.push(css.slice(from, at).trim());
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === '}' && depth === 0) from = at + 1;
  }
  return selectors;
}

/** Paths of what a template draws with, itself included. */
export function partsOf(templates: readonly Template[], path: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const look = (one: string): void => {
    if (seen.has(one)) return;
    seen.add(one);
    const { text } = templates.find((template) => template.path === one) ?? { text: '' };
    for (const [, specifier = ''] of text.matchAll(/^import \w+ from '([^']+\.astro)';$/gm))
      look(relative(SRC, resolve(SRC, dirname(one), specifier)));
  };
  look(path);
  return seen;
}

/** The class that a rule begins with. */
export function firstClassOf(selector: string): string | null {
  return /^\.([\w-]+)(?![\w-])/.exec(selector)?.[1] ?? null;
}
