/**
 * The control of publishing for a thread without the database: the thread that has it holds the lease and the transaction
 * of a switch open while the other one renames.
 */

import { messageOf } from '../../errors.ts';
import type { PublishControl } from '../../publish/publish-control.ts';
import type { Fence } from '../../publish/releases/publish-lease.ts';
import type { RpcPeer } from './rpc.ts';

/** What the thread with the database answers. */
export interface ControlHandlers {
  /** Resolves with a key once the lease is held. */
  readonly takeLease: () => Promise<number>;
  readonly releaseLease: (lease: number) => Promise<void>;
  /** Resolves with a key inside the transaction of a switch. */
  readonly beginPass: (lease: number) => Promise<number>;
  /** Ends the transaction; `fault`: what was to be done failed. */
  readonly endPass: (pass: number, fault: string | null) => Promise<void>;
  readonly nextNumber: PublishControl['nextNumber'];
  readonly rememberFirsts: PublishControl['rememberFirsts'];
  readonly mayServe: PublishControl['mayServe'];
  readonly tell: PublishControl['tell'];
  readonly [name: string]: (...args: never[]) => unknown;
}

/** The control as the other thread uses it. */
export function createRemoteControl({ call }: RpcPeer<ControlHandlers>): PublishControl {
  return {
    withLease: async (task) => {
      const lease = await call('takeLease');
      const fence: Fence = {
        pass: async (switching) => {
          const pass = await call('beginPass', lease);
          try {
            await switching();
          } catch (error) {
            await call('endPass', pass, messageOf(error)).catch(() => undefined);
            throw error;
          }
          await call('endPass', pass, null);
        },
      };
      try {
        return await task(fence);
      } finally {
        await call('releaseLease', lease);
      }
    },
    nextNumber: (slug, above) => call('nextNumber', slug, above),
    rememberFirsts: (firsts) => call('rememberFirsts', firsts),
    mayServe: (release) => call('mayServe', release),
    tell: (news) => call('tell', news),
  };
}

export interface ControlHost {
  readonly handlers: ControlHandlers;
  /** The other thread ended: what it held is let go of. */
  readonly end: () => void;
}

interface Held<Value> {
  readonly value: Value;
  readonly ended: Promise<void>;
  readonly release: PromiseWithResolvers<void>;
}

/** Answers the other thread over the control of this one. */
export function createControlHost(control: PublishControl): ControlHost {
  const leases = new Map<number, Held<Fence>>();
  const passes = new Map<number, Held<null>>();
  let lastKey = 0;

  /** Begins what lasts until it is released; resolves with its key once it has begun. */
  function hold<Value>(
    kept: Map<number, Held<Value>>,
    begin: (use: (value: Value) => Promise<void>) => Promise<void>,
  ): Promise<number> {
    const begun = Promise.withResolvers<number>();
    const release = Promise.withResolvers<void>();
    // Whoever ends it is told how it ended.
    release.promise.catch(() => undefined);
    lastKey += 1;
    const key = lastKey;
    const ended = begin(async (value) => {
      kept.set(key, { value, ended, release });
      begun.resolve(key);
      await release.promise;
    });
    ended.catch(begun.reject);
    return begun.promise;
  }

  async function letGo<Value>(kept: Map<number, Held<Value>>, key: number, fault: string | null): Promise<void> {
    const held = kept.get(key);
    kept.delete(key);
    if (held === undefined) return;
    if (fault === null) held.release.resolve();
    else held.release.reject(new Error(fault));
    await held.ended;
  }

  return {
    handlers: {
      takeLease: () => hold(leases, (use) => control.withLease(use)),
      releaseLease: (lease) => letGo(leases, lease, null),
      beginPass: (lease) => {
        const fence = leases.get(lease)?.value;
        if (fence === undefined) throw new Error('the lease is no longer held');
        return hold(passes, (use) => fence.pass(() => use(null)));
      },
      endPass: (pass, fault) => letGo(passes, pass, fault),
      nextNumber: control.nextNumber,
      rememberFirsts: control.rememberFirsts,
      mayServe: control.mayServe,
      tell: control.tell,
    },
    end: () => {
      for (const key of passes.keys()) void letGo(passes, key, 'the publishing thread ended').catch(() => undefined);
      for (const key of leases.keys()) void letGo(leases, key, null).catch(() => undefined);
    },
  };
}
