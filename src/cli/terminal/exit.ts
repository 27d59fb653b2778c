/** Exit statuses, and how errors map to them. */

import { isStatusError, messageOf } from '../../errors.ts';
import { terminalColumns, wrapText } from './table.ts';

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** An error in the command line itself. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
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
  const isUsage = error instanceof UsageError || (isStatusError(error) && error.code === 'CONFIG_INVALID');
  if (isJson) {
    const issues = isStatusError(error) ? error.issues : [];
    process.stdout.write(
      `${JSON.stringify({ ok: false, code: isStatusError(error) ? error.code : 'USAGE', message: messageOf(error), issues })}\n`,
    );
  }
  process.stderr.write(`${wrapText(messageOf(error), terminalColumns(process.stderr))}\n`);
  if (!isUsage && !isStatusError(error) && error instanceof Error && error.stack !== undefined)
    process.stderr.write(`${error.stack}\n`);
  return isUsage ? EXIT_USAGE : EXIT_FAILED;
}
