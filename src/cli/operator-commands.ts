/** Commands to set Pharos up, to look after it and to see what it would do. */

import { Argument, type Command } from 'commander';
import { CONFIG, caller, collect, JSON_FLAG, PORT, QUIET, toCount, toPort } from './command-options.ts';
import type { NotifyTestOptions } from './commands/notices/try-channel.ts';
import type { RollbackOptions } from './commands/rollback.ts';
import type { TokenOptions } from './commands/writing/tokens.ts';
import { completionScript, SHELLS, type Shell } from './terminal/completion.ts';
import { EXIT_DONE } from './terminal/exit.ts';

/** Adds them to the program; `done` takes the exit status of the one that was called. */
export function addOperatorCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);

  program
    .command('init')
    .description('ask a few questions, try the upstream, write a first pharos.yaml')
    .option('-o, --out <file>', 'where to write it; never over a file that is there', 'pharos.yaml')
    .option('--name <name>', 'name of the site')
    .option('--url <address>', 'its public address')
    .option('--kind <kind>', 'kind of the upstream, or none')
    .option('--id <id>', 'what to call the upstream')
    .option(
      '--set <key=value>',
      'an option of the upstream; a secret as the name of its variable; may be repeated',
      collect,
    )
    .option('-y, --yes', 'take every suggestion and ask nothing')
    .addHelpText(
      'after',
      '\nExamples:\n  pharos init\n  pharos init --yes --kind server-monitor --set baseUrl=https://monitor.example.com/api --set apiKey=EDGE_KEY',
    )
    .action(run(async () => (await import('./commands/init.ts')).init));
  program
    .command('doctor')
    .description('look for the usual faults of this machine, the configuration and what is around, with the remedy')
    .option('--no-network', 'look at nothing outside this machine')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos doctor\n  pharos doctor --no-network --json')
    .action(run(async () => (await import('./commands/doctor.ts')).doctor));
  program
    .command('diff')
    .description('show what the next publish would change, without asking anybody or publishing')
    .option('--files', 'every file by its path')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos diff\n  pharos diff --config next.yaml --files')
    .action(run(async () => (await import('./commands/diff.ts')).diff));
  program
    .command('preview')
    .description('serve on this machine what would be published, drafts of posts included')
    .option(...CONFIG)
    .option(...PORT, toPort)
    .option(...QUIET)
    .addHelpText('after', '\nExamples:\n  pharos preview\n  pharos preview --config next.yaml --port 4400')
    .action(run(async () => (await import('./commands/preview.ts')).preview));
  program
    .command('notify')
    .description('notification channels')
    .command('test')
    .description('send a test message to a channel and say what became of it')
    .argument('<channel>', 'id of the channel; pharos check lists them')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExamples:\n  pharos notify test ops\n  pharos notify test ops --json')
    .action(async (channel: string, options: NotifyTestOptions) =>
      done(await (await import('./commands/notices/try-channel.ts')).notifyTest(channel, options)),
    );
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
  addTokenCommands(program, done);
  program
    .command('posts')
    .description('what operators wrote over HTTP and in the form')
    .command('export')
    .description('write all of it as Markdown files, as a markdown upstream reads them')
    .requiredOption('-o, --out <folder>', 'where to write them; never over a file that is there')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos posts export --out posts')
    .action(run(async () => (await import('./commands/writing/posts-export.ts')).postsExport));
  program
    .command('completion')
    .description('a completion script on standard output, for a shell to source')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(pharos completion bash)\n  source <(pharos completion zsh)\n  pharos completion fish | source',
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(program, shell));
      done(EXIT_DONE);
    });
}

/** Who may write over HTTP. */
function addTokenCommands(program: Command, done: (status: number) => void): void {
  const run = caller(done);
  const tokens = program.command('tokens').description('tokens of the API, each for one page');
  tokens
    .command('create')
    .description('make a token and show it once')
    .requiredOption('--scope <scope>', 'incidents, components or read; may be repeated', collect)
    .requiredOption('--page <slug>', 'the page that it is for')
    .option('--name <name>', 'what the audit calls it (default: the page)')
    .option('--expires <when>', 'a length such as 90d or 12h, or an instant with its zone (default: never)')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      '\nExamples:\n  pharos tokens create --scope incidents --page example --expires 90d\n  pharos tokens create --scope incidents --scope components --page example --name deploys --json',
    )
    .action(run(async () => (await import('./commands/writing/tokens.ts')).tokensCreate));
  tokens
    .command('list')
    .description('every token with its page, its scopes and whether it is in force')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos tokens list')
    .action(run(async () => (await import('./commands/writing/tokens.ts')).tokensList));
  tokens
    .command('revoke')
    .description('revoke a token at once')
    .argument('<id>', 'id of the token, as listed')
    .option(...CONFIG)
    .option(...JSON_FLAG)
    .addHelpText('after', '\nExample:\n  pharos tokens revoke k3f9a0bq2c')
    .action(async (id: string, options: TokenOptions) =>
      done(await (await import('./commands/writing/tokens.ts')).tokensRevoke(id, options)),
    );
}
