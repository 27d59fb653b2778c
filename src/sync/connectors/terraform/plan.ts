/**
 * What `terraform show -json` prints of a state or of a plan. In a plan much is known only after it is applied, first of
 * all ids: what refers to one is looked up in the configuration that the plan carries.
 */

import { z } from 'zod';
import { issueWords } from '../../../schema/issue-words.ts';
import { note } from '../items.ts';
import { type Document, REFERENCES, type Resource, StateSchema, withoutNulls } from './hcl.ts';

const AttributesSchema = z.record(z.string(), z.unknown());
const KeySchema = z.union([z.string(), z.number()]);

const ShownResourceSchema = z.object({
  address: z.string().max(1_000),
  mode: z.enum(['managed', 'data']),
  type: z.string(),
  name: z.string(),
  index: KeySchema.nullish(),
  values: AttributesSchema.nullish(),
  sensitive_values: z.union([AttributesSchema, z.boolean()]).nullish(),
});
type ShownResource = z.output<typeof ShownResourceSchema>;

/** Modules nest. */
const ShownModuleSchema = z.object({
  address: z.string().optional(),
  resources: z.array(ShownResourceSchema).optional(),
  get child_modules() {
    return z.array(ShownModuleSchema).optional();
  },
});
type ShownModule = z.output<typeof ShownModuleSchema>;

const ValuesSchema = z.object({ root_module: ShownModuleSchema });
const ChangeSchema = z.object({
  address: z.string(),
  change: z.object({ after_unknown: z.unknown().optional() }).optional(),
});

// What an attribute of a plan refers to, found in the configuration that the plan carries: names, modules, keys.

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

const ModuleCallSchema = z.object({
  expressions: ExpressionsSchema.optional(),
  for_each_expression: ExpressionSchema.optional(),
  get module() {
    return ConfiguredModuleSchema.optional();
  },
});
type ModuleCall = z.output<typeof ModuleCallSchema>;

const ConfiguredModuleSchema = z.object({
  resources: z.array(ConfiguredResourceSchema).optional(),
  outputs: z.record(z.string(), z.object({ expression: ExpressionSchema.optional() })).optional(),
  get module_calls() {
    return z.record(z.string(), ModuleCallSchema).optional();
  },
});
type ConfiguredModule = z.output<typeof ConfiguredModuleSchema>;

const ShownSchema = z
  .object({
    format_version: z.string(),
    errored: z.boolean().optional(),
    values: ValuesSchema.optional(),
    planned_values: ValuesSchema.optional(),
    prior_state: z.object({ values: ValuesSchema.optional() }).nullish(),
    resource_changes: z.array(ChangeSchema).nullish(),
    deferred_changes: z.array(z.object({ resource_change: ChangeSchema })).nullish(),
    configuration: z.object({ root_module: ConfiguredModuleSchema.optional() }).nullish(),
  })
  .refine(({ errored }) => errored !== true, 'this plan ended with an error and is incomplete; plan again');
type Shown = z.output<typeof ShownSchema>;

function readShown(shown: Shown): Document {
  if (shown.planned_values !== undefined) return readPlan(shown);
  return { resources: listResources(shown.values?.root_module).map(toResource), notes: [] };
}

/** All resources, each with its whole address: older versions leave the module and the key of the instance out. */
function listResources(module: ShownModule | undefined): ShownResource[] {
  if (module === undefined) return [];
  const prefix = module.address === undefined || module.address === '' ? '' : `${module.address}.`;
  const own = (module.resources ?? []).map((resource) => {
    const { index } = resource;
    const place = resource.address.startsWith(prefix) ? resource.address : `${prefix}${resource.address}`;
    const isWhole = index === undefined || index === null || place.endsWith(']');
    return { ...resource, address: isWhole ? place : `${place}[${JSON.stringify(index)}]` };
  });
  return [...own, ...(module.child_modules ?? []).flatMap(listResources)];
}

function toResource({ address, mode, type, name, values, sensitive_values: sensitive }: ShownResource): Resource {
  const known = withoutNulls(values ?? {});
  const marked =
    typeof sensitive === 'object' && sensitive !== null
      ? Object.keys(sensitive).filter((key) => sensitive[key] === true)
      : [];
  const hidden = new Set(marked.filter((key) => !(key in known) && values?.[key] !== null));
  return { address, mode, type, name, values: known, hidden };
}

