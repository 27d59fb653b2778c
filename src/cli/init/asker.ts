/** How answers are asked for: on a terminal, or not at all. */

import { createInterface } from 'node:readline/promises';
import { UsageError } from '../terminal/exit.ts';

/** Asks one thing after the other. */
export interface Asker {
  /** Null for `suggestion`: asked again until there is an answer. */
  readonly ask: (words: string, suggestion: string | null) => Promise<string>;
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
    ask: async (words, suggestion) => {
      const hint = suggestion === null || suggestion === '' ? '' : ` [${suggestion}]`;
      for (;;) {
        reader.setPrompt(`${words}${hint}: `);
        reader.prompt();
        const line = await lines.next();
        if (line.done === true) throw new UsageError(`There is no answer to "${words}".`);
        const answer = line.value.trim();
        if (answer !== '') return answer;
        if (suggestion !== null) return suggestion;
      }
    },
    close: () => reader.close(),
  };
}

/** With nobody to ask, a question without a suggestion is a fault of the command line. */
export function createSilentAsker(): Asker {
  return {
    ask: async (words, suggestion) => {
      if (suggestion !== null) return suggestion;
      throw new UsageError(
        `There is no answer to "${words}", and nobody to ask. Give it with --set, or run pharos init on a terminal.`,
      );
    },
    close: () => undefined,
  };
}
