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

const load = () => import('./commands/import/import.ts');

const IMPORTS: readonly ImportCommand[] = [
  {
    name: 'statuspage',
    place: '<place...>',
    placeWords: 'address of the page, or JSON files of its API',
    description: 'a Statuspage, or any page that speaks its API',
    examples: ['https://status.vendor.example --page acme', 'summary.json incidents.json --page acme'],
    run: async (places, options) => (await load()).importStatuspage(places, options),
  },
  {
    name: 'cstate',
    place: '<folder>',
    placeWords: 'folder of the site, where its config.yml is',
    description: 'a cState site',
    examples: ['./status --page acme --timezone Europe/Berlin'],
    run: async ([folder = ''], options) => (await load()).importCstate(folder, options),
  },
  {
    name: 'upptime',
    place: '<folder>',
    placeWords: 'folder of the repository, where its .upptimerc.yml is',
    description: 'an Upptime repository and its issues at GitHub',
    examples: ['./upptime --page acme', './upptime --issues issues.json'],
    extend: (command) =>
      command.option('--issues <file>', 'issues as `gh issue list --json` writes them (default: GitHub is asked)'),
    run: async ([folder = ''], options) => (await load()).importUpptime(folder, options),
  },
  {
    name: 'uptime-kuma',
    place: '<place>',
    placeWords: 'kuma.db of its data folder, or the address of a status page',
    description: 'a status page of Uptime Kuma',
    examples: ['./data/kuma.db --status-page default --page acme', 'https://kuma.example.com/status/default'],
    extend: (command) => command.option('--status-page <slug>', 'which of its status pages (default: the only one)'),
    run: async ([place = ''], options) => (await load()).importUptimeKuma(place, options),
  },
  {
    name: 'gatus',
    place: '<place...>',
    placeWords: 'its configuration, its SQLite database, its address, or several of them',
    description: 'a Gatus',
    examples: ['config.yaml data.db --page acme', 'https://gatus.example.com'],
    run: async (places, options) => (await load()).importGatus(places, options),
  },
];

/** Adds them to the program; `done` takes the exit status of the one that was called. */
export function addImportCommands(program: Command, done: (status: number) => void): void {
  const all = program.command('import').description('take over incidents, maintenance and components of another page');
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
        .option('--page <slug>', 'slug that the page has here', 'status')
        .option('-o, --out <folder>', 'folder of posts; what is there stays', 'posts')
        .option('--upstream <id>', 'id of the markdown upstream that reads that folder', 'posts')
        .option('--timezone <zone>', 'zone of times that say none', 'UTC'),
    )
      .option('--update', 'write anew what is there with another text')
      .option(...JSON_FLAG)
      .addHelpText('after', `\nExamples:\n${examples.map((words) => `  pharos import ${name} ${words}`).join('\n')}`)
      .action(async (places: string | string[], options: ImportOptions) => done(await run([places].flat(), options)));
  }
}
