/** How often a process started by npm checks whether npm is still alive. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../app/log.ts';
import type { Door } from '../../app/serving/listen.ts';
import { EXIT_FAILED } from './exit.ts';

const CHECK_EVERY_MS = 500;

/** The parent process. */
const PARENT = process.ppid;

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. npm starts commands in a shell, and
 * signals to npm or the shell don't reach the command, so there the end of the parent process counts as SIGTERM.
 */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      clearInterval(parentTimer);
      for (const name of ['SIGINT', 'SIGTERM'] as const) {
        process.off(name, stop);
        process.once(name, () => process.exit(1));
      }
      resolve(signal);
    };
    const checkParent = (): void => {
      if (process.ppid !== PARENT) stop('SIGTERM');
    };
    const parentTimer = process.env['npm_command'] === undefined ? undefined : setInterval(checkParent, CHECK_EVERY_MS);
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

/** Supervisors usually allow half a minute. Nothing is lost if the process is killed. */
const STOP_MAX_MS = 25_000;

interface Stopping {
  readonly signal: NodeJS.Signals;
  readonly door: Door;
  readonly log: Log;
  /** How long a load balancer needs to notice that this node isn't ready. */
  readonly drainSeconds: number;
}

/**
 * Lets load balancers send visitors elsewhere before the server stops. Not after Ctrl-C, which is pressed at a
 * terminal; a second signal ends the process at once.
 */
export async function drain({ signal, door, log, drainSeconds }: Stopping): Promise<void> {
  log.info({ signal }, 'stopping');
  door.drain();
  if (signal === 'SIGTERM' && drainSeconds > 0) await wait(drainSeconds * 1_000);
  setTimeout(() => {
    log.error(`stopping took longer than ${STOP_MAX_MS / 1_000} s and was interrupted`);
    process.exit(EXIT_FAILED);
  }, STOP_MAX_MS).unref();
}
