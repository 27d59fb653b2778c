/** How a server ends: visitors first, within a bound whatever hangs. */

import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../../app/log.ts';
import type { Door } from '../../app/serving/listen.ts';
import { EXIT_FAILED } from './exit.ts';

/** Half a minute is what supervisors give a process; killed at any point, nothing is lost. */
const STOP_MAX_MS = 25_000;

interface Stopping {
  readonly signal: NodeJS.Signals;
  readonly door: Door;
  readonly log: Log;
  /** How long a balancer needs to see that this node is not ready. */
  readonly drainSeconds: number;
}

/**
 * Sends visitors elsewhere before anything ends. Ctrl-C is somebody at a terminal, whom no balancer keeps waiting; a second
 * signal ends the process at once.
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
