/** Commands to declare incidents, to schedule maintenance and to announce. */

import type { Command } from 'commander';
import { CONFIG, collect, JSON_FLAG } from './command-options.ts';
import type { UpdateOptions } from './commands/writing/incident.ts';
import type { AnnouncementOptions, IncidentOptions, MaintenanceOptions } from './commands/writing/posts.ts';

/** Adds them to the program; `done` takes the exit status of the one that was called. */
export function addPostCommands(program: Command, done: (status: number) => void): void {
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
