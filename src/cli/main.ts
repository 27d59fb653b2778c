/** The command line: commands, their options, and exit statuses. */

import { Command, CommanderError, Help } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addCommands } from './commands/command-options.ts';
import { OPERATOR_COMMANDS } from './commands/operator-commands.ts';
import { runCommands } from './commands/run-commands.ts';
import { EXIT_DONE, EXIT_USAGE, ignoreClosedPipes, reportFailure } from './terminal/exit.ts';
import { terminalColumns, wrapText } from './terminal/table.ts';

/**
 * Runs one command and returns its exit status. 0: done. 1: it failed, or an upstream failed. 2: wrong usage or
 * configuration.
 *
 * @param args the arguments after the program's name
 */
export async function main(args: readonly string[]): Promise<number> {
  ignoreClosedPipes();
  let status = EXIT_DONE;
  const program = createProgram((result) => {
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

/** Commands by purpose. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Run:': ['start', 'sync', 'build', 'serve', 'rebuild', 'sandbox'],
  'Set up and check:': ['init', 'import', 'check', 'checks', 'doctor', 'diff', 'preview', 'verify', 'completion'],
  'Write:': ['incident', 'maintenance', 'announcement', 'posts', 'tokens'],
  'Operate:': [
    'store',
    'backup',
    'rollback',
    'pages',
    'components',
    'subscribers',
    'notify',
    'exports',
    'audit',
    'keys',
  ],
  'Badges:': ['badge', 'badges'],
};

/** Commands with only subcommands. */
const PARENTS: Readonly<Record<string, string>> = {
  checks: 'checks that Pharos makes itself',
  import: 'import incidents, maintenance and components from another status page',
  incident: 'declare and update incidents',
  maintenance: 'schedule maintenance',
  announcement: 'publish announcements',
  posts: 'manage posts written over HTTP and in the form',
  components: 'manage components made over the API',
  tokens: 'manage API tokens, each for one page',
  badges: 'manage badges of private pages',
  store: 'upgrade or move the database',
  pages: 'show which page is which, and what is kept for removed ones',
  notify: 'test notification channels',
  keys: 'manage access keys of an uptime service',
  subscribers: 'manage email subscribers',
};

/** Every command with its options. `done` is called with the exit status of the command that ran. */
export function createProgram(done: (status: number) => void): Command {
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
      writeOut: (text) => process.stdout.write(wrapText(text)),
      outputError: (text, write) => write(wrapText(usageText(text), terminalColumns(process.stderr))),
      getOutHelpWidth: () => terminalColumns(process.stdout) ?? HELP_WIDTH,
      getErrHelpWidth: () => terminalColumns(process.stderr) ?? HELP_WIDTH,
    })
    .addHelpText(
      'after',
      '\nFirst steps:\n  pharos start         try it with a sandbox: needs no configuration\n  pharos init          write a configuration for your own systems\n  pharos doctor        find out why something does not work\n\nRun `pharos help <command>` for its options and examples.',
    );
  addCommands(program, { ...runCommands(program), ...OPERATOR_COMMANDS }, { parents: PARENTS, done });
  arrange(program);
  return program;
}

/** Sorts the commands into their groups, in the order of `GROUPS`. */
function arrange(program: Command): void {
  const order = Object.values(GROUPS).flat();
  // commander lists them in the order of this array.
  (program.commands as Command[]).sort((one, other) => order.indexOf(one.name()) - order.indexOf(other.name()));
  for (const [heading, names] of Object.entries(GROUPS))
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(heading);
  for (const parent of [program, ...program.commands]) {
    const path = parent === program ? 'pharos' : `pharos ${parent.name()}`;
    for (const command of parent.commands)
      command.exitOverride().showHelpAfterError(`Run \`${path} ${command.name()} --help\` for its options.`);
  }
}

const HELP_WIDTH = 80;

/** Rewords commander's errors, such as `error: unknown command 'x'` with a suggestion in brackets, in our style. */
function usageText(text: string): string {
  const words = text
    .trimEnd()
    .replace(/^error: /, '')
    .replace(/\n\((Did you mean .*\?)\)$/, '. $1');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.?]$/.test(words) ? '' : '.'}\n`;
}
