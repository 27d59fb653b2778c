/** Commands to set Pharos up, to look after it and to see what it would do. */

import { Argument, type Command, Option } from 'commander';
import { CONFIG, caller, collect, JSON_FLAG, PORT, QUIET, toCount, toPort } from './command-options.ts';
import type { SubscriberAddOptions, SubscriberOptions } from './commands/notices/subscribers.ts';
import type { NotifyTestOptions, RevokeOptions } from './commands/notices/try-channel.ts';
import type { PagesOptions, RollbackOptions } from './commands/store/pages.ts';
import type { BackupOptions } from './commands/store/store.ts';
import type { BadgeTokenOptions, TokenOptions } from './commands/writing/tokens.ts';
import { NAME_SOURCES, type NameSource } from './completion-values.ts';
import { completionScript, SHELLS, type Shell } from './terminal/completion.ts';
import { EXIT_DONE } from './terminal/exit.ts';

/** Adds them to the program; `done` takes the exit status of the one that was called. */
export function addOperatorCommands(program: Command, done: (status: number) => void): void {
  addSetupCommands(program, done);
  addShellCommands(program, done);
  addReleaseCommands(program, done);
  addStoreCommands(program, done);
  addPageCommands(program, done);
  addTokenCommands(program, done);
  addSubscriberCommands(program, done);
  addSendingCommands(program, done);
}

/** Commands for setting up. */
function addSetupCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  program
    .command('init')
    .description('answer a few questions and write a first pharos.yaml')
    .option('-o, --out <file>', 'file to write; must not exist yet', 'pharos.yaml')
    .option('--check <address>', 'ask nothing: write a page that checks this address')
    .option('--name <name>', 'name of the site')
    .option('--url <address>', 'public address of the site')
    .option('--kind <kind>', 'kind of upstream, or none')
    .option('--id <id>', 'id for the upstream')
    .option(
      '--set <key=value>',
      'option of the upstream; for a secret, the name of its environment variable; repeatable',
      collect,
    )
    .option('--posts <folder>', 'folder for incidents written by hand, or none')
    .option('--deploy <way>', 'also write a template: github-pages, compose, systemd or none')
    .option('-y, --yes', 'accept every default without asking')
    .addHelpText(
      'after',
      '\nExamples:\n  pharos init --check https://example.com\n  pharos init\n  pharos init --yes --kind server-monitor --set baseUrl=https://monitor.example.com/api --set apiKey=EDGE_KEY',
    )
    .action(run(async () => (await import('./commands/init.ts')).init));
  program
    .command('doctor')
    .description('diagnose common problems with this machine, the configuration and the network')
    .option('--no-network', 'check only this machine')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos doctor\n  pharos doctor --no-network --json')
    .action(run(async () => (await import('./commands/doctor.ts')).doctor));
  program
    .command('diff')
    .description('show what the next publish would change, without syncing or publishing')
    .option('--files', 'list every file')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos diff\n  pharos diff --config next.yaml --files')
    .action(run(async () => (await import('./commands/preview.ts')).diff));
  program
    .command('preview')
    .description('serve what would be published, including drafts, on this machine')
    .option(...CONFIG)
    .option(...PORT, toPort)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos preview\n  pharos preview --config next.yaml --port 4400')
    .action(run(async () => (await import('./commands/preview.ts')).preview));
}

/** Commands for shells. */
function addShellCommands(program: Command, done: (status: number) => void): void {
  program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'shell').choices(SHELLS))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(pharos completion bash)\n  source <(pharos completion zsh)\n  pharos completion fish | source',
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(program, shell));
      done(EXIT_DONE);
    });
  program
    .command('complete', { hidden: true })
    .description('names for the completion scripts')
    .addArgument(new Argument('<source>', 'which names').choices(NAME_SOURCES))
    .argument('[line...]', 'the command line so far')
    .addHelpText('after', '\nExample:\n  pharos complete upstreams -- pharos sync --config next.yaml')
    .action(async (source: NameSource, line: readonly string[]) =>
      done((await import('./complete.ts')).complete(source, line)),
    );
}

