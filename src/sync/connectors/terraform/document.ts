/**
 * What Terraform's files become before anything is made of them: resources by address, their ids, and those of our brand.
 * The states of back ends (version 4: Terraform 0.12 and later, OpenTofu) are read here; `plan.ts` and `hcl.ts` read the rest.
 */

import { z } from 'zod';
import { compareIds } from '../items.ts';

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
  readonly notes: readonly Note[];
}

export interface Note {
  readonly place: string;
  readonly message: string;
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

interface Identities {
  /** Unique among resources of its type, and made of letters, digits, `.`, `_` and `-` where it is not the service's own. */
  readonly idOf: (resource: Resource) => string;
  /** The id that a value means: one there, or an address of this document. Null: an address that is not in it. */
  readonly referenced: (value: unknown) => string | null;
}

/** @param resources  with `type` still carrying its brand or not; ids of one type are kept apart from those of others */
function identify(resources: readonly Resource[]): Identities {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const resource of resources.toSorted((a, b) => compareIds(a.address, b.address))) {
    const there = textOf(resource.values['id']);
    const base = there ?? nameOf(resource);
    let id = base;
    for (let number = 2; there === null && taken.has(`${resource.type} ${id}`); number += 1) id = `${base}-${number}`;
    taken.add(`${resource.type} ${id}`);
    ids.set(resource.address, id);
  }
  return {
    idOf: ({ address }) => ids.get(address) ?? address,
    referenced: (value) => {
      const text = textOf(value);
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
export function textOf(value: unknown): string | null {
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

export interface ProjectFacts {
  /** Of the brand, types without it, sorted by address. */
  readonly resources: readonly Resource[];
  readonly identities: Identities;
  readonly origin: Origin;
}

/** What of a document is ours. */
export function factsOf(document: Document, origin: Origin): ProjectFacts {
  const resources = document.resources
    .filter(({ type }) => type.startsWith(origin.brand))
    .map((resource) => ({ ...resource, type: resource.type.slice(origin.brand.length) }))
    .toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  return { resources, identities: identify(resources), origin };
}
