/**
 * A world as the test tells it: what each upstream answered at which instant, and when the page was published. Plain
 * data that the real path and the model are both handed; all instants but the publishes are whole ticks.
 */

import type { Incident, Maintenance } from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';

/** Half a minute: the grid of all that happens. */
export const TICK_MS = 30_000;

export interface World {
  readonly seed: number;
  readonly slug: string;
  /** The id of the page's definition: of an upstream's, or `config/<slug>`. */
  readonly definitionId: string;
  readonly zone: string;
  readonly groups: readonly { readonly id: string; readonly name: string; readonly order: number }[];
  /** As the definition lists them. */
  readonly components: readonly WorldComponent[];
  readonly upstreams: readonly WorldUpstream[];
  /** How long a component is down before an incident opens by itself; null: never. */
  readonly afterMs: number | null;
  /** In the order in which they happen; at one instant answers come before publishes. Instants go back where the clock is set back. */
  readonly steps: readonly Step[];
}

export interface WorldComponent {
  readonly id: string;
  readonly name: string;
  /** `<upstream>/<id>`; null: static. */
  readonly monitor: string | null;
  readonly groupId: string | null;
  readonly order: number;
  readonly groupOrder: number;
  readonly showsDetails: boolean;
}

export interface WorldUpstream {
  readonly id: string;
  readonly intervalMs: number;
  readonly monitors: readonly string[];
}

export type Step = Answer | { readonly kind: 'publish'; readonly at: number };

export interface Answer {
  readonly kind: 'answer';
  readonly at: number;
  readonly upstream: string;
  /** By monitor; null: the list of monitors could not be read. */
  readonly states: Readonly<Record<string, State>> | null;
  /** Null: could not be read. */
  readonly incidents: readonly Incident[] | null;
  readonly maintenances: readonly Maintenance[] | null;
  /** Whether lists are whole, from when on; null: no list says so. */
  readonly whole: { readonly since: number | null } | null;
  /** Ids there that lists name though their items could not be read. */
  readonly unreadable: readonly string[];
}

/** The internal name of a monitor, which no visitor may ever read. */
export function internalName(monitor: string): string {
  return `secret-${monitor.replace('/', '-')}.internal`;
}

export function upstreamOf(id: string): string {
  return id.slice(0, id.indexOf('/'));
}
