/** What a kind of connector brings to the sandbox: local upstreams that speak its API out of the world. */

import type { Upstream } from './exchange.ts';
import type { World } from './world.ts';

/** Where an upstream of the sandbox is, and how a configuration names it. */
export interface LocalUpstream {
  /** The first part of its path, and its name in faults and in the log of requests. */
  readonly name: string;
  /** Its id in the configuration: the first that no upstream before it has taken. */
  readonly ids: readonly string[];
  /**
   * Its entry of `upstreams`; the id is filled in.
   *
   * @param url of this upstream, without a slash at the end
   */
  readonly entry: (url: string, world: World) => Readonly<Record<string, unknown>>;
  /** Whether the configuration has it unless told which. Default: no. */
  readonly isUsual?: boolean;
  /** Services that pages show as this upstream sees them, by the same id; left out: it knows none of the services. */
  readonly serviceIds?: readonly number[];
  /** Whether it lists the pages of the world, which those of the configuration then take over. Default: no. */
  readonly definesPages?: boolean;
}

/** What answers are made from. */
export interface SandboxContext {
  readonly world: World;
  /** A secret by its name; opens nothing but this sandbox, and is the same for the same seed. */
  readonly secret: (name: string) => string;
  /** Of the page `partners`. */
  readonly pagePassword: string;
}

export interface SandboxKind {
  /** What faults spoil: words and ids; the connector declares which fields they are in. */
  readonly connector: {
    readonly kind: string;
    readonly idField: string;
    readonly words: Readonly<Record<string, readonly (string | number | boolean)[]>>;
  };
  readonly upstreams: readonly LocalUpstream[];
  /** The variables that the entries take their secrets from. */
  readonly variables: (context: SandboxContext) => Readonly<Record<string, string>>;
  /** What answers for each upstream, by its name. What they share lives as long as the sandbox. */
  readonly start: (context: SandboxContext) => Readonly<Record<string, Upstream>>;
}
