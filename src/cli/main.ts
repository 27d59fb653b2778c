/** The command line: which commands there are, their options, and what their exit status means. */

import { Command, CommanderError, Help, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { CONFIG, caller, collect, JSON_FLAG, PORT, QUIET, toCount, toPort, WORKERS } from './command-options.ts';
import type { BadgeCommandOptions } from './commands/badge.ts';
import type { BadgeTokenOptions } from './commands/badges.ts';
import type { RevokeOptions } from './commands/keys.ts';
import type { BackupOptions } from './commands/store/backup.ts';
import type { UpdateOptions } from './commands/writing/incident.ts';
import type { AnnouncementOptions, IncidentOptions, MaintenanceOptions } from './commands/writing/posts.ts';
import { addImportCommands } from './import-commands.ts';
import { addOperatorCommands } from './operator-commands.ts';
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
    .option(...WORKERS, toCount)
    .option(...QUIET)
    .addHelpText(
      'after',
      '\nExamples:\n  pharos start\n  pharos start --config /etc/pharos.yaml --port 8080\n  pharos start --workers 4\n  pharos start --role web',
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
    .option(...WORKERS, toCount)
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

/** Files for the markdown upstream, written by hand without writing them by hand. */
function addPostCommands(program: Command, done: (status: number) => void): void {
  const about = (command: Command): Command =>
    command
      .argument('<title>', 'one line, shown as the heading')
      .option('--folder <folder>', 'posts folder (default: from the markdown upstream)')
      .option('--page <slug>', 'page to show it on; repeatable', collect)
      .option('--body <text>', 'text of the first update, in Markdown')
      .option(...CONFIG);
  const affected = (command: Command): Command =>
    about(command)
      .option('--monitor <id>', 'affected monitor, <upstream id>/<external id>; repeatable', collect)
      .option('--component <id>', 'affected component; repeatable', collect);

  addIncidentCommands(program.command('incident').description('declare and update incidents'), { affected, done });
  affected(program.command('maintenance').description('schedule maintenance').command('new'))
    .description('write a post for a maintenance window')
    .requiredOption('--starts <instant>', 'start time with UTC offset, such as 2026-12-01T22:00:00Z')
    .option('--ends <instant>', 'end time')
    .option('--for <length>', 'duration, such as 90m or 2h')
    .option('--repeat <rule>', 'recurrence rule (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU')
    .option('--timezone <zone>', 'time zone of the recurrence')
    .addHelpText(
      'after',
      '\nExample:\n  pharos maintenance new "Database upgrade" --page example --starts 2026-12-01T22:00:00Z --for 2h',
    )
    .action(async (title: string, options: MaintenanceOptions) =>
      done(await (await import('./commands/writing/posts.ts')).maintenanceNew(title, options)),
    );
  about(program.command('announcement').description('publish announcements').command('new'))
    .description('write a post for an announcement')
    .option('--level <level>', 'info, warning or success')
    .option('--until <instant>', 'when it disappears')
    .addHelpText('after', '\nExample:\n  pharos announcement new "We have moved" --until 2026-12-24T00:00:00Z')
    .action(async (title: string, options: AnnouncementOptions) =>
      done(await (await import('./commands/writing/posts.ts')).announcementNew(title, options)),
    );
}

/** Through the running server; without one into the store; as a file where a folder or a monitor is named. */
function addIncidentCommands(
  incident: Command,
  { affected, done }: { readonly affected: (command: Command) => Command; readonly done: (status: number) => void },
): void {
  affected(incident.command('new'))
    .description('declare an incident through the running server, in the store, or as a file with --folder')
    .option('--status <status>', 'investigating, identified or monitoring')
    .option('--impact <impact>', 'none, minor, major or critical')
    .option('--started <instant>', 'start time, for files (default: now)')
    .option('--draft', 'keep it as a draft')
    .option('--url <address>', 'address of the running server (default: from the configuration)')
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      '\nExamples:\n  pharos incident new "Errors at the API" --page example --component api=major_outage\n  pharos incident new "Slow searches" --monitor edge/4 --body "We are looking into it."',
    )
    .action(async (title: string, options: IncidentOptions) =>
      done(await (await import('./commands/writing/posts.ts')).incidentNew(title, options)),
    );
  const changed = (name: string): Command =>
    incident
      .command(name)
      .argument('<id>', 'incident id from the v2 JSON, or the file name')
      .option('--page <slug>', 'page of the incident', collect)
      .option('--folder <folder>', 'posts folder, if the incident is a file')
      .option('--body <text>', 'text of the update, in Markdown')
      .option('--url <address>', 'address of the running server (default: from the configuration)')
      .option(...CONFIG)
      .option(...JSON_FLAG);
  changed('update')
    .description('post an update')
    .option('--status <status>', 'investigating, identified, monitoring or resolved')
    .option('--component <id=state>', 'new state of a component; repeatable', collect)
    .addHelpText(
      'after',
      '\nExample:\n  pharos incident update 0c4xq2n8r5vd --page example --status monitoring --body "A fix is out."',
    )
    .action(async (id: string, options: UpdateOptions) =>
      done(await (await import('./commands/writing/posts.ts')).incidentUpdated(id, options)),
    );
  changed('resolve')
    .description('resolve an incident')
    .addHelpText(
      'after',
      '\nExample:\n  pharos incident resolve 0c4xq2n8r5vd --page example --body "Everything is working again."',
    )
    .action(async (id: string, options: UpdateOptions) =>
      done(await (await import('./commands/writing/posts.ts')).incidentUpdated(id, { ...options, status: 'resolved' })),
    );
}
