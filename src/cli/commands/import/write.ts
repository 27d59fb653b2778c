/** Writes what an import made: posts that are new, the page as a part of a configuration, and a line for what is not as it was. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import type { z } from 'zod';
import { now } from '../../../app/clock.ts';
import { importFiles } from '../../../imports/files.ts';
import type { ImportContext, ImportedSite, ImportNote } from '../../../imports/site.ts';
import { quoted } from '../../../imports/site.ts';
import { toSlug } from '../../../model/slugs.ts';
import { counted } from '../../../schema/counted.ts';
import { check } from '../../../schema/issue-words.ts';
import { IdSchema, SlugSchema, TimezoneSchema } from '../../../schema/scalars.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../../terminal/exit.ts';
import { paragraph } from '../../terminal/table.ts';
import { print } from '../common.ts';

export interface ImportOptions {
  readonly out: string;
  readonly upstream: string;
  readonly page: string;
  readonly timezone: string;
  readonly update?: boolean;
  /** Of Upptime: a file of issues; default: GitHub is asked. */
  readonly issues?: string;
  /** Of Uptime Kuma: slug of its page; default: the only one. */
  readonly statusPage?: string;
  /** Of a monitoring tool: Pharos makes its checks from now on. */
  readonly checks?: boolean;
  readonly json?: boolean;
}

/** What the command line says, checked. @throws UsageError */
export function parseContext({ page, timezone, upstream, checks }: ImportOptions): ImportContext {
  checked('--page', SlugSchema, page);
  checked('--upstream', IdSchema, upstream);
  return { page, zone: checked('--timezone', TimezoneSchema, timezone), now: now(), makesChecks: checks === true };
}

function checked<T>(option: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = check(schema, value);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${option} ${quoted(value)}: ${parsed.faults[0].message}.`);
}

interface Written {
  readonly file: string;
  /** `kept`: another text is there, and it stays. */
  readonly outcome: 'new' | 'unchanged' | 'updated' | 'kept';
}

/**
 * Writes the files of an import into a folder. What is there with another text stays, unless it is to be updated: it may have
 * been edited since.
 */
export function writeImport(site: ImportedSite, context: ImportContext, options: ImportOptions): number {
  const folder = resolve(options.out);
  const files = importFiles(site, {
    ...context,
    upstreamId: options.upstream,
    folder: `./${relative(process.cwd(), folder)}`,
  });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): Written => writeOne(join(folder, name), text, options.update === true);
  const posts = files.posts.map(({ name, text }) => write(name, text));
  const page = write(`${toSlug(context.page)}.pages.yaml`, files.fragment);
  const isWhole = files.notes.every(({ kind }) => kind === 'changed');
  print(
    options.json === true,
    { ok: true, posts, page, notes: files.notes },
    [
      ...told([...posts, page]),
      ...files.notes.map((note) => paragraph(noteLine(note), '  ')),
      '',
      ...summary(posts, page),
    ].join('\n'),
  );
  return isWhole || posts.length > 0 ? EXIT_DONE : EXIT_FAILED;
}

function writeOne(file: string, text: string, isUpdating: boolean): Written {
  if (!existsSync(file)) {
    writeFileSync(file, text, { flag: 'wx' });
    return { file, outcome: 'new' };
  }
  if (readFileSync(file, 'utf8') === text) return { file, outcome: 'unchanged' };
  if (!isUpdating) return { file, outcome: 'kept' };
  writeFileSync(file, text);
  return { file, outcome: 'updated' };
}

function told(written: readonly Written[]): string[] {
  return written
    .filter(({ outcome }) => outcome !== 'unchanged')
    .map(({ file, outcome }) => {
      const path = relative(process.cwd(), file);
      return outcome === 'kept'
        ? `= ${path} exists with different text and was kept; --update overwrites it`
        : `+ ${path}`;
    });
}

function noteLine({ kind, place, message }: ImportNote): string {
  return `${kind === 'dropped' ? '✗' : '~'} ${plainLine(place)}: ${plainLine(message)}`;
}

/** Words of others may hold what moves a terminal's cursor. */
function plainLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

function summary(posts: readonly Written[], page: Written): string[] {
  const count = (outcome: Written['outcome']): number => posts.filter((one) => one.outcome === outcome).length;
  const counts = [
    `${count('new')} new`,
    `${count('unchanged')} unchanged`,
    ...(count('updated') === 0 ? [] : [`${count('updated')} updated`]),
    ...(count('kept') === 0 ? [] : [`${count('kept')} left unchanged`]),
  ];
  return [
    `${counted(posts.length, 'posts')}: ${counts.join(', ')}.`,
    `Next: copy the contents of ${basename(page.file)} into pharos.yaml, then run \`pharos check\`.`,
  ];
}
