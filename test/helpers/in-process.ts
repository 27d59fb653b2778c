/** Runs commands in this process, one at a time: a tenth of what a process of its own takes. */

import { main } from '../../src/cli/main.ts';
import type { CommandResult } from './pharos.ts';
import { shareThreads } from './warm-threads.ts';

export interface InProcessOptions {
  readonly cwd: string;
  /** Beside what the process has. */
  readonly env?: Readonly<Record<string, string>>;
}

let last: Promise<unknown> = Promise.resolve();

/** The command line as a user types it, without the program's name. Only for commands that end by themselves. */
export function runHere(args: readonly string[], options: InProcessOptions): Promise<CommandResult> {
  const mine = last.then(() => run(args, options));
  last = mine.catch(() => undefined);
  return mine;
}

async function run(args: readonly string[], { cwd, env = {} }: InProcessOptions): Promise<CommandResult> {
  const written = { stdout: '', stderr: '' };
  const before = {
    cwd: process.cwd(),
    env: { ...process.env },
    out: process.stdout.write,
    error: process.stderr.write,
  };
  process.chdir(cwd);
  Object.assign(process.env, env);
  process.stdout.write = (text: string | Uint8Array) => {
    written.stdout += String(text);
    return true;
  };
  process.stderr.write = (text: string | Uint8Array) => {
    written.stderr += String(text);
    return true;
  };
  const ownThreads = shareThreads();
  try {
    const status = await main(args);
    return { status, ...written };
  } finally {
    ownThreads();
    process.stdout.write = before.out;
    process.stderr.write = before.error;
    process.chdir(before.cwd);
    for (const name of Object.keys(env)) {
      if (before.env[name] === undefined) delete process.env[name];
      else process.env[name] = before.env[name];
    }
  }
}
