/**
 * A process that publishes a small site when it is told to: for races between real processes, and to be killed.
 *
 * Run with the data folder, its pages, and how long a lease lasts as its arguments. Takes `{ now, states }` (states: a pass is committed first) and answers
 * with the report of the run.
 */

import type { State } from '../../src/model/state.ts';
import { toEpochMs } from '../../src/model/time.ts';
import type { PublishReport } from '../../src/publish/publisher.ts';
import { createSmallSite } from './small-site.ts';

export interface PublishOrder {
  readonly now: number;
  /** Of the two monitors of each page, by slug; absent: no pass. */
  readonly states?: Readonly<Record<string, [State, State]>>;
}

export type PublishAnswer = PublishReport | { readonly error: string };

const [folder = '', pages = 'acme', leaseMs] = process.argv.slice(2);
const site = createSmallSite({
  folder,
  pages: pages.split(','),
  ...(leaseMs === undefined ? {} : { leaseMs: Number(leaseMs) }),
});
const { run } = site.publisher({ onError: () => undefined });

process.on('message', async ({ now, states }: PublishOrder) => {
  let answer: PublishAnswer;
  try {
    site.clock.now = toEpochMs(now);
    for (const [slug, pair] of Object.entries(states ?? {})) {
      site.upstream(slug).states = pair;
      await site.pass(slug);
    }
    answer = await run();
  } catch (error) {
    answer = { error: String(error) };
  }
  // Whoever wanted to know may be gone.
  if (process.connected) process.send?.(answer, () => undefined);
});
process.send?.('ready');