/** Attributes in which something is known only after the plan is applied. */
function namesUnknown(afterUnknown: unknown): ReadonlySet<string> {
  if (typeof afterUnknown !== 'object' || afterUnknown === null) return new Set();
  return new Set(Object.entries(afterUnknown).flatMap(([name, value]) => (hasTrue(value) ? [name] : [])));
}

function hasTrue(value: unknown): boolean {
  if (value === true) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasTrue);
}

function readPlan(shown: Shown): Document {
  const planned = listResources(shown.planned_values?.root_module);
  // What is only looked up was read while planning.
  const looked = listResources(shown.prior_state?.values?.root_module).filter(({ mode }) => mode === 'data');
  const unknown = new Map(
    (shown.resource_changes ?? []).map(({ address, change }) => [address, namesUnknown(change?.after_unknown)]),
  );
  const deferred = (shown.deferred_changes ?? []).map(({ resource_change: { address } }) => address);
  const addresses = new Set(planned.map(({ address }) => address));
  const all = [...planned, ...looked.filter(({ address }) => !addresses.has(address))].map(toResource);
  const references = createReferences(all, shown.configuration?.root_module ?? {});
  const resources = all.map((resource): Resource => {
    // What the configuration leaves out and only the provider fills in is not set: it has the provider's default.
    const pending = [...(unknown.get(resource.address) ?? [])].filter((name) => references.isSet(resource, name));
    const hidden = new Set([...resource.hidden, ...pending]);
    const values: Record<string, unknown> = { ...resource.values };
    for (const [name, types] of Object.entries(REFERENCES)) {
      if (!hidden.has(name)) continue;
      const targets = references.of(resource, name).filter(({ type }) => types.test(type.replace(/^[a-z]+_/, '')));
      const isList = name.endsWith('s');
      if (targets.length === 0 || (targets.length > 1 && !isList)) continue;
      hidden.delete(name);
      values[name] = isList ? targets.map(({ address }) => address) : targets[0]?.address;
    }
    return { ...resource, values, hidden };
  });
  const notes = deferred.map((address) => note(address, 'left out: deferred to a later plan'));
  return { resources, notes };
}

/** A state as a back end keeps it, or what `terraform show -json` prints, told apart by what they begin with. */
export const JsonDocumentSchema: z.ZodType<Document> = z
  .record(z.string(), z.unknown(), { error: 'not a JSON object; use a state or the output of terraform show -json' })
  .transform((value, context): Document => {
    if (!('format_version' in value) && value['version'] !== 4) {
      const message =
        'version' in value
          ? 'a state from before Terraform 0.12; upgrade it by running terraform 0.12 or later once'
          : 'neither a state of version 4 nor the output of terraform show -json';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
    const parsed = ('format_version' in value ? ShownSchema.transform(readShown) : StateSchema).safeParse(value, {
      error: issueWords(),
    });
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: value } as never);
    return z.NEVER;
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

function createReferences(resources: readonly Resource[], root: ConfiguredModule) {
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
    const scope = findScope(root, address);
    const local = address.slice(scope?.prefix.length ?? 0);
    const [, place = local, key = ''] = /^(.*?)(\[[^\]]*\])?$/.exec(local) ?? [];
    const configured = scope?.module.resources?.find((one) => one.address === place);
    if (scope === null || configured === undefined) return null;
    return { configured, scope: { ...scope, key, each: configured.for_each_expression ?? {} } };
  }

  return {
    /** Which resources an attribute of one refers to; empty: none that can be told. */
    of: (resource: Resource, attribute: string): readonly Resource[] => {
      const found = configuredOf(resource);
      const expression = found?.configured.expressions?.[attribute];
      return found === null || expression === undefined ? [] : follow(expression, found.scope, 0);
    },
    /** False: the configuration leaves the attribute out, so that the provider fills in its own. */
    isSet: (resource: Resource, attribute: string): boolean => {
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
function findScope(root: ConfiguredModule, address: string): Scope | null {
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
