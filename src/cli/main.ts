/** The command line: which commands there are, their options, and what their exit status means. */

import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { CONFIG, caller, collect, JSON_FLAG, PORT, QUIET, toPort } from './command-options.ts';
import type { BadgeCommandOptions } from './commands/badge.ts';
import type { BadgeTokenOptions } from './commands/badges.ts';
import type { RevokeOptions } from './commands/keys.ts';
import type { BackupOptions } from './commands/store/backup.ts';
import type { UpdateOptions } from './commands/writing/incident.ts';
import type { AnnouncementOptions, IncidentOptions, MaintenanceOptions } from './commands/writing/posts.ts';
import { addImportCommands } from './import-commands.ts';
import { addOperatorCommands } from './operator-commands.ts';
import { EXIT_DONE, EXIT_USAGE, reportFailure } from './terminal/exit.ts';

/**
 * Runs one command and returns its exit status: 0 done, 1 it failed or an upstream failed, 2 usage or configuration is
 * wrong.
 *
 * @param args what follows the program's name
 */
export async function main(args: readonly string[]): Promise<number> {
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

/** Every command with its options. `done` takes the exit status of the one that was called. */
export function programOf(done: (status: number) => void): Command {
  const program = new Command('pharos')
    .description('Status pages and badges that stay up when everything else is down.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('(pharos --help shows what there is)')
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      '\nFirst steps:\n  pharos start         the sandbox: pages that live, with nothing to configure\n  pharos init          a configuration of your own\n  pharos doctor        when something does not work',
    );
  const run = caller(done);

  program
    .command('start', { isDefault: false })
    .description('sync on schedule, publish what changed, serve; with no configuration, against the sandbox')
    .option(...CONFIG)
    .option(...PORT, toPort)
    .option('--host <address>', 'address to listen on')
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos start\n  pharos start --config /etc/pharos.yaml --port 8080')
    .action(run(async () => (await import('./commands/start.ts')).start));
  program
    .command('sync')
    .description('one pass into the store, print its report')
    .option(...CONFIG)
    .option('-u, --upstream <id>', 'only this upstream')
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos sync\n  pharos sync --upstream edge --json')
    .action(run(async () => (await import('./commands/sync.ts')).sync));
  program
    .command('build')
    .description('one pass, publish everything, write the public files for any static host')
    .option(...CONFIG)
    .option(
      '-o, --out <folder>',
      'write the site there and nowhere else (default: output of the configuration, else out)',
    )
    .option('--offline', 'ask no upstream; build from what is stored')
    .option('--sealed', 'write each password page as one encrypted file that its password opens in the browser')
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos build --out public\n  pharos build --offline --json')
    .action(run(async () => (await import('./commands/build.ts')).build));
  program
    .command('serve')
    .description('serve what is published, without asking anybody')
    .addHelpText('after', '\nExample:\n  pharos serve --host 0.0.0.0 --port 8080')
    .option(...CONFIG)
    .option(...PORT, toPort)
    .option('--host <address>', 'address to listen on')
    .option(...QUIET)
    .action(run(async () => (await import('./commands/serve.ts')).serve));
  program
    .command('rebuild')
    .description('ask the running server to pull and publish now, wait, print the report')
    .option(...CONFIG)
    .option('--page <slug>', 'publish only this page')
    .option('--url <address>', 'address of the running server (default: from the configuration)')
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos rebuild\n  pharos rebuild --page example --json')
    .action(run(async () => (await import('./commands/rebuild.ts')).rebuild));
  program
    .command('check')
    .description('check the configuration and ask every upstream once')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos check\n  pharos check --config next.yaml --json')
    .action(run(async () => (await import('./commands/check.ts')).check));
  program
    .command('sandbox')
    .description('local upstreams only, for trying things; prints the configuration to paste')
    .option(...PORT, toPort, 4400)
    .addHelpText('after', '\nExample:\n  pharos sandbox --port 4400')
    .action(run(async () => (await import('./commands/sandbox.ts')).sandbox));
  program
    .command('badge')
    .description('one SVG badge on standard output')
    .argument('<label>', 'the text on the left')
    .argument('<message>', 'the text on the right')
    .option('--style <name>', 'flat, square, pill, tall or dot')
    .option('--color <color>', 'ground of the message: a name or #rrggbb')
    .option('--scheme <name>', 'auto, light or dark')
    .addHelpText('after', '\nExample:\n  pharos badge uptime 99.98% --color green > uptime.svg')
    .action(async (label: string, message: string, options: BadgeCommandOptions) =>
      done(await (await import('./commands/badge.ts')).badge([label, message], options)),
    );
  addPostCommands(program, done);
  addOperatorCommands(program, done);
  addImportCommands(program, done);
  const keys = program.command('keys').description('access keys of an uptime service');
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
  const badges = program.command('badges').description('badges of gated pages');
  badges
    .command('token')
    .description('make, list or revoke the tokens that open the badges of a gated page')
    .argument('<page>', 'slug of the page')
    .option('--revoke [token]', 'revoke this token (by its id or itself), or all of the page')
    .option('--list', 'list the ids of its tokens')
    .option(...CONFIG)
    .addHelpText('after', '\nExamples:\n  pharos badges token partners\n  pharos badges token partners --revoke')
    .action(async (page: string, options: BadgeTokenOptions) =>
      done(await (await import('./commands/badges.ts')).badgesToken(page, options)),
    );
  program
    .command('exports')
    .description('list what is queued, sent, rejected and parked of what Pharos sends out')
    .option('--send', 'queue and send what is due now')
    .option('--retry', 'queue again what is parked')
    .option('--dry-run', 'show what would be queued, and touch nothing')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos exports --dry-run\n  pharos exports --send')
    .action(run(async () => (await import('./commands/exports.ts')).exportsCommand));
  program
    .command('backup')
    .description('a consistent copy of the database, also while the server runs')
    .argument('<file>', 'where to write it; never over a file that is there')
    .option(...CONFIG)
    .addHelpText('after', '\nExample:\n  pharos backup /var/backups/pharos.db')
    .action(async (file: string, options: BackupOptions) =>
      done(await (await import('./commands/store/backup.ts')).backup(file, options)),
    );
  for (const command of [program, ...program.commands].flatMap((parent) => parent.commands))
    command.exitOverride().showHelpAfterError();
  return program;
}

/** Files for the markdown upstream, written by hand without writing them by hand. */
function addPostCommands(program: Command, done: (status: number) => void): void {
  const about = (command: Command): Command =>
    command
      .argument('<title>', 'shown as its heading')
      .option('--folder <folder>', 'folder of posts (default: that of the markdown upstream)')
      .option('--page <slug>', 'a page it shows on; may be repeated', collect)
      .option('--body <text>', 'Markdown of the first update')
      .option(...CONFIG);
  const affected = (command: Command): Command =>
    about(command)
      .option('--monitor <id>', 'a monitor it is about, <upstream id>/<id there>; may be repeated', collect)
      .option('--component <id>', 'a component it is about; may be repeated', collect);

  addIncidentCommands(program.command('incident').description('incidents, declared from here'), { affected, done });
  affected(program.command('maintenance').description('maintenance windows written by hand').command('new'))
    .description('write a valid file for a maintenance window')
    .requiredOption('--starts <instant>', 'when it begins, with its zone')
    .option('--ends <instant>', 'when it ends')
    .option('--for <length>', 'how long it lasts, such as 90m or 2h')
    .option('--repeat <rule>', 'RFC 5545 rule, such as FREQ=WEEKLY;BYDAY=SU')
    .option('--timezone <zone>', 'zone in which it repeats')
    .addHelpText(
      'after',
      '\nExample:\n  pharos maintenance new "Database upgrade" --page example --starts 2026-12-01T22:00:00Z --for 2h',
    )
    .action(async (title: string, options: MaintenanceOptions) =>
      done(await (await import('./commands/writing/posts.ts')).maintenanceNew(title, options)),
    );
  about(program.command('announcement').description('notices written by hand').command('new'))
    .description('write a valid file for a notice on pages')
    .option('--level <level>', 'info, warning or success')
    .option('--until <instant>', 'when it goes away')
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
    .description('declare an incident: by the running server, else into the store, or as a file with --folder')
    .option('--status <status>', 'investigating, identified or monitoring')
    .option('--impact <impact>', 'none, minor, major or critical')
    .option('--started <instant>', 'when it began, of a file (default: now)')
    .option('--draft', 'publish it later')
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
      .argument('<id>', 'id of the incident: that of the v2 JSON, or the name of the file')
      .option('--page <slug>', 'the page it is on', collect)
      .option('--folder <folder>', 'folder of posts, where it is a file')
      .option('--body <text>', 'Markdown of the update')
      .option('--url <address>', 'address of the running server (default: from the configuration)')
      .option(...CONFIG)
      .option(...JSON_FLAG);
  changed('update')
    .description('post an update')
    .option('--status <status>', 'investigating, identified, monitoring or resolved')
    .option('--component <id=state>', 'what a component is from now on; may be repeated', collect)
    .addHelpText(
      'after',
      '\nExample:\n  pharos incident update 0c4xq2n8r5vd --page example --status monitoring --body "A fix is out."',
    )
    .action(async (id: string, options: UpdateOptions) =>
      done(await (await import('./commands/writing/posts.ts')).incidentUpdated(id, options)),
    );
  changed('resolve')
    .description('say that it is over')
    .addHelpText(
      'after',
      '\nExample:\n  pharos incident resolve 0c4xq2n8r5vd --page example --body "All is well again."',
    )
    .action(async (id: string, options: UpdateOptions) =>
      done(await (await import('./commands/writing/posts.ts')).incidentUpdated(id, { ...options, status: 'resolved' })),
    );
}
