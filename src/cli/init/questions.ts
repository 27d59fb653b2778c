/** What is asked for each kind of upstream, and how an answer is asked for on a terminal. */

import { createInterface } from 'node:readline/promises';
import { UsageError } from '../terminal/exit.ts';

/** One option of an upstream. */
export interface OptionQuestion {
  /** In the configuration; `headers.Authorization` is nested. */
  readonly key: string;
  readonly words: string;
  /** `secret`: the name of an environment variable is asked for, never the secret itself. */
  readonly takes: 'text' | 'address' | 'secret';
  /** Suggested; null: an answer is needed. `''`: it may be left out. */
  readonly suggestion: string | null;
  /** Around the variable of a secret: `Bearer ${NAME}`. */
  readonly template?: (reference: string) => string;
}

export interface KindQuestions {
  readonly kind: string;
  readonly words: string;
  readonly id: string;
  readonly options: readonly OptionQuestion[];
}

/** The kinds that can be set up by answering questions, in the order they are offered. */
export const KIND_QUESTIONS: readonly KindQuestions[] = [
  {
    kind: 'server-monitor',
    words: 'the read-only API of a server monitor',
    id: 'edge',
    options: [
      { key: 'baseUrl', words: 'Address of its API', takes: 'address', suggestion: null },
      { key: 'apiKey', words: 'Environment variable with its key', takes: 'secret', suggestion: 'EDGE_KEY' },
    ],
  },
  {
    kind: 'uptime-service',
    words: 'an uptime service with RPC',
    id: 'svc',
    options: [
      { key: 'rpcUrl', words: 'Address of its RPC API', takes: 'address', suggestion: null },
      {
        key: 'restUrl',
        words: 'Address of its REST API (empty: beside the RPC API)',
        takes: 'address',
        suggestion: '',
      },
      { key: 'apiKey', words: 'Environment variable with its key', takes: 'secret', suggestion: 'SVC_KEY' },
    ],
  },
  {
    kind: 'backup-control-plane',
    words: 'a backup control plane',
    id: 'backups',
    options: [
      { key: 'baseUrl', words: 'Address of its API', takes: 'address', suggestion: null },
      { key: 'email', words: 'E-mail address of a user that may look', takes: 'text', suggestion: null },
      {
        key: 'password',
        words: 'Environment variable with the password',
        takes: 'secret',
        suggestion: 'BACKUP_PASSWORD',
      },
    ],
  },
  {
    kind: 'customer-journeys',
    words: 'customer journeys',
    id: 'crm',
    options: [
      { key: 'tenantBaseUrl', words: 'Address of the tenant', takes: 'address', suggestion: null },
      {
        key: 'headers.Authorization',
        words: 'Environment variable with the token',
        takes: 'secret',
        suggestion: 'CRM_TOKEN',
        template: (reference) => `Bearer ${reference}`,
      },
    ],
  },
  {
    kind: 'terraform',
    words: 'a Terraform state or folder',
    id: 'iac',
    options: [{ key: 'path', words: 'State, plan or folder', takes: 'text', suggestion: './terraform.tfstate' }],
  },
  {
    kind: 'markdown',
    words: 'posts written by hand',
    id: 'posts',
    options: [{ key: 'path', words: 'Folder of posts', takes: 'text', suggestion: './posts' }],
  },
];

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
