/** Commands that ask upstreams, publish and serve, and the badge on the command line. */

import { type Command, Option } from 'commander';
import { CONFIG, caller, JSON_FLAG, noWorkers, PORT, QUIET, toPort } from './command-options.ts';
import type { BadgeCommandOptions } from './commands/badge.ts';
import type { ChecksRunOptions } from './commands/checks-run.ts';
import type { VerifyOptions } from './commands/verify.ts';

/** Adds them to the program; `done` takes the exit status of the one that was called. */
export function addRunCommands(program: Command, done: (status: number) => void): void {
  addServerCommands(program, done);
  addSingleRuns(program, done);
}

/** Servers, and what speaks to one. */
function addServerCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  program
    .command('start', { isDefault: false })
    .description('sync on a schedule, publish what changed and serve it; without a configuration, run the sandbox')
    .option(...CONFIG)
    .option(...PORT, toPort)
    .option('--host <address>', 'address to listen on')
    .addOption(
      new Option('--role <role>', 'what this node does: sync and publish, serve what others published, or both')
        .choices(['all', 'sync', 'web'])
        .default('all'),
    )
    .option('--new-key', 'go on without the key that subscribers’ addresses were encrypted with')
    .addOption(noWorkers())
    .option(...QUIET)
    .addHelpText(
      'after',
      '\nExamples:\n  pharos start\n  pharos start --config /etc/pharos.yaml --port 8080\n  pharos start --role web',
    )
    .action(run(async () => (await import('./commands/start.ts')).start));
  program
    .command('serve')
    .description('serve the published pages; sync and publish nothing')
    .addHelpText('after', '\nExample:\n  pharos serve --host 0.0.0.0 --port 8080')
    .option(...CONFIG)
    .option(...PORT, toPort)
    .option('--host <address>', 'address to listen on')
    .addOption(noWorkers())
    .option(...QUIET)
    .action(run(async () => (await import('./commands/serve.ts')).serve));
  program
    .command('rebuild')
    .description('tell the running server to sync and publish now, and wait for its report')
    .option(...CONFIG)
    .option('--page <slug>', 'publish only this page')
    .option('--url <address>', 'address of the running server (default: from the configuration)')
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos rebuild\n  pharos rebuild --page example --json')
    .action(run(async () => (await import('./commands/rebuild.ts')).rebuild));
  program
    .command('sandbox')
    .description('run local test upstreams and print a configuration for them')
    .option(...PORT, toPort, 4400)
    .addHelpText('after', '\nExample:\n  pharos sandbox --port 4400')
    .action(run(async () => (await import('./commands/start.ts')).sandbox));
}

/** Commands that do their work and end. */
function addSingleRuns(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  program
    .command('sync')
    .description('sync every upstream once and print a report; publish nothing')
    .option(...CONFIG)
    .option('-u, --upstream <id>', 'sync only this upstream')
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos sync\n  pharos sync --upstream edge --json')
    .action(run(async () => (await import('./commands/build.ts')).sync));
  program
    .command('build')
    .description('sync once, publish, and write the public files for a static host')
    .option(...CONFIG)
    .option('-o, --out <folder>', 'write only to this folder (default: `output` in the configuration, otherwise ./out)')
    .option('--offline', 'contact no upstream; build from stored data')
    .option('--sealed', 'also write each password page as an encrypted file that opens in the browser')
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos build --out public\n  pharos build --offline --json')
    .action(run(async () => (await import('./commands/build.ts')).build));
  program
    .command('check')
    .description('check the configuration and query every upstream once')
    .option('--offline', 'contact no upstream and no target')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos check\n  pharos check --config next.yaml --json')
    .action(run(async () => (await import('./commands/check.ts')).check));
  program
    .command('checks')
    .description('checks that Pharos makes itself')
    .command('run')
    .description('make checks once and print the results; the exit status is 1 when something is down')
    .argument('[name...]', 'ids or names of checks (default: all that are active)')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos checks run\n  pharos checks run website --json')
    .action(async (names: string[], options: ChecksRunOptions) =>
      done(await (await import('./commands/checks-run.ts')).checksRun(names, options)),
    );
  program
    .command('verify')
    .description('check a published page of any Pharos site against its signed log')
    .argument('<url>', 'address of the page')
    .option('--since <file>', 'where heads that were seen are kept (default: a file of this user)')
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos verify https://status.example.com/acme/')
    .action(async (url: string, options: VerifyOptions) =>
      done(await (await import('./commands/verify.ts')).verify(url, options)),
    );
  program
    .command('badge')
    .description('print one SVG badge')
    .argument('<label>', 'the text on the left')
    .argument('<message>', 'the text on the right')
    .option('--style <name>', 'flat, square, pill, tall, dot, or flat-text, square-text, pill-text, tall-text')
    .option('--color <color>', 'background of the message: a name or #rrggbb')
    .option('--scheme <name>', 'auto, light or dark')
    .addHelpText('after', '\nExample:\n  pharos badge uptime 99.98% --color green > uptime.svg')
    .action(async (label: string, message: string, options: BadgeCommandOptions) =>
      done(await (await import('./commands/badge.ts')).badge([label, message], options)),
    );
}
