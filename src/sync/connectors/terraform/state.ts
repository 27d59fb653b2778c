/** States as back ends keep them, version 4 (Terraform 0.12 and later, OpenTofu). */

import { z } from 'zod';
import { type Document, type Note, type Resource, withoutNulls } from './document.ts';

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
    const notes: Note[] = [];
    const read = resources.flatMap(({ module, mode, type, name, instances }) =>
      instances.flatMap(({ index_key: key, attributes, deposed }): Resource[] => {
        const index = key === undefined || key === null ? '' : `[${JSON.stringify(key)}]`;
        const place = `${module === undefined ? '' : `${module}.`}${mode === 'data' ? 'data.' : ''}`;
        const address = `${place}${type}.${name}${index}`;
        if (typeof deposed === 'string' && deposed !== '') {
          notes.push({
            place: address,
            message: `left out: replaced, and about to be destroyed (deposed ${deposed})`,
          });
          return [];
        }
        return [{ address, mode, type, name, values: withoutNulls(attributes ?? {}), hidden: new Set() }];
      }),
    );
    return { resources: read, notes };
  });
