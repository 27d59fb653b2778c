/** The command line: which commands there are, their options, and what their exit status means. */

import { Command, CommanderError, Help, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { CONFIG, caller, JSON_FLAG, noWorkers, PORT, QUIET, toPort } from './command-options.ts';
import type { BadgeCommandOptions } from './commands/badge.ts';
import type { BadgeTokenOptions } from './commands/badges.ts';
import type { RevokeOptions } from './commands/keys.ts';
import type { BackupOptions } from './commands/store/backup.ts';
import { addImportCommands } from './import-commands.ts';
import { addOperatorCommands } from './operator-commands.ts';
import { addPostCommands } from './post-commands.ts';
import { EXIT_DONE, EXIT_USAGE, ignoreClosedPipes, reportFailure } from './terminal/exit.ts';
import { columnsOf } from './terminal/size.ts';

/**
 * Runs one command and returns its exit status: 0 done, 1 it failed or an upstream failed, 2 usage or configuration is
 * wrong.
 *
 * @param args what follows the program's name
 */
export async function main(args: readonly string[]): Promise<number> {
  ignoreClosedPipes();
  let status = EXIT_DONE;
  const program = programOf((result) => {
    status = result;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_DONE : EXIT_USAGE;
    return reportFailure(error, args.includes('--json'));
  }
}

/** Commands by what somebody wants to do. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Run:': ['start', 'sync', 'build', 'serve', 'rebuild', 'sandbox'],
  'Set up and check:': ['init', 'import', 'check', 'doctor', 'diff', 'preview', 'completion'],
  'Write:': ['incident', 'maintenance', 'announcement', 'posts', 'tokens'],
  'Operate:': ['store', 'backup', 'rollback', 'subscribers', 'notify', 'exports', 'audit', 'keys'],
  'Badges:': ['badge', 'badges'],
};

/** Every command with its options. `done` takes the exit status of the one that was called. */
export function programOf(done: (status: number) => void): Command {
  const program = new Command('pharos')
    .description('Status pages and badges that stay up when everything else is down.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('Run `pharos --help` for a list of commands.')
    .configureHelp({
      minWidthToWrap: 20,
      subcommandTerm: (command) => command.name(),
      // `help` works like `--help`, and needs no group of its own.
      visibleCommands: (command) =>
        new Help().visibleCommands(command).filter((child) => command.commands.includes(child)),
    })
    .configureOutput({
      outputError: (text, write) => write(usageText(text)),
      getOutHelpWidth: () => columnsOf(process.stdout) ?? HELP_WIDTH,
      getErrHelpWidth: () => columnsOf(process.stderr) ?? HELP_WIDTH,
    })
    .addHelpText(
      'after',
      '\nFirst steps:\n  pharos start         try it with a sandbox: needs no configuration\n  pharos init          write a configuration for your own systems\n  pharos doctor        find out why something does not work\n\nRun `pharos help <command>` for its options and examples.',
    );
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
    .addOption(noWorkers())
    .option(...QUIET)
    .addHelpText(
      'after',
      '\nExamples:\n  pharos start\n  pharos start --config /etc/pharos.yaml --port 8080\n  pharos start --role web',
    )
    .action(run(async () => (await import('./commands/start.ts')).start));
  program
    .command('sync')
    .description('sync every upstream once and print a report; publish nothing')
    .option(...CONFIG)
    .option('-u, --upstream <id>', 'sync only this upstream')
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos sync\n  pharos sync --upstream edge --json')
    .action(run(async () => (await import('./commands/sync.ts')).sync));
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
    .command('check')
    .description('check the configuration and query every upstream once')
    .option('--offline', 'contact no upstream and no target')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos check\n  pharos check --config next.yaml --json')
    .action(run(async () => (await import('./commands/check.ts')).check));
  program
    .command('sandbox')
    .description('run local test upstreams and print a configuration for them')
    .option(...PORT, toPort, 4400)
    .addHelpText('after', '\nExample:\n  pharos sandbox --port 4400')
    .action(run(async () => (await import('./commands/sandbox.ts')).sandbox));
  program
    .command('badge')
    .description('print one SVG badge')
    .argument('<label>', 'the text on the left')
    .argument('<message>', 'the text on the right')
    .option('--style <name>', 'flat, square, pill, tall or dot')
    .option('--color <color>', 'background of the message: a name or #rrggbb')
    .option('--scheme <name>', 'auto, light or dark')
    .addHelpText('after', '\nExample:\n  pharos badge uptime 99.98% --color green > uptime.svg')
    .action(async (label: string, message: string, options: BadgeCommandOptions) =>
      done(await (await import('./commands/badge.ts')).badge([label, message], options)),
    );
  addPostCommands(program, done);
  addOperatorCommands(program, done);
  addImportCommands(program, done);
  const keys = program.command('keys').description('manage access keys of an uptime service');
  keys
    .command('revoke')
    .description('revoke a key; a read-only key may revoke only itself')
    .argument('<id>', 'id of the key')
    .requiredOption('-u, --upstream <id>', 'the uptime service it belongs to')
    .option(...CONFIG)
    .addHelpText('after', '\nExample:\n  pharos keys revoke 42 --upstream svc')
    .action(async (id: string, options: RevokeOptions) =>
      done(await (await import('./commands/keys.ts')).keysRevoke(id, options)),
    );
  const badges = program.command('badges').description('manage badges of private pages');
  badges
    .command('token')
    .description('create, list or revoke tokens for the badges of a private page')
    .argument('<page>', 'slug of the page')
    .option('--revoke [token]', 'revoke this token (or its id); without a value, all tokens of the page')
    .option('--list', 'list the token ids')
    .option(...CONFIG)
    .addHelpText('after', '\nExamples:\n  pharos badges token partners\n  pharos badges token partners --revoke')
    .action(async (page: string, options: BadgeTokenOptions) =>
      done(await (await import('./commands/badges.ts')).badgesToken(page, options)),
    );
  program
    .command('exports')
    .description('list exports that are queued, sent, rejected or parked')
    .option('--send', 'queue and send everything that is due')
    .option('--retry', 'queue parked exports again')
    .option('--dry-run', 'show what would be queued; change nothing')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos exports --dry-run\n  pharos exports --send')
    .action(run(async () => (await import('./commands/exports.ts')).exportsCommand));
  program
    .command('backup')
    .description('write a consistent copy of the database; safe while the server runs')
    .argument('<file>', 'file to write; must not exist yet')
    .option(...CONFIG)
    .addHelpText('after', '\nExample:\n  pharos backup /var/backups/pharos.db')
    .action(async (file: string, options: BackupOptions) =>
      done(await (await import('./commands/store/backup.ts')).backup(file, options)),
    );
  const order = Object.values(GROUPS).flat();
  // They are listed in this order, which nothing but the array itself decides.
  (program.commands as Command[]).sort((one, other) => order.indexOf(one.name()) - order.indexOf(other.name()));
  for (const [heading, names] of Object.entries(GROUPS))
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(heading);
  for (const parent of [program, ...program.commands]) {
    const path = parent === program ? 'pharos' : `pharos ${parent.name()}`;
    for (const command of parent.commands)
      command.exitOverride().showHelpAfterError(`Run \`${path} ${command.name()} --help\` for its options.`);
  }
  return program;
}

const HELP_WIDTH = 80;

/** `error: unknown command 'x'` and a guess in brackets below, as sentences like ours. */
function usageText(text: string): string {
  const words = text
    .trimEnd()
    .replace(/^error: /, '')
    .replace(/\n\((Did you mean .*\?)\)$/, '. $1');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.?]$/.test(words) ? '' : '.'}\n`;
}
