/**
 * Gives the publishing thread, which has no database, control over leases and transactions: the thread with the database keeps
 * them open while the other one renames links.
 */

import { messageOf } from '../../errors.ts';
import type { PublishControl } from '../../publish/publish-control.ts';
import type { Fence } from '../../publish/releases/publish-lease.ts';
import type { RpcPeer } from './rpc.ts';

/** Calls that the thread with the database answers. */
export interface ControlHandlers {
  /** Takes the lease. Resolves with a key once it is held. */
  readonly takeLease: () => Promise<number>;
  readonly releaseLease: (lease: number) => Promise<void>;
  /** Starts the transaction of a switch. Resolves with a key inside it. */
  readonly beginPass: (lease: number) => Promise<number>;
  /** Ends the transaction; with `fault`, it is rolled back. */
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

interface ControlHost {
  readonly handlers: ControlHandlers;
  /** The other thread has ended: releases everything that it held. */
  readonly end: () => void;
}

interface Held<Value> {
  readonly value: Value;
  readonly ended: Promise<void>;
  readonly release: PromiseWithResolvers<void>;
}

/** Answers the other thread with the control of this one. */
export function createControlHost(control: PublishControl): ControlHost {
  const leases = new Map<number, Held<Fence>>();
  const passes = new Map<number, Held<null>>();
  let lastKey = 0;

  /** Starts a task that lasts until it is released. Resolves with its key once it has started. */
  function hold<Value>(
    kept: Map<number, Held<Value>>,
    begin: (use: (value: Value) => Promise<void>) => Promise<void>,
  ): Promise<number> {
    const begun = Promise.withResolvers<number>();
    const release = Promise.withResolvers<void>();
    // The result is reported to the call that ends it.
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
