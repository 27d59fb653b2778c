/** The documents of the project, cut into what a test can try. */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface CodeBlock {
  /** `docs/install.md:12`, for messages. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
}

export interface Document {
  readonly path: string;
  readonly text: string;
}

/** README.md, CONTRIBUTING.md and everything below docs/. */
export function documents(): readonly Document[] {
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) =>
    join('docs', name),
  );
  return ['README.md', 'CONTRIBUTING.md', ...below.filter((name) => name.endsWith('.md')).toSorted()].map((path) => ({
    path,
    text: readFileSync(join(ROOT, path), 'utf8'),
  }));
}

export function codeBlocks({ path, text }: Document): readonly CodeBlock[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    place: `${path}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
}

/** Lines of a shell block, without comments. */
export function shellLines({ text }: CodeBlock): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\s+#\s.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** `a "b c"` as its words; quotes group, variables are replaced. */
export function shellWords(line: string, variables: Readonly<Record<string, string>> = {}): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2').replace(/\$([A-Z_]+)/g, (_, name: string) => variables[name] ?? ''),
  );
}

/** Targets of links inside the repository, as paths from its root; anchors cut off. */
export function innerLinks({ path, text }: Document): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/i.test(target))
    .map((target) => relative(ROOT, resolve(ROOT, dirname(path), target)));
}
