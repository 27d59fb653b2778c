/** The commands as shells complete them, made from the commands themselves, so that scripts never lag behind. */

import type { Command, Option } from 'commander';
import { COMPLETION_VALUES, type CompletionValues } from '../completion-values.ts';

/** One command as a shell needs it. */
export interface Entry {
  /** `['keys', 'revoke']`; empty: the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly Named[];
  readonly options: readonly OptionEntry[];
  /** What its first argument takes. */
  readonly argument: Taken;
}

export interface Named {
  readonly name: string;
  readonly description: string;
}

export interface OptionEntry {
  readonly long: string;
  readonly short: string | null;
  readonly description: string;
  readonly takes: Taken;
}

export type Taken = 'nothing' | 'file' | 'text' | CompletionValues;

/** A command and those below it. */
export function entriesOf(command: Command, path: readonly string[]): readonly Entry[] {
  const own: Entry = {
    path,
    commands: visible(command).map((child) => ({ name: child.name(), description: child.description() })),
    options: [
      ...command.options
        .filter(({ hidden }) => !hidden)
        .map(
          (option): OptionEntry => ({
            long: option.long ?? '',
            short: option.short ?? null,
            description: option.description,
            takes: takenBy(option, path),
          }),
        ),
      { long: '--help', short: '-h', description: 'display help', takes: 'nothing' },
    ],
    argument: argumentOf(command, path),
  };
  return [own, ...visible(command).flatMap((child) => entriesOf(child, [...path, child.name()]))];
}

/** Those that its help lists. */
function visible(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function takenBy({ flags, long, argChoices }: Option, path: readonly string[]): Taken {
  if (!/[<[]/.test(flags)) return 'nothing';
  if (FILE.test(flags)) return 'file';
  return argChoices ?? COMPLETION_VALUES[`${path.join(' ')} ${long}`] ?? COMPLETION_VALUES[String(long)] ?? 'text';
}

function argumentOf(command: Command, path: readonly string[]): Taken {
  const [first] = command.registeredArguments;
  if (first === undefined) return 'nothing';
  const name = `<${first.name()}>`;
  if (FILE.test(name)) return 'file';
  return first.argChoices ?? COMPLETION_VALUES[`${path.join(' ')} ${name}`] ?? 'text';
}

/** What an option or an argument is called that is a path. */
const FILE = /<(file|folder|place)>/;

export function hasValues(taken: Taken): taken is CompletionValues {
  return taken !== 'nothing' && taken !== 'file' && taken !== 'text';
}
