/** How answers are asked for: on a terminal, or not at all. */

import { createInterface } from 'node:readline/promises';
import { UsageError } from '../terminal/exit.ts';

/** What is wrong with an answer, as a sentence; null: nothing. */
export type AnswerCheck = (answer: string) => string | null;

/** Asks one thing after the other. */
export interface Asker {
  /** Null for `suggestion`: asked again until there is an answer. Asked again, too, as long as `check` finds a fault. */
  readonly ask: (words: string, suggestion: string | null, check?: AnswerCheck) => Promise<string>;
  readonly close: () => void;
}

/** Asks on a terminal; an empty answer takes the suggestion. Lines that are there before they are asked for are kept. */
export function createTerminalAsker(
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Asker {
  const reader = createInterface({ input, output });
  const lines = reader[Symbol.asyncIterator]();
  return {
    ask: async (words, suggestion, check = () => null) => {
      const hint = suggestion === null || suggestion === '' ? '' : ` [${suggestion}]`;
      // What there is to choose from is shown once.
      for (let asked = words; ; asked = lastLine(words)) {
        reader.setPrompt(`${asked}${hint}: `);
        reader.prompt();
        const line = await lines.next();
        if (line.done === true) throw new UsageError(`No answer to "${lastLine(words)}".`);
        const answer = line.value.trim() === '' ? suggestion : line.value.trim();
        if (answer === null) continue;
        const fault = check(answer);
        if (fault === null) return answer;
        output.write(`  ${fault}\n`);
      }
    },
    close: () => reader.close(),
  };
}

/** With nobody to ask, a question without a suggestion is a fault of the command line. */
export function createSilentAsker(): Asker {
  return {
    ask: async (words, suggestion, check = () => null) => {
      const fault = suggestion === null ? null : check(suggestion);
      if (fault !== null) throw new UsageError(`${lastLine(words)}: ${fault}`);
      if (suggestion !== null) return suggestion;
      throw new UsageError(`No answer to "${lastLine(words)}". Pass it with --set, or run pharos init in a terminal.`);
    },
    close: () => undefined,
  };
}

/** The question itself, without what there is to choose from. */
function lastLine(words: string): string {
  return words.slice(words.lastIndexOf('\n') + 1);
}
