/** Writes what documents say of the code: `npm run reference`. A test compares the two. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BADGE_KINDS, kindMeaning } from '../src/badges/kinds.ts';
import { CONNECTORS } from '../src/sync/connectors/index.ts';
import { configReference } from './config-reference.ts';
import { configJsonSchema } from './config-schema.ts';
import { documentedOperations } from './statuspage-operations.ts';

const ROOT = join(import.meta.dirname, '..');

/** Every file with something made from the code, as it should be: by its path in the repository. */
export function references(): Readonly<Record<string, string>> {
  return {
    'docs/configuration.md': configReference(),
    // What editors read for completion in pharos.yaml.
    'docs/pharos.schema.json': `${JSON.stringify(configJsonSchema(CONNECTORS), null, 2)}\n`,
    'docs/badges.md': withTable(
      'docs/badges.md',
      ['kind', 'shows'],
      BADGE_KINDS.map((kind) => [`\`${kind}\``, kindMeaning(kind)]),
    ),
    'docs/manage-api.md': withTable(
      'docs/manage-api.md',
      ['operation of Statuspage', 'here', 'what differs'],
      documentedOperations().map(({ method, path, verdict, note }) => [`\`${method} ${path}\``, verdict, note]),
    ),
    'docs/upstreams.md': withTable(
      'docs/upstreams.md',
      ['kind', 'what it is'],
      CONNECTORS.map(({ kind, title }) => [`[\`${kind}\`](upstreams/${kind}.md)`, title]),
    ),
  };
}

/** A document with the rows of the table that has these headings. */
function withTable(path: string, headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const head = `${line(headings)}|${headings.map(() => '---|').join('')}\n`;
  const text = readFileSync(join(ROOT, path), 'utf8');
  const [before, after] = text.split(head);
  if (before === undefined || after === undefined) throw new Error(`${path} has no table of ${headings.join(', ')}`);
  return before + head + rows.map(line).join('') + after.replace(/^(?:\|.*\n)*/, '');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [path, text] of Object.entries(references())) writeFileSync(join(ROOT, path), text);
