/** The configured exports over the store and the network. */

import { type DeliveryDeps, type DeliveryReport, deliver } from '../exports/deliver.ts';
import { createOutbox, type Outbox } from '../store/outbox.ts';
import { now, type Pharos } from './compose.ts';

/** What an export needs of a composed Pharos. */
export function deliveryDeps({ store, http }: Pharos, outbox: Outbox = createOutbox(store.database)): DeliveryDeps {
  return {
    outbox,
    incidents: async (from) => (await store.incidents(from)).filter(({ isOverride }) => isOverride !== true),
    post: ({ url, headers, body }) => http.request({ method: 'POST', url, headers, body }, { now }),
    now,
  };
}

/** Queues and sends for every export; one that fails is data in its report. */
export async function deliverAll(pharos: Pharos): Promise<readonly DeliveryReport[]> {
  const deps = deliveryDeps(pharos);
  return Promise.all(pharos.config.exports.map((options) => deliver(options, deps)));
}
