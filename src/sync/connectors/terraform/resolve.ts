/** Expressions of `.tf` files, as far as they can be known without running anything: literals, variables, references. */

import { note } from '../items.ts';
import type { Block, Document, ModuleTree, Resource } from './hcl.ts';

/** An expression that only Terraform can evaluate. */
const UNKNOWN = Symbol('unknown');

type Values = Readonly<Record<string, unknown>>;

/** One module while its expressions are evaluated. */
interface Scope {
  readonly tree: ModuleTree;
  /** `module.web.`; empty at the root. */
  readonly prefix: string;
  /** The value of a variable that was given, or its default. */
  readonly variable: (name: string) => unknown;
  readonly children: ReadonlyMap<string, Scope>;
  /** By their address inside this module; those in numbers are not among them. */
  readonly resources: ReadonlyMap<string, Values>;
  /** Each expression is evaluated once, so that locals made of locals stay linear; one under way refers to itself. */
  readonly evaluated: Map<string, unknown>;
}

/** A text that grows beyond this by substitution is no name and no address. */
const TEXT_CHARS_MAX = 65_536;

/** The resources of a module and of those that it calls; what is made in numbers is left out and told. */
export function resolveTree(tree: ModuleTree): Document {
  const given = tree.files.variables;
  return toDocument(createScope(tree, '', (name) => (Object.hasOwn(given, name) ? given[name] : UNKNOWN)));
}

function createScope(tree: ModuleTree, prefix: string, givenTo: (name: string) => unknown): Scope {
  const { files } = tree;
  const defaults = new Map(
    files.blocks.filter(({ kind }) => kind === 'variable').map(({ labels, body }) => [labels[0], body['default']]),
  );
  const children = new Map<string, Scope>();
  const scope: Scope = {
    tree,
    prefix,
    variable: (name) => {
      const given = givenTo(name);
      return given === UNKNOWN ? (defaults.get(name) ?? UNKNOWN) : given;
    },
    children,
    resources: new Map(
      files.blocks.flatMap((block) =>
        isResource(block) && !isNumbered(block) ? [[blockAddress(block), block.body]] : [],
      ),
    ),
    evaluated: new Map(),
  };
  for (const { labels, body } of files.blocks.filter(({ kind }) => kind === 'module')) {
    const [name = ''] = labels;
    const child = tree.children.get(name);
    if (child === undefined) continue;
    const given = (variable: string): unknown =>
      Object.hasOwn(body, variable) ? resolve(body[variable], scope) : UNKNOWN;
    children.set(name, createScope(child, `${prefix}module.${name}.`, given));
  }
  return scope;
}

function isResource({ kind }: Block): boolean {
  return kind === 'resource' || kind === 'data';
}

function isNumbered({ body }: Block): boolean {
  return 'count' in body || 'for_each' in body;
}

/** `type.name` or `data.type.name`. */
function blockAddress({ kind, labels }: Block): string {
  return [...(kind === 'data' ? ['data'] : []), ...labels].join('.');
}

const NUMBERED =
  'left out: count and for_each are known only to Terraform; use a state or the output of terraform show -json';

function toDocument(scope: Scope): Document {
  const { tree, prefix, children } = scope;
  const blocks = tree.files.blocks.filter(isResource);
  const numbered = blocks.filter(isNumbered).map((block) => note(prefix + blockAddress(block), NUMBERED));
  const inner = [...children.values()].map(toDocument);
  return {
    resources: [
      ...blocks.filter((block) => !isNumbered(block)).map((block) => resolveResource(block, scope)),
      ...inner.flatMap(({ resources }) => resources),
    ],
    notes: [...tree.notes, ...numbered, ...inner.flatMap(({ notes }) => notes)],
  };
}

function resolveResource(block: Block, scope: Scope): Resource {
  const [type = '', name = ''] = block.labels;
  const resolved = Object.entries(block.body).map(([key, value]) => [key, resolve(value, scope)] as const);
  return {
    address: scope.prefix + blockAddress(block),
    mode: block.kind === 'data' ? 'data' : 'managed',
    type,
    name,
    values: Object.fromEntries(resolved.filter(([, value]) => !hasUnknown(value) && value !== null)),
    hidden: new Set(resolved.filter(([, value]) => hasUnknown(value)).map(([key]) => key)),
  };
}

function hasUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  if (Array.isArray(value)) return value.some(hasUnknown);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnknown);
}

function resolve(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, scope));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, scope)]));
  if (typeof value !== 'string' || !value.includes('${')) return value;
  const whole = /^\$\{([^{}]*)\}$/.exec(value);
  if (whole !== null) return evaluate((whole[1] ?? '').trim(), scope);
  let isUnknown = false;
  const text = value.replace(/\$\{([^{}]*)\}/g, (_, expression: string) => {
    const part = evaluate(expression.trim(), scope);
    if (typeof part !== 'string' && typeof part !== 'number') isUnknown = true;
    return isUnknown ? '' : String(part);
  });
  return isUnknown || text.includes('${') || text.length > TEXT_CHARS_MAX ? UNKNOWN : text;
}

function evaluate(expression: string, scope: Scope): unknown {
  if (scope.evaluated.has(expression)) return scope.evaluated.get(expression);
  scope.evaluated.set(expression, UNKNOWN);
  const value = evaluateOnce(splitSteps(expression), scope);
  scope.evaluated.set(expression, value);
  return value;
}

/** `a.b["c"][0]` as its steps; empty: it is more than a reference. */
function splitSteps(expression: string): string[] {
  if (!/^[\w-]+(\.[\w-]+|\["[^"\\]*"\]|\[\d+\])*$/.test(expression)) return [];
  return [...expression.matchAll(/[\w-]+|"([^"\\]*)"/g)].map(([whole, quoted]) => quoted ?? whole);
}

/** `var.x`, `local.x`, `module.m.output`, `type.name.attribute`, `data.type.name.attribute`, and what is inside them. */
function evaluateOnce([first = '', ...rest]: readonly string[], scope: Scope): unknown {
  const [name = '', output = ''] = rest;
  if (first === 'var') return inside(resolve(scope.variable(name), scope), rest.slice(1));
  if (first === 'local') {
    const { locals } = scope.tree.files;
    return Object.hasOwn(locals, name) ? inside(resolve(locals[name], scope), rest.slice(1)) : UNKNOWN;
  }
  if (first === 'module') {
    const child = scope.children.get(name);
    const block = child?.tree.files.blocks.find(({ kind, labels }) => kind === 'output' && labels[0] === output);
    return child === undefined || block === undefined
      ? UNKNOWN
      : inside(resolve(block.body['value'], child), rest.slice(2));
  }
  const length = first === 'data' ? 2 : 1;
  const address = [first, ...rest.slice(0, length)].join('.');
  const values = scope.resources.get(address);
  const attribute = rest[length];
  if (values === undefined || attribute === undefined) return UNKNOWN;
  if (Object.hasOwn(values, attribute)) return inside(resolve(values[attribute], scope), rest.slice(length + 1));
  // Before anything is applied a resource has no id: its address stands for it.
  return attribute === 'id' ? scope.prefix + address : UNKNOWN;
}

function inside(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((inner, step) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, step)) return UNKNOWN;
    return (inner as Readonly<Record<string, unknown>>)[step];
  }, value);
}
