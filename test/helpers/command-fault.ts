/** Whether a command line is one that Pharos takes, without running it. */

import type { Command } from 'commander';
import { createProgram } from '../../src/cli/main.ts';

/** What the words of a command line mean: null, or what is wrong with them. */
export function faultOf(words: readonly string[], isSentence = false): string | null {
  let command: Command = createProgram(() => undefined);
  const rest = [...words];
  for (let next = rest[0]; next !== undefined; next = rest[0]) {
    const child = command.commands.find((one) => one.name() === next);
    if (child === undefined) break;
    command = child;
    rest.shift();
  }
  if (command.commands.length > 0) return `${words.join(' ')}: there is no such command`;
  // What a value must be is for the command itself: N and DIR stand for one.
  for (const option of command.options) option.argParser((value) => value);
  const { operands, unknown } = command.parseOptions(rest);
  if (unknown.length > 0) return `${words.join(' ')}: there is no ${unknown[0]}`;
  const required = command.registeredArguments.filter((argument) => argument.required).length;
  // A command that is only named, in a sentence, has none.
  const isNamed = rest.length === 0 && isSentence;
  return operands.length < required && !isNamed ? `${words.join(' ')}: an argument is missing` : null;
}
