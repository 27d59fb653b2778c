/** What Terraform's files become before anything is made of them: resources by address, and `.tf` files as HCL. */

import { z } from 'zod';

export interface Resource {
  /** As Terraform writes it: `module.web.svc_http_monitor.api["eu"]`. */
  readonly address: string;
  readonly mode: 'managed' | 'data';
  /** With its brand: `svc_http_monitor`. */
  readonly type: string;
  readonly name: string;
  /** Null attributes are left out. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Attributes that are set to something that cannot be seen here. */
  readonly hidden: ReadonlySet<string>;
}

export interface Document {
  readonly resources: readonly Resource[];
  /** What could not be taken, by place. */
  readonly notes: readonly { readonly place: string; readonly message: string }[];
}

const AttributesSchema = z.record(z.string(), z.unknown());

/** What the HCL library makes of one file. */
const BlocksSchema = z.record(z.string(), z.record(z.string(), z.array(AttributesSchema)));
export const HclSchema = z.object({
  resource: BlocksSchema.default({}),
  data: BlocksSchema.default({}),
  variable: z.record(z.string(), z.array(AttributesSchema)).default({}),
  locals: z.array(AttributesSchema).default([]),
});
export type Hcl = z.output<typeof HclSchema>;
