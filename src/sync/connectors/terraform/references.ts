/** What an attribute of a plan refers to, found in the configuration that the plan carries: names, modules, keys. */

import { z } from 'zod';
import type { Resource } from './document.ts';

const ExpressionSchema = z.object({ references: z.array(z.string()).optional() }).catch({});
type Expression = z.output<typeof ExpressionSchema>;
/** Blocks within blocks are lists and objects of expressions; none of them refers to what we look for. */
const ExpressionsSchema = z.record(z.string(), ExpressionSchema).catch({});

const ConfiguredResourceSchema = z.object({
  address: z.string(),
  expressions: ExpressionsSchema.optional(),
  for_each_expression: ExpressionSchema.optional(),
});

type ConfiguredResource = z.output<typeof ConfiguredResourceSchema>;

export interface ConfiguredModule {
  readonly resources?: readonly ConfiguredResource[] | undefined;
  readonly outputs?: Readonly<Record<string, { readonly expression?: Expression | undefined }>> | undefined;
  readonly module_calls?: Readonly<Record<string, ModuleCall>> | undefined;
}

interface ModuleCall {
  readonly expressions?: Readonly<Record<string, Expression>> | undefined;
  readonly for_each_expression?: Expression | undefined;
  readonly module?: ConfiguredModule | undefined;
}

export const ConfiguredModuleSchema: z.ZodType<ConfiguredModule> = z.object({
  resources: z.array(ConfiguredResourceSchema).optional(),
  outputs: z.record(z.string(), z.object({ expression: ExpressionSchema.optional() })).optional(),
  get module_calls() {
    return z
      .record(
        z.string(),
        z.object({
          expressions: ExpressionsSchema.optional(),
          for_each_expression: ExpressionSchema.optional(),
          module: ConfiguredModuleSchema.optional(),
        }),
      )
      .optional();
  },
});

/** An expression is read inside one instance of one module, for one instance of a resource or a call. */
interface Scope {
  readonly module: ConfiguredModule;
  /** `module.web["eu"].`; empty at the root. */
  readonly prefix: string;
  /** The call that made this module, read in the scope around it; null at the root. */
  readonly call: { readonly of: ModuleCall; readonly around: Scope } | null;
  /** `["eu"]`, `[0]` or nothing. */
  readonly key: string;
  /** What `each` runs over. */
  readonly each: Expression;
}

/** References that lead to references; more is a circle. */
const STEPS_MAX = 50;

interface References {
  /** Which resources an attribute of one refers to; empty: none that can be told. */
  readonly of: (resource: Resource, attribute: string) => readonly Resource[];
  /** False: the configuration leaves the attribute out, so that the provider fills in its own. */
  readonly isSet: (resource: Resource, attribute: string) => boolean;
}

export function createReferences(resources: readonly Resource[], root: ConfiguredModule): References {
  const byPlace = Map.groupBy(resources, ({ address }) => address.replace(/\[[^\]]*\]$/, ''));

  function follow({ references = [] }: Expression, scope: Scope, steps: number): Resource[] {
    if (steps > STEPS_MAX) return [];
    // A reference comes with everything that it is a part of; only the longest tells which instance.
    const longest = references.filter(
      (one) =>
        !references.some((other) => other !== one && (other.startsWith(`${one}.`) || other.startsWith(`${one}[`))),
    );
    const found = longest.flatMap((reference) => followOne(reference, scope, steps + 1));
    return [...new Set(found)];
  }

  function followOne(reference: string, scope: Scope, steps: number): Resource[] {
    if (/^each\.(value|key)\b/.test(reference)) return follow(scope.each, scope, steps);
    const [, variable] = /^var\.([\w-]+)/.exec(reference) ?? [];
    if (variable !== undefined)
      return scope.call === null ? [] : follow(scope.call.of.expressions?.[variable] ?? {}, scope.call.around, steps);
    const [, name = '', index, output] = /^module\.([\w-]+)(\[[^\]]*\])?\.([\w-]+)/.exec(reference) ?? [];
    if (output !== undefined)
      return instancesOf(scope, name, index ?? null).flatMap((inner) =>
        follow(inner.module.outputs?.[output]?.expression ?? {}, inner, steps),
      );
    const [, place, key] = /^((?:data\.)?[\w-]+\.[\w-]+)(\[[^\]]*\])?/.exec(reference) ?? [];
    return place === undefined ? [] : pick(byPlace.get(scope.prefix + place) ?? [], key ?? null, scope.key);
  }

  /** The instances of a module called in a scope: the one of that key, that of the same key, or all. */
  function instancesOf(scope: Scope, name: string, key: string | null): Scope[] {
    const call = scope.module.module_calls?.[name];
    if (call?.module === undefined) return [];
    const start = `${scope.prefix}module.${name}`;
    const keys = new Set(
      resources.flatMap(({ address }) => {
        if (!address.startsWith(start)) return [];
        const found = /^(\[[^\]]*\])?\./.exec(address.slice(start.length));
        return found === null ? [] : [found[1] ?? ''];
      }),
    );
    const wanted = key ?? (keys.has(scope.key) ? scope.key : null);
    return [...keys]
      .filter((one) => wanted === null || one === wanted)
      .map((one) => scopeIn(scope, { call, name, key: one }));
  }

  function configuredOf({ address }: Resource): { configured: ConfiguredResource; scope: Scope } | null {
    const scope = scopeOf(root, address);
    const local = address.slice(scope?.prefix.length ?? 0);
    const [, place = local, key = ''] = /^(.*?)(\[[^\]]*\])?$/.exec(local) ?? [];
    const configured = scope?.module.resources?.find((one) => one.address === place);
    if (scope === null || configured === undefined) return null;
    return { configured, scope: { ...scope, key, each: configured.for_each_expression ?? {} } };
  }

  return {
    of: (resource, attribute) => {
      const found = configuredOf(resource);
      const expression = found?.configured.expressions?.[attribute];
      return found === null || expression === undefined ? [] : follow(expression, found.scope, 0);
    },
    isSet: (resource, attribute) => {
      const found = configuredOf(resource);
      return found === null || Object.hasOwn(found.configured.expressions ?? {}, attribute);
    },
  };
}

function pick(instances: readonly Resource[], key: string | null, sameKey: string): Resource[] {
  const ofKey = (wanted: string): Resource[] => instances.filter(({ address }) => address.endsWith(wanted));
  if (key !== null) return ofKey(key);
  const same = sameKey === '' || instances.length === 1 ? [] : ofKey(sameKey);
  return same.length > 0 ? same : [...instances];
}

function scopeIn(around: Scope, { call, name, key }: { call: ModuleCall; name: string; key: string }): Scope {
  const inner = { ...around, key, each: call.for_each_expression ?? {} };
  return {
    module: call.module ?? {},
    prefix: `${around.prefix}module.${name}${key}.`,
    call: { of: call, around: inner },
    key: '',
    each: {},
  };
}

/** The module instance that an address stands in; null: the configuration has none of that name. */
function scopeOf(root: ConfiguredModule, address: string): Scope | null {
  let scope: Scope = { module: root, prefix: '', call: null, key: '', each: {} };
  let rest = address;
  for (let step = /^module\.([\w-]+)(\[[^\]]*\])?\./.exec(rest); step !== null; ) {
    const [whole, name = '', key = ''] = step;
    const call = scope.module.module_calls?.[name];
    if (call === undefined) return null;
    scope = scopeIn(scope, { call, name, key });
    rest = rest.slice(whole.length);
    step = /^module\.([\w-]+)(\[[^\]]*\])?\./.exec(rest);
  }
  return scope;
}
