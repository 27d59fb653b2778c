/** Commands to move here from another status page. */

import type { Command } from 'commander';
import { JSON_FLAG } from './command-options.ts';
import type { ImportOptions } from './commands/import/write.ts';

interface ImportCommand {
  readonly name: string;
  readonly place: string;
  readonly placeWords: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly extend?: (command: Command) => Command;
  readonly run: (places: readonly string[], options: ImportOptions) => Promise<number>;
}

const withChecks = (command: Command) => command.option('--checks', 'write its checks too, for Pharos to make them');

const load = () => import('./commands/import/import.ts');

const IMPORTS: readonly ImportCommand[] = [
  {
    name: 'statuspage',
    place: '<place...>',
    placeWords: 'address of the page, or JSON files from its API',
    description: 'a Statuspage, or any page with its API',
    examples: ['https://status.vendor.example --page acme', 'summary.json incidents.json --page acme'],
    run: async (places, options) => (await load()).importStatuspage(places, options),
  },
  {
    name: 'cstate',
    place: '<folder>',
    placeWords: 'folder of the site, which contains config.yml',
    description: 'a cState site',
    examples: ['./status --page acme --timezone Europe/Berlin'],
    run: async ([folder = ''], options) => (await load()).importCstate(folder, options),
  },
  {
    name: 'upptime',
    place: '<folder>',
    placeWords: 'folder of the repository, which contains .upptimerc.yml',
    description: 'an Upptime repository and its GitHub issues',
    examples: ['./upptime --page acme', './upptime --issues issues.json'],
    extend: (command) =>
      withChecks(command).option('--issues <file>', 'issues from `gh issue list --json` (default: from GitHub)'),
    run: async ([folder = ''], options) => (await load()).importUpptime(folder, options),
  },
  {
    name: 'uptime-kuma',
    place: '<place>',
    placeWords: 'kuma.db from its data folder, or the address of a status page',
    description: 'a status page of Uptime Kuma',
    examples: ['./data/kuma.db --status-page default --page acme', 'https://kuma.example.com/status/default'],
    extend: (command) =>
      withChecks(command).option('--status-page <slug>', 'the status page to import (default: the only one)'),
    run: async ([place = ''], options) => (await load()).importUptimeKuma(place, options),
  },
  {
    name: 'gatus',
    place: '<place...>',
    placeWords: 'its configuration, its SQLite database, its address, or several of them',
    description: 'a Gatus',
    examples: ['config.yaml data.db --page acme', 'config.yaml --checks', 'https://gatus.example.com'],
    extend: withChecks,
    run: async (places, options) => (await load()).importGatus(places, options),
  },
];

/** Adds them to the program; `done` takes the exit status of the one that was called. */
export function addImportCommands(program: Command, done: (status: number) => void): void {
  const all = program
    .command('import')
    .description('import incidents, maintenance and components from another status page');
  for (const {
    name,
    place,
    placeWords,
    description,
    examples,
    extend = (command: Command) => command,
    run,
  } of IMPORTS) {
    extend(
      all
        .command(name)
        .description(description)
        .argument(place, placeWords)
        .option('--page <slug>', 'slug of the page in Pharos', 'status')
        .option('-o, --out <folder>', 'folder for the posts; existing files are kept', 'posts')
        .option('--upstream <id>', 'id of the markdown upstream that reads the folder', 'posts')
        .option('--timezone <zone>', 'time zone of times without an offset', 'UTC'),
    )
      .option('--update', 'overwrite posts that exist with different text')
      .option(...JSON_FLAG)
      .addHelpText('after', `\nExamples:\n${examples.map((words) => `  pharos import ${name} ${words}`).join('\n')}`)
      .action(async (places: string | string[], options: ImportOptions) => done(await run([places].flat(), options)));
  }
}
