/** Expressions of `.tf` files, as far as they can be known without running anything: literals, variables, references. */

import type { Document, Hcl, Resource } from './document.ts';

/** An expression that only Terraform can evaluate. */
const UNKNOWN = Symbol('unknown');

type Values = Readonly<Record<string, unknown>>;

interface Module {
  readonly variables: ReadonlyMap<string, unknown>;
  readonly locals: ReadonlyMap<string, unknown>;
  readonly resources: ReadonlyMap<string, Values>;
  /** Each expression is evaluated once, so that locals made of locals stay linear; one under way refers to itself. */
  readonly evaluated: Map<string, unknown>;
}

/** A text that grows beyond this by substitution is no name and no address. */
const TEXT_CHARS_MAX = 65_536;

/** The resources of one module; those made in numbers are left out and told. */
export function resolveModule(files: readonly Hcl[]): Document {
  const blocks = files.flatMap((file) => [...blocksOf(file.resource, 'managed'), ...blocksOf(file.data, 'data')]);
  const module: Module = {
    variables: new Map(
      files.flatMap(({ variable }) =>
        Object.entries(variable).map(([name, [first]]) => [name, first?.['default'] ?? UNKNOWN] as const),
      ),
    ),
    locals: new Map(files.flatMap(({ locals }) => locals.flatMap((local) => Object.entries(local)))),
    resources: new Map(blocks.map(({ address, values }) => [address, values])),
    evaluated: new Map(),
  };
  const numbered = blocks.filter(({ values }) => 'count' in values || 'for_each' in values);
  return {
    resources: blocks.filter((block) => !numbered.includes(block)).map((block) => resolveResource(block, module)),
    notes: numbered.map(({ address }) => ({
      place: address,
      message: 'count and for_each are only known to Terraform; give a state or the output of terraform show -json',
    })),
  };
}

function blocksOf(types: Hcl['resource'], mode: Resource['mode']): Resource[] {
  return Object.entries(types).flatMap(([type, names]) =>
    Object.entries(names).flatMap(([name, bodies]) =>
      bodies.map((values) => ({
        address: `${mode === 'data' ? 'data.' : ''}${type}.${name}`,
        mode,
        type,
        name,
        values,
        hidden: new Set<string>(),
      })),
    ),
  );
}

function resolveResource(block: Resource, module: Module): Resource {
  const resolved = Object.entries(block.values).map(([key, value]) => [key, resolve(value, module)] as const);
  return {
    ...block,
    values: Object.fromEntries(resolved.filter(([, value]) => !hasUnknown(value) && value !== null)),
    hidden: new Set(resolved.filter(([, value]) => hasUnknown(value)).map(([key]) => key)),
  };
}

function hasUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  if (Array.isArray(value)) return value.some(hasUnknown);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnknown);
}

function resolve(value: unknown, module: Module): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, module));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, module)]));
  if (typeof value !== 'string' || !value.includes('${')) return value;
  const whole = /^\$\{([^{}]*)\}$/.exec(value);
  if (whole !== null) return evaluate((whole[1] ?? '').trim(), module);
  let isUnknown = false;
  const text = value.replace(/\$\{([^{}]*)\}/g, (_, expression: string) => {
    const part = evaluate(expression.trim(), module);
    if (typeof part !== 'string' && typeof part !== 'number') isUnknown = true;
    return isUnknown ? '' : String(part);
  });
  return isUnknown || text.includes('${') || text.length > TEXT_CHARS_MAX ? UNKNOWN : text;
}

function evaluate(expression: string, module: Module): unknown {
  if (module.evaluated.has(expression)) return module.evaluated.get(expression);
  module.evaluated.set(expression, UNKNOWN);
  const value = evaluateOnce(expression, module);
  module.evaluated.set(expression, value);
  return value;
}

/** `var.x`, `local.x`, `type.name.attribute` and `data.type.name.attribute`; anything else is unknown here. */
function evaluateOnce(expression: string, module: Module): unknown {
  const [, scope, name] = /^(var|local)\.([\w-]+)$/.exec(expression) ?? [];
  if (scope !== undefined && name !== undefined) {
    const source = scope === 'var' ? module.variables : module.locals;
    return source.has(name) ? resolve(source.get(name), module) : UNKNOWN;
  }
  const [, address, attribute] = /^((?:data\.)?[\w-]+\.[\w-]+)\.([\w-]+)$/.exec(expression) ?? [];
  if (address === undefined || attribute === undefined) return UNKNOWN;
  const values = module.resources.get(address);
  if (values === undefined) return UNKNOWN;
  if (attribute in values) return resolve(values[attribute], module);
  // Before anything is applied a resource has no id: its address stands for it.
  return attribute === 'id' ? address : UNKNOWN;
}
