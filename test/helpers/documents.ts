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

/** A block may be part of a list, and is then indented as a whole. */
const BLOCK = /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm;

export function codeBlocks({ path, text }: Document): readonly CodeBlock[] {
  return [...text.matchAll(BLOCK)].map((match) => ({
    place: `${path}:${text.slice(0, match.index).split('\n').length}`,
    language: match[2] ?? '',
    text: (match[3] ?? '').replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
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
export function innerLinks(document: Document): readonly string[] {
  return links(document).flatMap(({ file }) => (file === document.path ? [] : [file]));
}

/** Links to headings, as the file from the root of the repository and the anchor. */
export function anchorLinks(document: Document): readonly { readonly file: string; readonly anchor: string }[] {
  return links(document).flatMap(({ file, anchor }) => (anchor === '' ? [] : [{ file, anchor }]));
}

function links({ path, text }: Document): readonly { readonly file: string; readonly anchor: string }[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#'))
    .filter(([file = '']) => !/^[a-z]+:/i.test(file))
    .map(([file = '', anchor = '']) => ({
      file: file === '' ? path : relative(ROOT, resolve(ROOT, dirname(path), file)),
      anchor,
    }));
}

/** Anchors that GitHub gives to the headings of a document. */
export function anchorsOf({ text }: Document): readonly string[] {
  return [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A document without its blocks. */
export function proseOf(text: string): string {
  return text.replace(BLOCK, '');
}
