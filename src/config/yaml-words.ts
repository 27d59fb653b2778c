/** What is wrong with a file that is not YAML, in words for the person who can fix it. */

import { type Alias, type Document, isCollection, isMap, visit, type YAMLParseError } from 'yaml';

/** By the code of the parser; its own words for what is not here. */
const WORDS: Readonly<Partial<Record<YAMLParseError['code'], string>>> = {
  BAD_DQ_ESCAPE: 'unknown escape sequence. Write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'wrong indentation. Keys of a mapping start in the same column, and so do the entries of a list',
  BAD_SCALAR_START: 'text can’t start with this character. Put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping can’t start here. If this is text that contains ": ", put it in quotes',
  DUPLICATE_KEY: 'this key is used twice in the same mapping',
  MULTILINE_IMPLICIT_KEY: 'expected a key and ":" on one line',
  MULTIPLE_DOCS: 'there is more than one document. Remove the line ---',
  TAB_AS_INDENT: 'tabs can’t be used for indentation. Use spaces',
};

/** What begins and never ends: such a fault is found at the end of the file, and made at the beginning of this. */
type Open = 'quote' | '{' | '[';

export function yamlWords(error: YAMLParseError): string {
  const open = openOf(error);
  if (open !== null) return `this ${open} is not closed`;
  return WORDS[error.code] ?? error.message.charAt(0).toLowerCase() + error.message.slice(1);
}

/** Offsets of the fault. */
export function yamlPlace(error: YAMLParseError, tree: Document.Parsed): readonly [start: number, end: number] {
  const open = openOf(error);
  const [at, end] = error.pos;
  if (open === null) return error.pos;
  let start = at;
  visit(tree, {
    Node: (_key, node) => {
      const [from = at, to = from] = node.range ?? [];
      const isIt = open === 'quote' ? isQuoted(node) : isCollection(node) && isMap(node) === (open === '{');
      if (isIt && from < at && to >= at) start = from;
    },
  });
  return open === 'quote' ? [start, end] : [start, start + 1];
}

/** The first alias to nothing, which the parser takes for YAML. */
export function unknownAlias(tree: Document.Parsed): Alias | null {
  let found: Alias | null = null;
  visit(tree, {
    Alias: (_key, node) => {
      if (node.resolve(tree) !== undefined) return undefined;
      found = node;
      return visit.BREAK;
    },
  });
  return found;
}

function openOf({ message }: YAMLParseError): Open | null {
  if (/^Missing closing ["']quote/.test(message)) return 'quote';
  const [, collection] = /^Flow (map|sequence)\b.* end with a /.exec(message) ?? [];
  return collection === undefined ? null : collection === 'map' ? '{' : '[';
}

function isQuoted(node: unknown): boolean {
  return (node as { readonly type?: string }).type?.startsWith('QUOTE') === true;
}
