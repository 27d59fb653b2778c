/** The configured exports over the store and the network. */

import { type DeliveryDeps, type DeliveryReport, deliver } from '../exports/deliver.ts';
import { createOutbox, type Outbox } from '../store/outbox.ts';
import type { StoreParts } from './build-store.ts';
import { now } from './clock.ts';

/** What an export needs of a composed Pharos. */
export function deliveryDeps({ store, http }: StoreParts, outbox: Outbox = createOutbox(store.database)): DeliveryDeps {
  return {
    outbox,
    incidents: async (from) => (await store.incidents(from)).filter(({ isOverride }) => isOverride !== true),
    post: ({ url, headers, body }) => http.request({ method: 'POST', url, headers, body }, { now }),
    now,
  };
}

/**
 * Queues and sends for every export; one that fails is data in its report.
 *
 * @param onDone  told how many of them have ended
 */
export async function deliverAll(
  pharos: StoreParts,
  onDone?: (done: number, total: number) => void,
): Promise<readonly DeliveryReport[]> {
  const deps = deliveryDeps(pharos);
  const { exports } = pharos.live.config();
  let done = 0;
  return Promise.all(
    exports.map(async (options) => {
      const report = await deliver(options, deps);
      done += 1;
      onDone?.(done, exports.length);
      return report;
    }),
  );
}
