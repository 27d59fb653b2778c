/** How commands are declared, the options that they share, and parsers for their values. */

import { type Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { didYouMean } from '../../schema/nearest.ts';
import { UsageError } from '../terminal/exit.ts';

type Flag =
  | Option
  | readonly [flags: string, words: string, initial?: string]
  | readonly [flags: string, words: string, parse: (text: string, before: never) => unknown, initial?: unknown];

/** A command with its options. */
export interface CommandSpec {
  readonly does: string;
  readonly takes?: readonly (Argument | readonly [name: string, words: string, parse?: (text: string) => unknown])[];
  /** Default: those that most commands take. */
  readonly options?: readonly Flag[];
  readonly examples: readonly string[];
  readonly isHidden?: boolean;
  /** Loads its code when it runs, so that `pharos badge` needs no database. It gets the arguments, then the options. */
  readonly load: () => Promise<unknown>;
}

/**
 * Adds commands by name: `keys revoke` becomes a command below `keys`.
 *
 * @param parents  descriptions of commands that only have subcommands
 * @param done     called with the exit status of the command that ran
 */
export function addCommands(
  program: Command,
  specs: Readonly<Record<string, CommandSpec>>,
  { parents, done }: { readonly parents: Readonly<Record<string, string>>; readonly done: (status: number) => void },
): void {
  for (const [path, { does, takes = [], options = USUAL, examples, isHidden = false, load }] of Object.entries(specs)) {
    const [first = '', second] = path.split(' ');
    const before = program.commands.find((one) => one.name() === first);
    const parent =
      second === undefined ? program : (before ?? program.command(first).description(parents[first] ?? ''));
    const command = parent.command(second ?? first, { hidden: isHidden }).description(does);
    for (const taken of takes)
      if (!Array.isArray(taken)) command.addArgument(taken as Argument);
      else command.argument(...(taken as [string, string]));
    // Options are copied, because commander changes those of a program.
    for (const option of options)
      if (option instanceof Option) command.addOption(Object.assign(new Option(option.flags), option));
      else command.option(...(option as [string, string]));
    const heading = examples.length === 1 ? 'Example' : 'Examples';
    command
      .addHelpText('after', `\n${heading}:\n${examples.map((example) => `  ${example}`).join('\n')}`)
      .action(async (...received: unknown[]) => {
        const run = (await load()) as (...given: unknown[]) => number | Promise<number>;
        done(await run(...received.slice(0, -1)));
      });
  }
}

export const CONFIG = ['-c, --config <file>', 'configuration file (default: ./pharos.yaml)'] as const;
export const JSON_FLAG = ['--json', 'print the result as one JSON object'] as const;
/** What most commands take. */
export const USUAL = [CONFIG, JSON_FLAG] as const;
export const QUIET = ['-q, --quiet', 'only log warnings and errors'] as const;
export const PORT = ['-p, --port <number>', 'port to listen on; 0 picks a free one', toPort] as const;
export const HOST = ['--host <address>', 'address to listen on'] as const;
export const SERVER_URL = [
  '--url <address>',
  'address of the running server (default: from the configuration)',
] as const;

/** A mandatory option. */
export function required(flags: string, words: string, parse?: typeof collect): Option {
  const option = new Option(flags, words).makeOptionMandatory();
  return parse === undefined ? option : option.argParser<readonly string[]>(parse);
}

/** An option that no longer exists. */
export const NO_WORKERS = new Option('--workers [number]')
  .preset('')
  .hideHelp()
  .argParser(() => {
    throw new UsageError(
      '--workers no longer exists: one process serves visitors. To use more cores, let a web server serve the public pages (docs/operating.md), or run more nodes (docs/nodes.md).',
    );
  });

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('Expected a number from 0 to 65535.');
  return port;
}

export function toCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count < 1) throw new InvalidArgumentError('Expected a number from 1 to 999999.');
  return count;
}

/** Checks that a value is one of a few words. @throws UsageError with a suggestion */
export function oneOf<T extends string>(option: string, value: string, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found === undefined)
    throw new UsageError(`${option} expects one of ${words.join(', ')}; got "${value}".${didYouMean(value, words)}`);
  return found;
}
