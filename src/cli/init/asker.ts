/** Asks questions on a terminal, or not at all. */

import { createInterface } from 'node:readline/promises';
import { didYouMean } from '../../schema/nearest.ts';
import { UsageError } from '../terminal/exit.ts';

/** Says what is wrong with an answer; null: nothing. */
export type AnswerCheck = (answer: string) => string | null;

/** Asks one question after the other. */
export interface Asker {
  /** Without a suggestion, asks until there is an answer; with `check`, until it finds nothing wrong. */
  readonly ask: (words: string, suggestion: string | null, check?: AnswerCheck) => Promise<string>;
  /**
   * One of several names: chosen with the arrow keys or by typing part of it; typed in full where the terminal doesn't
   * support that.
   */
  readonly choose: (words: string, choices: readonly Choice[], suggestion: string) => Promise<string>;
  readonly close: () => void;
}

export interface Choice {
  readonly name: string;
  readonly title: string;
}

/** Asks on a terminal; an empty answer accepts the suggestion. Lines entered before a question are kept for it. */
export function createTerminalAsker(
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Asker {
  const open = () => {
    const reader = createInterface({ input, output });
    const opened = { reader, lines: reader[Symbol.asyncIterator](), isOver: false };
    // Lines entered before are still read.
    reader.once('close', () => Object.assign(opened, { isOver: true }));
    return opened;
  };
  let opened: ReturnType<typeof open> | null = null;
  const asker: Asker = {
    choose: async (words, choices, suggestion) => {
      if (input !== process.stdin) return asker.ask(listed(words, choices), suggestion, nameCheck(choices));
      // Otherwise both would read the input.
      opened?.reader.close();
      opened = null;
      return pick(words, choices, suggestion);
    },
    ask: async (words, suggestion, check = () => null) => {
      opened ??= open();
      const { reader, lines } = opened;
      const hint = suggestion === null || suggestion === '' ? '' : ` [${suggestion}]`;
      // The choices are shown only once.
      for (let question = words; ; question = lastLine(words)) {
        reader.setPrompt(`${question}${hint}: `);
        if (!opened.isOver) reader.prompt();
        const line = await lines.next();
        if (line.done === true) throw new UsageError(`No answer to "${lastLine(words)}".`);
        const answer = line.value.trim() === '' ? suggestion : line.value.trim();
        if (answer === null) continue;
        const fault = check(answer);
        if (fault === null) return answer;
        output.write(`  ${fault}\n`);
      }
    },
    close: () => opened?.reader.close(),
  };
  return asker;
}

/** If nobody can be asked, a question without a suggestion is a usage error. */
export function createSilentAsker(): Asker {
  const asker: Asker = {
    choose: (words, choices, suggestion) => asker.ask(listed(words, choices), suggestion, nameCheck(choices)),
    ask: async (words, suggestion, check = () => null) => {
      const fault = suggestion === null ? null : check(suggestion);
      if (fault !== null) throw new UsageError(`${lastLine(words)}: ${fault}`);
      if (suggestion !== null) return suggestion;
      throw new UsageError(`No answer to "${lastLine(words)}". Pass it with --set, or run pharos init in a terminal.`);
    },
    close: () => undefined,
  };
  return asker;
}

/** Typing filters the list by name and title. */
async function pick(words: string, choices: readonly Choice[], suggestion: string): Promise<string> {
  const { default: search } = await import('@inquirer/search');
  const shown = choices.toSorted((a, b) => Number(b.name === suggestion) - Number(a.name === suggestion));
  return search(
    {
      message: words,
      source: (typed) =>
        shown
          .filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes((typed ?? '').trim().toLowerCase()))
          .map(({ name, title }) => ({ value: name, name: `${name}: ${title}`, short: name })),
    },
    { output: process.stderr },
  );
}

function listed(words: string, choices: readonly Choice[]): string {
  return `${words}\n${choices.map(({ name, title }) => `  ${name}: ${title}`).join('\n')}\nKind`;
}

/** Rejects names that aren't among the choices. */
export function nameCheck(choices: readonly Choice[]): AnswerCheck {
  const names = choices.map(({ name }) => name);
  return (text) =>
    names.includes(text)
      ? null
      : `Unknown kind "${text}". Use one of: ${names.join(', ')}.${didYouMean(text, new Set(names))}`;
}

/** The question without the list of choices. */
function lastLine(words: string): string {
  return words.slice(words.lastIndexOf('\n') + 1);
}
