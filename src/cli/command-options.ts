/** Options that commands share, and how what is typed becomes what they mean. */

import { InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../schema/nearest.ts';
import { UsageError } from './terminal/exit.ts';

export const CONFIG = ['-c, --config <file>', 'configuration file (default: ./pharos.yaml)'] as const;
export const JSON_FLAG = ['--json', 'print the result as one JSON object'] as const;
export const QUIET = ['-q, --quiet', 'only log warnings and errors'] as const;
export const PORT = ['-p, --port <number>', 'port to listen on; 0 picks a free one'] as const;

/** An option that no longer exists. */
export const noWorkers = (): Option =>
  new Option('--workers [number]')
    .preset('')
    .hideHelp()
    .argParser(() => {
      throw new UsageError(
        '--workers no longer exists: one process serves visitors. To use more cores, let a web server serve the public pages (docs/operating.md), or run more nodes (docs/nodes.md).',
      );
    });

/** How a command without arguments is called: its code is loaded then, so that `pharos badge` needs no database. */
export function caller(done: (status: number) => void) {
  return <Options>(load: () => Promise<(options: Options) => Promise<number>>) =>
    async (options: Options): Promise<void> =>
      done(await (await load())(options));
}

/** Of an option that may be repeated. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

export function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('Expected a number from 0 to 65535.');
  return port;
}

export function toCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count < 1) throw new InvalidArgumentError('Expected a number from 1 to 999999.');
  return count;
}

/** One of a few words. @throws UsageError with what was probably meant */
export function oneOf<T extends string>(option: string, value: string, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found === undefined)
    throw new UsageError(`${option} expects one of ${words.join(', ')}; got "${value}".${didYouMean(value, words)}`);
  return found;
}
