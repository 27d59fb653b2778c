/** The configuration of a cState site. */

import { parse } from 'yaml';
import { z } from 'zod';
import { check, faultText } from '../../schema/issue-words.ts';
import { dropped, type ImportNote } from '../site.ts';
import type { SourceFile } from '../source.ts';

const WordSchema = z.string().nullish().catch(null);
const FlagSchema = z.boolean().nullish().catch(null);

const ConfigSchema = z.object({
  title: WordSchema,
  timeZone: WordSchema,
  params: z
    .object({
      description: WordSchema,
      categories: z
        .array(z.object({ name: z.string(), description: WordSchema, closed: FlagSchema, untitled: FlagSchema }))
        .nullish(),
      systems: z
        .array(z.object({ name: z.string(), description: WordSchema, category: WordSchema, link: WordSchema }))
        .nullish(),
    })
    .nullish(),
});
export type Config = z.output<typeof ConfigSchema>;

const CONFIG_FILE = /^(?:config|hugo)\.ya?ml$/;
/** What it says; where it cannot be read, nothing, and a note. */
export function readConfig(files: readonly SourceFile[], notes: ImportNote[]): Config {
  const empty: Config = { title: null, timeZone: null, params: null };
  const file = files.find(({ path }) => CONFIG_FILE.test(path));
  const others = files.filter(({ path }) => /^(?:config|hugo)\.(?:toml|json)$/.test(path)).map(({ path }) => path);
  if (file === undefined) {
    notes.push(
      dropped(
        others[0] ?? 'config.yml',
        'only YAML is supported (config.yml, hugo.yaml), so groups and descriptions are missing and only components named by issues are imported. Convert it to YAML and import again with --update',
      ),
    );
    return empty;
  }
  const parsed = check(ConfigSchema, yamlOf(file.text));
  if (parsed.success) return parsed.data;
  notes.push(dropped(file.path, `${faultText(parsed.faults[0])}; only components named by issues are imported`));
  return empty;
}

/** YAML as data; null: it is none. */
export function yamlOf(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}
