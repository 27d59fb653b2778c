/** Exit statuses, and how errors map to them. */

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