/** Published pages, and who did what. */
function addReleaseCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  program
    .command('audit')
    .description('show who triggered what and when, and sign-in counts')
    .option('-n, --limit <count>', 'number of entries', toCount, 50)
    .option('--days <count>', 'days of sign-ins to count', toCount, 7)
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos audit\n  pharos audit --limit 200 --days 30 --json')
    .action(run(async () => (await import('./commands/store/store.ts')).audit));
  program
    .command('rollback')
    .description('serve an earlier release of a page until its next publish')
    .argument('<page>', 'slug of the page')
    .argument('[release]', 'release number (default: the previous one)', toCount)
    .option('--hold', 'keep serving it until you end the hold with --release')
    .addOption(new Option('--release', 'end a hold').conflicts('hold'))
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      '\nExamples:\n  pharos rollback acme\n  pharos rollback acme 41 --hold\n  pharos rollback acme --release',
    )
    .action(async (slug: string, release: number | undefined, options: RollbackOptions) =>
      done(await (await import('./commands/store/pages.ts')).rollback({ slug, release: release ?? null }, options)),
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
      done(await (await import('./commands/writing/tokens.ts')).badgesToken(page, options)),
    );
}

/** What is sent to other systems, and keys of theirs. */
function addSendingCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  program
    .command('notify')
    .description('test notification channels')
    .command('test')
    .description('send a test message to a channel and report the result')
    .argument('<channel>', 'id of the channel; pharos check lists them')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos notify test ops\n  pharos notify test ops --json')
    .action(async (channel: string, options: NotifyTestOptions) =>
      done(await (await import('./commands/notices/try-channel.ts')).notifyTest(channel, options)),
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
  const keys = program.command('keys').description('manage access keys of an uptime service');
  keys
    .command('revoke')
    .description('revoke a key; a read-only key may revoke only itself')
    .argument('<id>', 'id of the key')
    .requiredOption('-u, --upstream <id>', 'the uptime service it belongs to')
    .option(...CONFIG)
    .addHelpText('after', '\nExample:\n  pharos keys revoke 42 --upstream svc')
    .action(async (id: string, options: RevokeOptions) =>
      done(await (await import('./commands/notices/try-channel.ts')).keysRevoke(id, options)),
    );
}

/** The database and what was written in it. */
function addStoreCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  program
    .command('backup')
    .description('write a consistent copy of the database; safe while the server runs')
    .argument('<file>', 'file to write; must not exist yet')
    .option(...CONFIG)
    .addHelpText('after', '\nExample:\n  pharos backup /var/backups/pharos.db')
    .action(async (file: string, options: BackupOptions) =>
      done(await (await import('./commands/store/store.ts')).backup(file, options)),
    );
  program
    .command('posts')
    .description('manage posts written over HTTP and in the form')
    .command('export')
    .description('export all posts as Markdown files for a markdown upstream')
    .requiredOption('-o, --out <folder>', 'folder to write to; existing files are kept')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos posts export --out posts')
    .action(run(async () => (await import('./commands/writing/posts-export.ts')).postsExport));
  program
    .command('components')
    .description('manage components made over the API')
    .command('export')
    .description('print components and groups made over the API as configuration')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos components export')
    .action(run(async () => (await import('./commands/writing/posts-export.ts')).componentsExport));
  const store = program.command('store').description('upgrade or move the database');
  store
    .command('migrate')
    .description('upgrade the database to the version of this Pharos, after making a copy of it')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos store migrate')
    .action(run(async () => (await import('./commands/store/store.ts')).storeMigrate));
  store
    .command('copy')
    .description('copy everything into the empty database of another configuration and verify the counts')
    .requiredOption('--to <file>', 'configuration with the database to copy into')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos store copy --to postgres.yaml')
    .action(run(async () => (await import('./commands/store/store.ts')).storeCopy));
}

