/** Exit statuses, how errors map to them, and what ends a process. */

import { isStatusError, messageOf } from '../../errors.ts';
import { terminalColumns, wrapText } from './table.ts';

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** An error in the command line itself. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Readers of our output may stop early (`pharos --help | head -1`): the rest is discarded, which is not an error. If
 * output can't be written for another reason, such as a full disk, the command fails.
 */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners('error').includes(endUnlessClosed)) stream.on('error', endUnlessClosed);
}

function endUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Can’t write the output: ${messageOf(error)}.\n`);
  process.exit(EXIT_FAILED);
}

/** Prints an error to standard error and returns its exit status. */
export function reportFailure(error: unknown, isJson: boolean): number {
  const { code, issues } = isStatusError(error) ? error : { code: 'USAGE', issues: [] };
  const isUsage = error instanceof UsageError || code === 'CONFIG_INVALID';
  const message = messageOf(error);
  if (isJson) process.stdout.write(`${JSON.stringify({ ok: false, code, message, issues })}\n`);
  process.stderr.write(`${wrapText(message, terminalColumns(process.stderr))}\n`);
  if (!isUsage && !isStatusError(error) && error instanceof Error && error.stack !== undefined)
    process.stderr.write(`${error.stack}\n`);
  return isUsage ? EXIT_USAGE : EXIT_FAILED;
}

/** How often a process started by npm checks whether npm is still alive. */
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
    const parentTimer =
      process.env['npm_command'] === undefined ? undefined : setInterval(checkParent, CHECK_EVERY_MS).unref();
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
