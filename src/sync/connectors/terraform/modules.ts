/** A folder of `.tf` files with the folders that its `module` blocks name, asked one after the other. */

import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ask, type Pull, type Question } from '../../connector.ts';
import type { Note } from './document.ts';
import { type Block, type ModuleFiles, readModuleFiles, SourceFault, type SourceFile } from './hcl.ts';

export interface ModuleTree {
  readonly files: ModuleFiles;
  /** By the name of the block that calls them. */
  readonly children: ReadonlyMap<string, ModuleTree>;
  readonly notes: readonly Note[];
}

/** Modules within modules; deeper is a circle. */
const DEPTH_MAX = 10;

const SourceFilesSchema = z.array(z.object({ name: z.string(), text: z.string(), fault: z.string().optional() }));

function moduleFilesSchema(isRoot: boolean): z.ZodType<ModuleFiles> {
  return SourceFilesSchema.transform((files, context) => readOrIssue(files, isRoot, context));
}

/** One `.tf` or `.tf.json` file, read as a module of its own. */
export function sourceFileSchema(name: string): z.ZodType<ModuleFiles> {
  return z.string().transform((text, context) => readOrIssue([{ name, text }], true, context));
}

async function readOrIssue(
  files: readonly SourceFile[],
  isRoot: boolean,
  context: z.core.$RefinementCtx,
): Promise<ModuleFiles> {
  try {
    return await readModuleFiles(files, isRoot);
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error;
    context.issues.push({ code: 'custom', input: files, path: [], message: error.message });
    return z.NEVER;
  }
}

/** Asks for a folder and for every folder of this machine that its modules are in. */
export function* readFolder(folder: string): Pull<ModuleTree> {
  return yield* withModules(yield* readFiles(folder, true), { folder, path: '', depth: 0 });
}

/** Asks for the folders that the modules of one file are in; null: the file is not of this machine. */
export function* readModulesOf(files: ModuleFiles, file: string | null): Pull<ModuleTree> {
  return yield* withModules(files, { folder: file === null ? null : dirname(file), path: '', depth: 0 });
}

function* readFiles(folder: string, isRoot: boolean): Pull<ModuleFiles> {
  const { payload } = yield* ask({
    name: 'read resources',
    priority: 'list',
    method: 'GET',
    url: pathToFileURL(folder).href,
    headers: {},
    reads: 'folder',
    schema: moduleFilesSchema(isRoot),
  } satisfies Question<ModuleFiles>);
  return payload;
}

interface Place {
  /** Null: it cannot be read from. */
  readonly folder: string | null;
  /** Of the module, as in addresses: `module.web.`. */
  readonly path: string;
  readonly depth: number;
}

function* withModules(files: ModuleFiles, { folder, path, depth }: Place): Pull<ModuleTree> {
  const children = new Map<string, ModuleTree>();
  const notes: Note[] = [...files.notes];
  for (const { labels, body } of files.blocks.filter(({ kind }) => kind === 'module')) {
    const [name = ''] = labels;
    const reason = whyLeftOut(body, { folder, depth });
    if (reason !== null || folder === null) {
      notes.push({ place: `${path}module.${name}`, message: `left out: ${reason ?? 'its folder is unknown'}` });
      continue;
    }
    const inner = join(folder, String(body['source'])).replace(/(?<=.)\/+$/, '');
    const read = yield* readFiles(inner, false);
    children.set(name, yield* withModules(read, { folder: inner, path: `${path}module.${name}.`, depth: depth + 1 }));
  }
  return { files, children, notes };
}

function whyLeftOut(body: Block['body'], { folder, depth }: Pick<Place, 'folder' | 'depth'>): string | null {
  const { source } = body;
  if ('count' in body || 'for_each' in body)
    return 'its count or for_each is known only to Terraform; use a state or the output of terraform show -json';
  if (typeof source !== 'string' || !/^\.\.?(\/|$)/.test(source))
    return 'it is a remote module that only Terraform downloads; use a state or the output of terraform show -json';
  if (folder === null) return 'its folder can’t be read over HTTP';
  return depth >= DEPTH_MAX ? 'modules are nested too deeply' : null;
}
