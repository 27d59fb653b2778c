/**
 * Folders of `.tf`, `.tf.json` and tfvars files as Terraform puts them together: one module each, and the folders that its
 * `module` blocks name. Nothing is evaluated here.
 */

import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Problem } from '../../../model/observation.ts';
import { ask, type Pull } from '../../connector.ts';
import { compareIds, note } from '../items.ts';

// What Terraform's files become before anything is made of them: resources by address, their ids, and those of our
// brand. The states of back ends (version 4: Terraform 0.12 and later, OpenTofu) are read here; `plan.ts` and `hcl.ts`
// read the rest.

export interface Resource {
  /** As Terraform writes it: `module.web.svc_http_monitor.api["eu"]`. */
  readonly address: string;
  readonly mode: 'managed' | 'data';
  /** With its brand: `svc_http_monitor`. */
  readonly type: string;
  readonly name: string;
  /** Null attributes are left out. What refers to a resource that has no id yet holds its address. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Attributes that are set to something that cannot be seen here. */
  readonly hidden: ReadonlySet<string>;
}

export interface Document {
  readonly resources: readonly Resource[];
  /** What could not be taken, by place. */
  readonly notes: readonly Problem[];
}

/** Attributes of components and channels that name other resources, and the types that they may name, without brand. */
export const REFERENCES: Readonly<Record<string, RegExp>> = {
  page_id: /^status_page$/,
  group_id: /^status_page_component_group$/,
  monitor_id: /^([a-z]+_)?monitor$/,
  monitor_ids: /^([a-z]+_)?monitor$/,
};

/** Without what is null. */
export function withoutNulls(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}

const InstanceSchema = z.object({
  index_key: z.union([z.string(), z.number()]).nullish(),
  attributes: z.record(z.string(), z.unknown()).nullish(),
  deposed: z.string().nullish(),
});

const StateResourceSchema = z.object({
  module: z.string().optional(),
  mode: z.enum(['managed', 'data']),
  type: z.string(),
  name: z.string(),
  instances: z.array(InstanceSchema),
});

export const StateSchema: z.ZodType<Document> = z
  .object({ version: z.literal(4), resources: z.array(StateResourceSchema) })
  .transform(({ resources }): Document => {
    const notes: Problem[] = [];
    const read = resources.flatMap(({ module, mode, type, name, instances }) =>
      instances.flatMap(({ index_key: key, attributes, deposed }): Resource[] => {
        const index = key === undefined || key === null ? '' : `[${JSON.stringify(key)}]`;
        const place = `${module === undefined ? '' : `${module}.`}${mode === 'data' ? 'data.' : ''}`;
        const address = `${place}${type}.${name}${index}`;
        if (typeof deposed === 'string' && deposed !== '') {
          notes.push(note(address, `left out: replaced, and about to be destroyed (deposed ${deposed})`));
          return [];
        }
        return [{ address, mode, type, name, values: withoutNulls(attributes ?? {}), hidden: new Set() }];
      }),
    );
    return { resources: read, notes };
  });

/** @param resources  with `type` still carrying its brand or not; ids of one type are kept apart from those of others */
function identify(resources: readonly Resource[]) {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const resource of resources.toSorted((a, b) => compareIds(a.address, b.address))) {
    const there = toText(resource.values['id']);
    const base = there ?? nameOf(resource);
    let id = base;
    for (let number = 2; there === null && taken.has(`${resource.type} ${id}`); number += 1) id = `${base}-${number}`;
    taken.add(`${resource.type} ${id}`);
    ids.set(resource.address, id);
  }
  return {
    /** Unique among resources of its type, and made of letters, digits, `.`, `_` and `-` where it is not the service's own. */
    idOf: ({ address }: Resource): string => ids.get(address) ?? address,
    /** The id that a value means: one there, or an address of this document. Null: an address that is not in it. */
    referenced: (value: unknown): string | null => {
      const text = toText(value);
      if (text === null) return null;
      return ids.get(text) ?? (isAddress(text) ? null : text);
    },
  };
}