/** Which page is which. */
function addPageCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  const pages = program.command('pages').description('show which page is which, and what is kept for removed ones');
  pages
    .command('list')
    .description('list pages, removed ones too, with what is kept for each')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos pages list')
    .action(run(async () => (await import('./commands/store/pages.ts')).pagesList));
  pages
    .command('adopt')
    .description('give a page everything that is kept for a removed one')
    .argument('<old>', 'key of the removed page, or the slug it had')
    .argument('<page>', 'slug of the page that gets it')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos pages adopt acme~1 example')
    .action(async (old: string, page: string, options: PagesOptions) =>
      done(await (await import('./commands/store/pages.ts')).pagesAdopt(old, page, options)),
    );
}

/** Who may write over HTTP. */
function addTokenCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  const tokens = program.command('tokens').description('manage API tokens, each for one page');
  tokens
    .command('create')
    .description('create a token and show it once')
    .requiredOption('--scope <scope>', 'incidents, components, subscribers or read; repeatable', collect)
    .requiredOption('--page <slug>', 'page the token is for')
    .option('--name <name>', 'name in the audit log (default: the page)')
    .option('--expires <when>', 'duration such as 90d or 12h, or a time with UTC offset (default: never)')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      '\nExamples:\n  pharos tokens create --scope incidents --page example --expires 90d\n  pharos tokens create --scope incidents --scope components --page example --name deploys --json',
    )
    .action(run(async () => (await import('./commands/writing/tokens.ts')).tokensCreate));
  tokens
    .command('list')
    .description('list tokens with page, scopes and validity')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos tokens list')
    .action(run(async () => (await import('./commands/writing/tokens.ts')).tokensList));
  tokens
    .command('revoke')
    .description('revoke a token immediately')
    .argument('<id>', 'token id, as listed')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos tokens revoke k3f9a0bq2c')
    .action(async (id: string, options: TokenOptions) =>
      done(await (await import('./commands/writing/tokens.ts')).tokensRevoke(id, options)),
    );
}

/** Who is told by email. */
function addSubscriberCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  const load = () => import('./commands/notices/subscribers.ts');
  const PAGE = ['--page <slug>', 'only for this page'] as const;
  const subscribers = program.command('subscribers').description('manage email subscribers');
  subscribers
    .command('list')
    .description('list subscribers with page, state and components')
    .option(...PAGE)
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos subscribers list\n  pharos subscribers list --page acme --json')
    .action(run(async () => (await load()).subscribersList));
  subscribers
    .command('add')
    .description('add an address and send it a confirmation link')
    .argument('<address>', 'email address')
    .requiredOption('--page <slug>', 'the page')
    .option('--component <id>', 'only updates about this component; repeatable', collect)
    .option('--confirmed', 'skip the confirmation link, because the owner has already agreed')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos subscribers add ops@example.com --page acme --component api')
    .action(async (address: string, options: SubscriberAddOptions) =>
      done(await (await load()).subscribersAdd(address, options)),
    );
  subscribers
    .command('remove')
    .description('delete an address, from all pages unless --page is set')
    .argument('<address>', 'email address')
    .option(...PAGE)
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos subscribers remove ops@example.com')
    .action(async (address: string, options: SubscriberOptions) =>
      done(await (await load()).subscribersRemove(address, options)),
    );
  subscribers
    .command('export')
    .description('print the list as CSV')
    .option(...PAGE)
    .option(...CONFIG)
    .addHelpText('after', '\nExample:\n  pharos subscribers export --page acme > subscribers.csv')
    .action(run(async () => (await load()).subscribersExport));
  subscribers
    .command('import')
    .description('add addresses from a CSV file, such as an export of Statuspage or Instatus')
    .argument('<file>', 'CSV file, or - for standard input')
    .requiredOption('--page <slug>', 'the page')
    .option('--confirmed', 'skip the confirmation links, because the owners have already agreed')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos subscribers import statuspage.csv --page acme')
    .action(async (file: string, options: SubscriberAddOptions) =>
      done(await (await load()).subscribersImport(file, options)),
    );
}
