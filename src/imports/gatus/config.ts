/** The parts of a Gatus that a source describes, and its configuration as such a source. */

import { z } from 'zod';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../model/time.ts';
import { ListSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';
import { drop, type ImportNote, quoted, unreadKeys } from '../site.ts';
import unread from '../unread-keys.json' with { type: 'json' };

/** What one source contains. Several sources are merged. */
export interface GatusPart {
  /** Its name in messages. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Address of Gatus; null if the source isn't an address. */
  readonly url: string | null;
  readonly endpoints: readonly GatusEndpoint[];
  /** As in the configuration or from the API. */
  readonly announcements: readonly unknown[];
  /** For everything (null), or for an endpoint by its key. */
  readonly maintenance: readonly { readonly key: string | null; readonly value: unknown }[];
  readonly notes: readonly ImportNote[];
}

export interface GatusEndpoint {
  readonly key: string;
  readonly name: string;
  /** Empty: none. */
  readonly group: string;
  /** Its recorded changes. */
  readonly events: readonly { readonly type: string; readonly at: EpochMs }[];
  /** How it is checked. Absent: the source doesn't say. */
  readonly config?: object | undefined;
}

const UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };

/** Parses a Go duration such as `1h30m` to ms; null if it is invalid. */
export function parseLength(text: string): number | null {
  if (!/^(?:\d{1,6}(?:\.\d{1,3})?[hms])+$/.test(text)) return null;
  const ms = [...text.matchAll(/(\d+(?:\.\d+)?)([hms])/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS_MS[unit] ?? 0),
    0,
  );
  return ms > 0 ? ms : null;
}

const EndpointSchema = z.object({
  name: NameSchema,
  group: TextSchema.catch(null),
  enabled: z.boolean().nullish().catch(null),
  'maintenance-windows': ListSchema.catch([]),
});
const ConfigSchema = z.object({
  endpoints: ListSchema,
  'external-endpoints': ListSchema,
  suites: ListSchema,
  announcements: ListSchema,
  maintenance: z.unknown().optional(),
  remote: z.unknown().optional(),
  ui: z
    .object({ title: TextSchema, header: TextSchema, description: TextSchema, 'dashboard-subheading': TextSchema })
    .partial()
    .nullish()
    .catch(null),
});

/** With the shape of list items, to find keys that aren't imported. */
const DocumentSchema = ConfigSchema.extend({
  endpoints: z.array(EndpointSchema),
  'external-endpoints': z.array(EndpointSchema),
});

/** Makes a key from group and name like Gatus. */
function gatusKey(group: string, name: string): string {
  const parts = [group, name].map((text) => text.trim().toLowerCase());
  return parts.map((text) => text.replaceAll(/[/_., #+&]/g, '-')).join('_');
}

/** Reads a configuration, a parsed YAML file. */
export function gatusConfig(name: string, value: unknown): GatusPart {
  const parsed = ConfigSchema.safeParse(value);
  const empty = { name, title: null, description: null, url: null, announcements: [], maintenance: [] };
  const notes: ImportNote[] = [];
  if (!parsed.success) return { ...empty, endpoints: drop(notes, name, 'it is not a Gatus configuration'), notes };
  notes.push(...unreadKeys(name, value, DocumentSchema, unread.gatus));
  const { endpoints, announcements, suites, remote, maintenance, ui } = parsed.data;
  const windows: GatusPart['maintenance'][number][] = maintenance == null ? [] : [{ key: null, value: maintenance }];
  const read = [...endpoints, ...parsed.data['external-endpoints']].flatMap((item, index): GatusEndpoint[] => {
    const endpoint = EndpointSchema.safeParse(item).data;
    if (endpoint === undefined) return drop(notes, `${name}: endpoint ${index + 1}`, 'it has no name');
    if (endpoint.enabled === false)
      return drop(notes, `endpoint ${quoted(endpoint.name)}`, 'it is switched off at the source');
    const key = gatusKey(endpoint.group ?? '', endpoint.name);
    windows.push(...endpoint['maintenance-windows'].map((one) => ({ key, value: one })));
    const config = index < endpoints.length ? (item as object) : undefined;
    return [{ key, name: endpoint.name, group: endpoint.group ?? '', events: [], config }];
  });
  if (suites.length > 0) drop(notes, `${suites.length} suites`, 'the gatus upstream doesn’t read suites');
  const remoteWords = 'endpoints of remote instances are not in this configuration; import from the address instead';
  if (remote != null) drop(notes, 'remote', remoteWords);
  return {
    ...{ ...empty, endpoints: read, announcements, maintenance: windows, notes },
    title: ui?.header ?? ui?.title ?? null,
    description: ui?.['dashboard-subheading'] ?? ui?.description ?? null,
  };
}
