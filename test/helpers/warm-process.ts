/**
 * A process that runs one command line after another, told by the one that started it (`warm.ts`). What commands leave behind in a
 * process that goes on is cleared away: their timers, which would fire in the next one, and what listens for signals.
 */

import { main } from '../../src/cli/main.ts';
// Most commands are `start`; what it imports is there before it is asked for.
import '../../src/cli/commands/start.ts';
import { alive, clearTimers, leftBehind } from './left-behind.ts';
import { shareThreads } from './warm-threads.ts';

export interface WarmTask {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written to both outputs after everything else. */
  readonly endMark: string;
}

/** Longer than a command takes to close everything on a machine that does much else. */
const ENDS_WITHIN_MS = 30_000;

shareThreads();
process.on('message', (task: WarmTask) => void run(task));
process.on('disconnect', () => process.exit(0));

async function run({ args, cwd, env, endMark }: WarmTask): Promise<void> {
  const before = alive();
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = undefined;
  const returned = await main(args);
  const status = Number(process.exitCode ?? returned);
  const left = await leftBehind(before, ENDS_WITHIN_MS);
  if (left.length > 0) process.stderr.write(`The process would not end: ${left.join(', ')}.\n`);
  clearTimers();
  // Its folder may be removed now.
  process.chdir('/');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((written) => stream.write(endMark, () => written()));
  process.send?.({ status: left.length > 0 ? -1 : status });
}
