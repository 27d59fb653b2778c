/**
 * Gives the publishing thread control over leases and transactions. The database that writes is in the other thread, which goes
 * on renewing leases while this one renders. What the publishing thread does under a lease or in a transaction stays there: the
 * other thread calls it back, by number, as soon as it holds the lease or has begun the transaction.
 */

import type { BirpcReturn } from 'birpc';
import type { PublishControl } from '../../publish/publish-control.ts';
import type { Fence } from '../../publish/releases/switch.ts';

type Plain = Pick<
  PublishControl,
  'nextNumber' | 'rememberFirsts' | 'mayServe' | 'tell' | 'commitDays' | 'commitRelease'
>;

/** Calls that the thread with the database answers. */
export interface ControlCalls extends Plain {
  /** Takes the lease, runs a task of the publishing thread, and returns the lease. */
  readonly withLease: (task: number) => Promise<void>;
  /** Runs a task in the transaction of a switch, which is rolled back if the task fails. */
  readonly pass: (lease: number, task: number) => Promise<void>;
}

/** Calls that the publishing thread answers. */
export interface TaskCalls {
  readonly runTask: (task: number) => Promise<void>;
}

/** The control as the publishing thread uses it. */
export function createRemoteControl(host: () => BirpcReturn<ControlCalls, object>): PublishControl & TaskCalls {
  const tasks = new Map<number, () => Promise<void>>();
  let last = 0;

  /** Lets the other thread run a task, by a number. Fails with the error of the task itself, if that is why. */
  async function lend<Result>(
    call: (number: number) => Promise<void>,
    task: (number: number) => Promise<Result>,
  ): Promise<Result> {
    last += 1;
    const number = last;
    let running: Promise<Result> | undefined;
    tasks.set(number, async () => {
      running = task(number);
      await running;
    });
    try {
      await call(number);
    } catch (error) {
      await running;
      throw error;
    } finally {
      tasks.delete(number);
    }
    if (running === undefined) throw new Error('the task was not run');
    return running;
  }

  return {
    withLease: (task) =>
      lend(
        (number) => host().withLease(number),
        (lease) => task({ pass: (switching) => lend((number) => host().pass(lease, number), switching) }),
      ),
    runTask: async (number) => tasks.get(number)?.(),
    nextNumber: (slug, above) => host().nextNumber(slug, above),
    rememberFirsts: (firsts) => host().rememberFirsts(firsts),
    commitDays: (commit) => host().commitDays(commit),
    commitRelease: (commit) => host().commitRelease(commit),
    mayServe: (release) => host().mayServe(release),
    tell: (news) => host().tell(news),
  };
}

/** Answers the publishing thread with the control of this one. If that thread ends, its tasks fail, which returns the lease. */
export function controlCalls(control: PublishControl, thread: () => TaskCalls): ControlCalls {
  const { nextNumber, rememberFirsts, commitDays, commitRelease, mayServe, tell } = control;
  const fences = new Map<number, Fence>();
  return {
    withLease: (task) =>
      control.withLease(async (fence) => {
        fences.set(task, fence);
        try {
          await thread().runTask(task);
        } finally {
          fences.delete(task);
        }
      }),
    pass: async (lease, task) => {
      const fence = fences.get(lease);
      if (fence === undefined) throw new Error('the lease is no longer held');
      await fence.pass(() => thread().runTask(task));
    },
    ...{ nextNumber, rememberFirsts, commitDays, commitRelease, mayServe, tell },
  };
}
