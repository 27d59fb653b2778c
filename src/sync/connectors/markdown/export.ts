/** Posts from elsewhere (the store, another status page) as files that the markdown connector reads to the same effect. */

import { stringify } from 'yaml';
import type { z } from 'zod';
import { toIso } from '../../../model/time.ts';
import { type PostUpdate, UPDATE_HEADING } from './read.ts';
import type { PostSchema } from './schema.ts';
import type { NewFile } from './write.ts';

/** What a file says. */
export interface WrittenFile {
  /** Its front matter; what is left out has its default. */
  readonly post: z.input<typeof PostSchema>;
  /** Markdown before the first update. */
  readonly opening: string;
  readonly updates: readonly PostUpdate[];
}

/** The file of a post; its name is the post's id. */
export function writtenFile(id: string, { post, opening, updates }: WrittenFile): NewFile {
  const parts = [
    escaped(opening),
    ...updates.map(
      ({ at, status, body }) => `## ${toIso(at)}${status === null ? '' : ` ${status}`}\n\n${escaped(body)}`,
    ),
  ].map((part) => part.trim());
  const text = parts.filter((part) => part !== '').join('\n\n');
  return {
    name: `${id}.md`,
    text: `---\n${stringify(post, { lineWidth: 0 })}---\n${text === '' ? '' : `\n${text}\n`}`,
  };
}

/** A line of text that looks like the heading of an update is not to become one. */
function escaped(body: string): string {
  return body
    .split(/\r?\n/)
    .map((line) => (UPDATE_HEADING.test(line) ? `\\${line}` : line))
    .join('\n');
}
