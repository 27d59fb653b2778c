/** What resources are called: by their id there, and before they have one by their address. */

import { compareIds } from '../items.ts';
import type { Resource } from './document.ts';

export interface Identities {
  /** Unique among resources of its type, and made of letters, digits, `.`, `_` and `-` where it is not the service's own. */
  readonly idOf: (resource: Resource) => string;
  /** The id that a value means: one there, or an address of this document. Null: an address that is not in it. */
  readonly referenced: (value: unknown) => string | null;
}

/** @param resources  with `type` still carrying its brand or not; ids of one type are kept apart from those of others */
export function identify(resources: readonly Resource[]): Identities {
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
