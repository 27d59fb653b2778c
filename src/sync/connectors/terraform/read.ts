/** `terraform show -json`, raw states and `.tf` files as one list of resources. Nothing is run and nothing is fetched. */

import { z } from 'zod';
import { type Document, type Hcl, HclSchema, type Resource } from './document.ts';
import { resolveModule } from './resolve.ts';

const ModeSchema = z.enum(['managed', 'data']);
const AttributesSchema = z.record(z.string(), z.unknown());

/** `values` of one module of `terraform show -json`; modules nest. */
interface ShownModule {
  readonly resources?: readonly Resource[] | undefined;
  readonly child_modules?: readonly ShownModule[] | undefined;
}

const ShownResourceSchema = z
  .object({
    address: z.string().max(1_000),
    mode: ModeSchema,
    type: z.string(),
    name: z.string(),
    values: AttributesSchema.optional(),
    sensitive_values: z.union([AttributesSchema, z.boolean()]).optional(),
  })
  .transform(({ values = {}, sensitive_values: sensitive, ...resource }): Resource => {
    const known = withoutNulls(values);
    const marked = typeof sensitive === 'object' ? Object.keys(sensitive).filter((key) => sensitive[key] === true) : [];
    return {
      ...resource,
      values: known,
      hidden: new Set(marked.filter((key) => !(key in known) && values[key] !== null)),
    };
  });

const ShownModuleSchema: z.ZodType<ShownModule> = z.object({
  resources: z.array(ShownResourceSchema).optional(),
  get child_modules() {
    return z.array(ShownModuleSchema).optional();
  },
});

const ShownSchema = z
  .object({
    format_version: z.string(),
    values: z.object({ root_module: ShownModuleSchema }).optional(),
    planned_values: z.object({ root_module: ShownModuleSchema }).optional(),
  })
  .transform(({ values, planned_values: planned }): Document => {
    const root = (values ?? planned)?.root_module ?? {};
    const all = (module: ShownModule): readonly Resource[] => [
      ...(module.resources ?? []),
      ...(module.child_modules ?? []).flatMap(all),
    ];
    return { resources: all(root), notes: [] };
  });

const InstanceSchema = z.object({
  index_key: z.union([z.string(), z.number()]).nullish(),
  attributes: AttributesSchema.nullish(),
});

/** States of Terraform 0.12 and later. */
const StateSchema = z
  .object({
    version: z.literal(4),
    resources: z.array(
      z.object({
        module: z.string().optional(),
        mode: ModeSchema,
        type: z.string(),
        name: z.string(),
        instances: z.array(InstanceSchema),
      }),
    ),
  })
  .transform(
    ({ resources }): Document => ({
      resources: resources.flatMap(({ module, mode, type, name, instances }) =>
        instances.map(({ index_key: key, attributes }): Resource => {
          const index = key === undefined || key === null ? '' : `[${JSON.stringify(key)}]`;
          const place = `${module === undefined ? '' : `${module}.`}${mode === 'data' ? 'data.' : ''}`;
          const values = withoutNulls(attributes ?? {});
          return { address: `${place}${type}.${name}${index}`, mode, type, name, values, hidden: new Set() };
        }),
      ),
      notes: [],
    }),
  );

/** A state as a back end keeps it, or what `terraform show -json` prints, told apart by what they begin with. */
export const JsonDocumentSchema: z.ZodType<Document> = z.union([StateSchema, ShownSchema], {
  error: 'neither a state of version 4 nor the output of terraform show -json',
});

function withoutNulls(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}

/** A folder of `.tf` files, read as one module. Parsing is asynchronous. */
export const FolderDocumentSchema = z
  .array(z.object({ name: z.string(), text: z.string() }))
  .transform((files, context) =>
    parseFiles(
      files.filter(({ name }) => name.endsWith('.tf')),
      context,
    ),
  );

/** One `.tf` file. */
export const FileDocumentSchema = z
  .string()
  .transform((text, context) => parseFiles([{ name: 'the file', text }], context));

async function parseFiles(
  files: readonly { readonly name: string; readonly text: string }[],
  context: z.core.$RefinementCtx,
): Promise<Document> {
  // Loaded when it is needed: it is a compiled program of several megabytes.
  const { parse } = await import('@cdktf/hcl2json');
  const parsed: Hcl[] = [];
  for (const { name, text } of files) {
    try {
      parsed.push(HclSchema.parse(await parse(name, text)));
    } catch (error) {
      // Its message names file, line and column; what stands there stays out.
      const [place] = /\[[^\]:]*:\d+,\d+/.exec(error instanceof Error ? error.message : '') ?? [`[${name}`];
      context.issues.push({
        code: 'custom',
        input: name,
        path: [],
        message: `not readable as HCL at ${place.slice(1)}`,
      });
      return z.NEVER;
    }
  }
  return resolveModule(parsed);
}
