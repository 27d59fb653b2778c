/** What commands share: their configuration and their output. */

import { compose, type Pharos } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { type Config, findConfig, parseConfig } from '../../config/load.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';
import { UsageError } from '../terminal/exit.ts';

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
    'No pharos.yaml in this folder. Use --config FILE, create one with `pharos init`, or try the sandbox with `pharos start`.',
  );
}

/** The parts for a command that looks at what is there and publishes nothing; `await using` closes them. */
export async function openQuietly(config: Config): Promise<Pharos & AsyncDisposable> {
  const log = createLog({ isQuiet: true, secrets: config.secrets });
  const pharos = await compose(config, { log, isPublishing: false, printsMail: false });
  return Object.assign(pharos, { [Symbol.asyncDispose]: pharos.close });
}

/** Prints for a person, or one JSON object for a machine; never both. */
export function print(isJson: boolean, value: unknown, text: string): void {
  process.stdout.write(isJson ? `${JSON.stringify(value)}\n` : `${text}\n`);
}