/** Before it is applied: the name, after those of its modules, before the key of its instance; of a monitor its type first. */
function nameOf({ address, type, name }: Resource): string {
  const modules = [...address.matchAll(/(?:^|\.)module\.([\w-]+)(?:\[("?)([^\]]*?)\2\])?/g)];
  const path = modules.flatMap(([, module, , key]) => [module, key]);
  const [, , key] = /\[("?)([^\]]*?)\1\]$/.exec(address) ?? [];
  const words = [...path, name, key].filter((word) => word !== undefined && word !== '').join('-');
  const plain = words.replace(/[^\w-]+/g, '-');
  return type.endsWith('monitor') ? `${type}.${plain}` : plain;
}

/** Whether a text is written as Terraform writes an address with a type of two words at least: `svc_status_page.main`. */
function isAddress(text: string): boolean {
  return /^(module\.[\w-]+(\[[^\]]*\])?\.)*(data\.)?[a-z]+_\w+\.[\w-]+(\[[^\]]*\])?$/.test(text);
}

/** Text, also where it was written as a number; null: there is none. */
export function toText(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : null;
}

export interface Origin {
  readonly upstreamId: string;
  /** `svc_` or `openstatus_`. */
  readonly brand: string;
  /** Upstream whose monitors the components show; null: the monitors of this file are monitors themselves. */
  readonly monitorUpstream: string | null;
}

export type ProjectFacts = ReturnType<typeof readFacts>;

/** What of a document is ours: resources of the brand, types without it, sorted by address. */
export function readFacts(document: Document, origin: Origin) {
  const resources = document.resources
    .filter(({ type }) => type.startsWith(origin.brand))
    .map((resource) => ({ ...resource, type: resource.type.slice(origin.brand.length) }))
    .toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  return { resources, identities: identify(resources), origin };
}

const SourceFileSchema = z.object({ name: z.string(), text: z.string(), fault: z.string().optional() });
/** `fault`: why it could not be opened. */
type SourceFile = z.output<typeof SourceFileSchema>;

type Body = Readonly<Record<string, unknown>>;

/** A block by the names that it carries: `resource "svc_http_monitor" "api"`. */
export interface Block {
  readonly kind: 'resource' | 'data' | 'module' | 'variable' | 'output';
  readonly labels: readonly string[];
  readonly body: Body;
}

type ModuleFiles = Awaited<ReturnType<typeof readModuleFiles>>;

const BodySchema = z.record(z.string(), z.unknown());
const LABELS: Readonly<Record<Block['kind'], number>> = { resource: 2, data: 2, module: 1, variable: 1, output: 1 };

/**
 * Reads the files of one folder. Overrides (`override.tf`, `*_override.tf`) replace attributes of what they name.
 *
 * @param isRoot  tfvars files count for the root module only
 * @throws SourceFault naming file, line and column, never what stands there
 */
async function readModuleFiles(files: readonly SourceFile[], isRoot: boolean) {
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const sources = sorted.filter(({ name }) => /\.tf(\.json)?$/.test(name));
  const closed = sorted.find(({ name, fault }) => fault !== undefined && /\.(tf|tfvars)(\.json)?$/.test(name));
  if (closed !== undefined) throw new SourceFault(`${closed.name} ${closed.fault}`);
  const isOverride = ({ name }: SourceFile): boolean => /^(.*_)?override\.tf(\.json)?$/.test(name);
  const plain = await Promise.all(sources.filter((file) => !isOverride(file)).map(parseSource));
  const overrides = await Promise.all(sources.filter(isOverride).map(parseSource));
  return {
    blocks: overrides.flatMap(blocksIn).reduce(overridden, plain.flatMap(blocksIn)),
    locals: merged([...plain, ...overrides].map(localsIn)),
    ...(await readVariables(isRoot ? sorted : [])),
  };
}

/** A file that cannot be read as what its name says. */
class SourceFault extends Error {}

async function parseSource({ name, text }: SourceFile): Promise<Body> {
  if (!name.endsWith('.json')) return parseHcl(name, text);
  try {
    return BodySchema.parse(JSON.parse(text));
  } catch {
    throw new SourceFault(`${name} is not a JSON object`);
  }
}

async function parseHcl(name: string, text: string): Promise<Body> {
  // Loaded when it is needed: it is a compiled program of several megabytes.
  const { parse } = await import('@cdktf/hcl2json');
  try {
    return BodySchema.parse(await parse(name, text));
  } catch (error) {
    // Its message names file, line and column; what stands there stays out.
    const [place] = /\[[^\]:]*:\d+,\d+/.exec(error instanceof Error ? error.message : '') ?? [`[${name}`];
    throw new SourceFault(`not valid HCL at ${place.slice(1)}`);
  }
}

function blocksIn(source: Body): Block[] {
  return (Object.keys(LABELS) as Block['kind'][]).flatMap((kind) =>
    bodiesIn(source[kind], LABELS[kind]).map(({ labels, body }) => ({ kind, labels, body })),
  );
}

/** In JSON every level may be one object or a list of them; `//` is a comment. */
function bodiesIn(value: unknown, depth: number, labels: readonly string[] = []): Omit<Block, 'kind'>[] {
  if (Array.isArray(value)) return value.flatMap((item) => bodiesIn(item, depth, labels));
  const body = BodySchema.safeParse(value);
  if (!body.success) return [];
  if (depth === 0) return [{ labels, body: body.data }];
  return Object.entries(body.data).flatMap(([label, inner]) =>
    label === '//' ? [] : bodiesIn(inner, depth - 1, [...labels, label]),
  );
}

/** The later of two entries wins; whatever their names, none is more than an entry. */
function merged(bodies: readonly Body[]): Body {
  return Object.fromEntries(bodies.flatMap((body) => Object.entries(body)));
}

function localsIn(source: Body): Body {
  return merged(bodiesIn(source['locals'], 0).map(({ body }) => body));
}

function overridden(blocks: readonly Block[], override: Block): readonly Block[] {
  const isSame = (block: Block): boolean =>
    block.kind === override.kind && block.labels.join('\0') === override.labels.join('\0');
  return blocks.map((block) => (isSame(block) ? { ...block, body: merged([block.body, override.body]) } : block));
}

/** In Terraform's order, the later wins; other tfvars files count only when somebody names them on its command line. */
async function readVariables(sorted: readonly SourceFile[]) {
  const order = [/^terraform\.tfvars$/, /^terraform\.tfvars\.json$/, /\.auto\.tfvars(\.json)?$/];
  const taken = order.flatMap((pattern) => sorted.filter(({ name }) => pattern.test(name)));
  const left = sorted.filter((file) => /\.tfvars(\.json)?$/.test(file.name) && !taken.includes(file));
  const bodies = await Promise.all(taken.map(parseSource));
  return {
    /** Values that tfvars files give to variables. */
    variables: merged(bodies),
    notes: left.map(({ name }) => note(name, 'left out: Terraform reads it only with -var-file')),
  };
}

export interface ModuleTree {
  readonly files: ModuleFiles;
  /** By the name of the block that calls them. */
  readonly children: ReadonlyMap<string, ModuleTree>;
  readonly notes: readonly Problem[];
}

/** Modules within modules; deeper is a circle. */
const DEPTH_MAX = 10;

function moduleFilesSchema(isRoot: boolean): z.ZodType<ModuleFiles> {
  return z.array(SourceFileSchema).transform((files, context) => readOrIssue(files, isRoot, context));
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
export function readModules(files: ModuleFiles, file: string | null): Pull<ModuleTree> {
  return withModules(files, { folder: file === null ? null : dirname(file), path: '', depth: 0 });
}

function* readFiles(folder: string, isRoot: boolean): Pull<ModuleFiles> {
  const url = pathToFileURL(folder).href;
  return (yield* ask({ name: 'read resources', url, reads: 'folder', schema: moduleFilesSchema(isRoot) })).payload;
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
  const notes: Problem[] = [...files.notes];
  for (const { labels, body } of files.blocks.filter(({ kind }) => kind === 'module')) {
    const [name = ''] = labels;
    const reason = explainOmission(body, { folder, depth });
    if (reason !== null || folder === null) {
      notes.push(note(`${path}module.${name}`, `left out: ${reason ?? 'its folder is unknown'}`));
      continue;
    }
    const inner = join(folder, String(body['source'])).replace(/(?<=.)\/+$/, '');
    const read = yield* readFiles(inner, false);
    children.set(name, yield* withModules(read, { folder: inner, path: `${path}module.${name}.`, depth: depth + 1 }));
  }
  return { files, children, notes };
}

function explainOmission(body: Block['body'], { folder, depth }: Pick<Place, 'folder' | 'depth'>): string | null {
  const { source } = body;
  if ('count' in body || 'for_each' in body)
    return 'its count or for_each is known only to Terraform; use a state or the output of terraform show -json';
  if (typeof source !== 'string' || !/^\.\.?(\/|$)/.test(source))
    return 'it is a remote module that only Terraform downloads; use a state or the output of terraform show -json';
  if (folder === null) return 'its folder can’t be read over HTTP';
  return depth >= DEPTH_MAX ? 'modules are nested too deeply' : null;
}
