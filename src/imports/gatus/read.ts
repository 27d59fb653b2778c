/** Reads what a running Gatus or its SQLite database remembers. */

import { z } from 'zod';
import { ListSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';
import { dropped, type ImportNote } from '../site.ts';
import { type Ask, askIfThere, type Select } from '../source.ts';
import type { GatusEndpoint, GatusPart } from './config.ts';
import { goInstant } from './site.ts';

/** As many endpoints as Gatus gives at once. */
const PAGE_SIZE = 100;

const StatusesSchema = z.array(
  z.object({ key: z.string().regex(/^[^\p{Cc}\s/]{1,500}$/u), name: NameSchema, group: TextSchema.catch(null) }),
);
const EventsSchema = z.object({
  events: z.array(z.object({ type: z.string(), timestamp: z.string() })).nullish(),
});
const ConfigSchema = z.object({ announcements: ListSchema });

const NO_TITLE = { title: null, description: null, maintenance: [] };

/** What a Gatus tells over its API; maintenance is not part of it. @throws a StatusError */
export async function gatusFromApi(ask: Ask, url: string): Promise<GatusPart> {
  const notes: ImportNote[] = [
    dropped('maintenance, title', 'the API doesn’t provide them; import the configuration too'),
  ];
  const answer = StatusesSchema.safeParse(await ask(`/api/v1/endpoints/statuses?page=1&pageSize=${PAGE_SIZE}`));
  if (!answer.success) notes.push(dropped('/api/v1/endpoints/statuses', 'it is not a list of endpoints'));
  const endpoints: GatusEndpoint[] = [];
  for (const { key, name, group } of answer.data ?? []) {
    const path = `/api/v1/endpoints/${encodeURIComponent(key)}/statuses?page=1&pageSize=1`;
    const status = await askIfThere(ask, path, (error) => notes.push(dropped(`events of ${key}`, error.message)));
    const events = EventsSchema.safeParse(status).data?.events ?? [];
    endpoints.push({ key, name, group: group ?? '', events: readEvents(events) });
  }
  const config = await askIfThere(ask, '/api/v1/config', (error) =>
    notes.push(dropped('announcements', error.message)),
  );
  const announcements = ConfigSchema.safeParse(config).data?.announcements ?? [];
  return { ...NO_TITLE, name: url, url, endpoints, announcements, notes };
}

/** What its database remembers: endpoints and their last changes. */
export async function gatusFromDatabase(select: Select, name: string): Promise<GatusPart> {
  const rows = await select(
    'SELECT endpoint_id, endpoint_key, endpoint_name, endpoint_group FROM endpoints ORDER BY endpoint_id',
  );
  const events = await select(
    'SELECT endpoint_id, event_type, event_timestamp FROM endpoint_events ORDER BY endpoint_event_id',
  );
  const byEndpoint = Map.groupBy(events, (event) => event['endpoint_id']);
  return {
    ...NO_TITLE,
    name,
    url: null,
    endpoints: rows.map((row) => ({
      key: String(row['endpoint_key']),
      name: String(row['endpoint_name']),
      group: String(row['endpoint_group']),
      events: readEvents(
        (byEndpoint.get(row['endpoint_id']) ?? []).map((event) => ({
          type: String(event['event_type']),
          timestamp: String(event['event_timestamp']),
        })),
      ),
    })),
    announcements: [],
    notes: [],
  };
}

function readEvents(events: readonly { readonly type: string; readonly timestamp: string }[]): GatusEndpoint['events'] {
  return events.flatMap(({ type, timestamp }) => {
    const at = goInstant(timestamp);
    return at === null ? [] : [{ type, at }];
  });
}
