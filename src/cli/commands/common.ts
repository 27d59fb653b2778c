/** What commands share: their configuration, their output, and the exit status that follows from what happened. */

import { type Config, findConfig, parseConfig } from '../../config/load.ts';
import { isStatusError, messageOf } from '../../errors.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';

export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** The configuration a command works with; null when none was named and there is no pharos.yaml here. */
export function loadConfig(named: string | undefined): Config | null {
  const source = findConfig(named, process.cwd());
  return source === null ? null : parseConfig(source, CONNECTORS, process.env);
}

/** The same, for commands that mean nothing without one. */
export function requireConfig(named: string | undefined): Config {
  const config = loadConfig(named);
  if (config !== null) return config;
  throw new UsageError(
    'There is no pharos.yaml here. Name one with --config FILE, or run `pharos start` to try the sandbox.',
  );
}

/** The command line itself was wrong. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Prints for a person, or one JSON object for a machine; never both. */
export function print(isJson: boolean, value: unknown, text: string): void {
  process.stdout.write(isJson ? `${JSON.stringify(value)}\n` : `${text}\n`);
}

/** Says what went wrong on standard error and returns the exit status that goes with it. */
export function reportFailure(error: unknown, isJson: boolean): number {
  const isUsage = error instanceof UsageError || (isStatusError(error) && error.code === 'CONFIG_INVALID');
  if (isJson) {
    const issues = isStatusError(error) ? error.issues : [];
    process.stdout.write(
      `${JSON.stringify({ ok: false, code: isStatusError(error) ? error.code : 'USAGE', message: messageOf(error), issues })}\n`,
    );
  }
  process.stderr.write(`${messageOf(error)}\n`);
  if (!isUsage && !isStatusError(error) && error instanceof Error && error.stack !== undefined)
    process.stderr.write(`${error.stack}\n`);
  return isUsage ? EXIT_USAGE : EXIT_FAILED;
}
