/** Commands to set Pharos up, to look after it and to see what it would do. */

import type { Command } from 'commander';
import { CONFIG, JSON_FLAG, toCount } from './command-options.ts';
import type { RollbackOptions } from './commands/rollback.ts';

/** Adds them to the program; `done` takes the exit status of the one that was called. */
export function addOperatorCommands(program: Command, done: (status: number) => void): void {
  // A command's code is loaded when it is called.
  const run =
    <Options>(load: () => Promise<(options: Options) => Promise<number>>) =>
    async (options: Options): Promise<void> =>
      done(await (await load())(options));

  program
    .command('audit')
    .description('who made Pharos do what, when, and what came of it; sign-ins as sums')
    .option('-n, --limit <count>', 'how many entries', toCount, 50)
    .option('--days <count>', 'of how many days to count sign-ins', toCount, 7)
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos audit\n  pharos audit --limit 200 --days 30 --json')
    .action(run(async () => (await import('./commands/audit.ts')).audit));
  program
    .command('rollback')
    .description('serve an earlier release of a page again, until the page is next published')
    .argument('<page>', 'slug of the page')
    .argument('[release]', 'number of the release (default: the one before)', toCount)
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos rollback acme\n  pharos rollback acme 41')
    .action(async (slug: string, release: number | undefined, options: RollbackOptions) =>
      done(await (await import('./commands/rollback.ts')).rollback({ slug, release: release ?? null }, options)),
    );
}
