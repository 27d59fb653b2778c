import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { findConfig } from '../config/load.ts';
import { CONNECTORS } from '../sync/connectors/index.ts';
import type { NameSource } from './terminal/completion.ts';
import { EXIT_DONE } from './terminal/exit.ts';

/**
 * Prints names for a shell to offer, one per line. Reads as much as possible of an invalid configuration, and never
 * fails.
 *
 * @param line  words of the command line so far, which may name a configuration
 */
export function complete(source: NameSource, line: readonly string[]): number {
  const names = source === 'kinds' ? [...CONNECTORS.map(({ kind }) => kind), 'none'] : namesIn(source, configIn(line));
  process.stdout.write([...new Set(names)].map((name) => `${name}\n`).join(''));
  return EXIT_DONE;
}

/** The value of `--config` or `-c`, if any. Bash splits `--config=a.yaml` into three words. */
function configIn(line: readonly string[]): string | undefined {
  const words = line.filter((word) => word !== '=');
  const at = words.findLastIndex((word) => /^(?:-c|--config(?:=.*)?)$/.test(word));
  if (at === -1) return undefined;
  return /^--config=(.*)$/.exec(words[at] ?? '')?.[1] ?? words[at + 1];
}

function namesIn(source: Exclude<NameSource, 'kinds'>, config: string | undefined): readonly string[] {
  try {
    const found = findConfig(config, process.cwd());
    const sketch = (found === null ? {} : (parse(found.text) as Readonly<Record<string, unknown>> | null)) ?? {};
    if (source === 'upstreams') return readFields(sketch['upstreams'], 'id');
    if (source === 'channels') return readFields(sketch['notifications'], 'id');
    const data = resolve(found === null ? '.' : dirname(found.file ?? '.'), String(sketch['data'] ?? 'data'));
    return [...readFields(sketch['pages'], 'slug'), ...publishedIn(data)];
  } catch {
    return [];
  }
}

function readFields(list: unknown, field: string): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.map((item: unknown) => (item as Record<string, unknown> | null)?.[field]).filter(isName);
}

/** Pages of upstreams aren't in the configuration. */
function publishedIn(data: string): readonly string[] {
  return ['public', 'private'].flatMap((gate) => {
    const folder = join(data, 'site', gate);
    return existsSync(folder) ? readdirSync(folder).filter(isName) : [];
  });
}

/** Names that need no quotes in a shell. Names that begin with `_` or `.` aren't pages. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[a-z0-9][\w-]*$/i.test(name);
}
