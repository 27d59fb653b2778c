/** The configured exports over the store and the network. */

import { type DeliveryDeps, type DeliveryReport, deliver } from '../exports/deliver.ts';
import type { StoreParts } from './build-store.ts';
import { now } from './clock.ts';

/** What an export needs to run. */
export function deliveryDeps({ store, http }: StoreParts): DeliveryDeps {
  return {
    database: store.database,
    incidents: async (from) => (await store.incidents(from)).filter(({ isOverride }) => isOverride !== true),
    post: async ({ url, headers, body, accepts }) => {
      const question = { method: 'POST', url, headers, body, acceptStatuses: accepts, reads: 'text' } as const;
      const { status, payload } = await http.request(question, { now });
      return { status, text: String(payload) };
    },
    now,
    random: Math.random,
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
