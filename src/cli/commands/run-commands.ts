/** Commands to run, set up and check Pharos, and to import other pages. */

import { Argument, type Command, Option } from 'commander';
import { completionScript, NAME_SOURCES, SHELLS, type Shell } from '../terminal/completion.ts';
import { EXIT_DONE } from '../terminal/exit.ts';
import {
  CONFIG,
  type CommandSpec,
  collect,
  HOST,
  JSON_FLAG,
  NO_WORKERS,
  PORT,
  QUIET,
  SERVER_URL,
  USUAL,
} from './command-options.ts';

/** Servers and their clients. */
const SERVERS: Readonly<Record<string, CommandSpec>> = {
  start: {
    does: 'sync on a schedule, publish what changed and serve it; without a configuration, run the sandbox',
    options: [
      CONFIG,
      PORT,
      HOST,
      new Option('--role <role>', 'what this node does: sync and publish, serve what others published, or both')
        .choices(['all', 'sync', 'web'])
        .default('all'),
      ['--new-key', 'go on without the key that subscribers’ addresses were encrypted with'],
      NO_WORKERS,
      QUIET,
    ],
    examples: ['pharos start', 'pharos start --config /etc/pharos.yaml --port 8080', 'pharos start --role web'],
    load: async () => (await import('./start.ts')).start,
  },
  serve: {
    does: 'serve the published pages; sync and publish nothing',
    options: [CONFIG, PORT, HOST, NO_WORKERS, QUIET],
    examples: ['pharos serve --host 0.0.0.0 --port 8080'],
    load: async () => (await import('./serve.ts')).serve,
  },
  rebuild: {
    does: 'tell the running server to sync and publish now, and wait for its report',
    options: [CONFIG, ['--page <slug>', 'publish only this page'], SERVER_URL, JSON_FLAG, QUIET],
    examples: ['pharos rebuild', 'pharos rebuild --page example --json'],
    load: async () => (await import('./build.ts')).rebuild,
  },
  sandbox: {
    does: 'run local test upstreams and print a configuration for them',
    options: [[...PORT, 4400]],
    examples: ['pharos sandbox --port 4400'],
    load: async () => (await import('./start.ts')).sandbox,
  },
};

/** Commands that run once. */
const SINGLE_RUNS: Readonly<Record<string, CommandSpec>> = {
  sync: {
    does: 'sync every upstream once and print a report; publish nothing',
    options: [CONFIG, ['-u, --upstream <id>', 'sync only this upstream'], JSON_FLAG, QUIET],
    examples: ['pharos sync', 'pharos sync --upstream edge --json'],
    load: async () => (await import('./build.ts')).sync,
  },
  build: {
    does: 'sync once, publish, and write the public files for a static host',
    options: [
      CONFIG,
      ['-o, --out <folder>', 'write only to this folder (default: `output` in the configuration, otherwise ./out)'],
      ['--offline', 'contact no upstream; build from stored data'],
      ['--sealed', 'also write each password page as an encrypted file that opens in the browser'],
      JSON_FLAG,
      QUIET,
    ],
    examples: ['pharos build --out public', 'pharos build --offline --json'],
    load: async () => (await import('./build.ts')).build,
  },
  check: {
    does: 'check the configuration and query every upstream once',
    options: [['--offline', 'contact no upstream and no target'], ...USUAL, QUIET],
    examples: ['pharos check', 'pharos check --config next.yaml --json'],
    load: async () => (await import('./check.ts')).check,
  },
  'checks run': {
    does: 'make checks once and print the results; the exit status is 1 when something is down',
    takes: [['[name...]', 'ids or names of checks (default: all that are active)']],
    examples: ['pharos checks run', 'pharos checks run website --json'],
    load: async () => (await import('./check.ts')).checksRun,
  },
  verify: {
    does: 'check a published page of any Pharos site against its signed log',
    takes: [['<url>', 'address of the page']],
    options: [['--since <file>', 'where heads that were seen are kept (default: a file of this user)'], JSON_FLAG],
    examples: ['pharos verify https://status.example.com/acme/'],
    load: async () => (await import('./verify.ts')).verify,
  },
  badge: {
    does: 'print one SVG badge',
    takes: [
      ['<label>', 'the text on the left'],
      ['<message>', 'the text on the right'],
    ],
    options: [
      ['--style <name>', 'flat, square, pill, tall, dot, or flat-text, square-text, pill-text, tall-text'],
      ['--color <color>', 'background of the message: a name or #rrggbb'],
      ['--scheme <name>', 'auto, light or dark'],
    ],
    examples: ['pharos badge uptime 99.98% --color green > uptime.svg'],
    load: async () => (await import('./badge.ts')).badge,
  },
};

/** Commands for setup and preview. */
const SETUP: Readonly<Record<string, CommandSpec>> = {
  init: {
    does: 'answer a few questions and write a first pharos.yaml',
    options: [
      ['-o, --out <file>', 'file to write; must not exist yet', 'pharos.yaml'],
      ['--check <address>', 'ask nothing: write a page that checks this address'],
      ['--name <name>', 'name of the site'],
      ['--url <address>', 'public address of the site'],
      ['--kind <kind>', 'kind of upstream, or none'],
      ['--id <id>', 'id for the upstream'],
      [
        '--set <key=value>',
        'option of the upstream; for a secret, the name of its environment variable; repeatable',
        collect,
      ],
      ['--posts <folder>', 'folder for incidents written by hand, or none'],
      ['--deploy <way>', 'also write a template: github-pages, compose, systemd or none'],
      ['-y, --yes', 'accept every default without asking'],
    ],
    examples: [
      'pharos init --check https://example.com',
      'pharos init',
      'pharos init --yes --kind server-monitor --set baseUrl=https://monitor.example.com/api --set apiKey=EDGE_KEY',
    ],
    load: async () => (await import('../init/init.ts')).init,
  },
  doctor: {
    does: 'diagnose common problems with this machine, the configuration and the network',
    options: [['--no-network', 'check only this machine'], ...USUAL, QUIET],
    examples: ['pharos doctor', 'pharos doctor --no-network --json'],
    load: async () => (await import('../doctor/doctor.ts')).doctor,
  },
  diff: {
    does: 'show what the next publish would change, without syncing or publishing',
    options: [['--files', 'list every file'], ...USUAL, QUIET],
    examples: ['pharos diff', 'pharos diff --config next.yaml --files'],
    load: async () => (await import('./preview.ts')).diff,
  },
  preview: {
    does: 'serve what would be published, including drafts, on this machine',
    options: [CONFIG, PORT, QUIET],
    examples: ['pharos preview', 'pharos preview --config next.yaml --port 4400'],
    load: async () => (await import('./preview.ts')).preview,
  },
};

function shellCommands(program: Command): Readonly<Record<string, CommandSpec>> {
  return {
    completion: {
      does: 'print a completion script for your shell',
      takes: [new Argument('<shell>', 'shell').choices(SHELLS)],
      options: [],
      examples: [
        'source <(pharos completion bash)',
        'source <(pharos completion zsh)',
        'pharos completion fish | source',
      ],
      load: async () => (shell: Shell) => {
        process.stdout.write(completionScript(program, shell));
        return EXIT_DONE;
      },
    },
    complete: {
      isHidden: true,
      does: 'names for the completion scripts',
      takes: [new Argument('<source>', 'which names').choices(NAME_SOURCES), ['[line...]', 'the command line so far']],
      options: [],
      examples: ['pharos complete upstreams -- pharos sync --config next.yaml'],
      load: async () => (await import('../complete.ts')).complete,
    },
  };
}

const IMPORT_OPTIONS = [
  ['--page <slug>', 'slug of the page in Pharos', 'status'],
  ['-o, --out <folder>', 'folder for the posts; existing files are kept', 'posts'],
  ['--upstream <id>', 'id of the markdown upstream that reads the folder', 'posts'],
  ['--timezone <zone>', 'time zone of times without an offset', 'UTC'],
] as const;
const UPDATE = ['--update', 'overwrite posts that exist with different text'] as const;
const CHECKS = ['--checks', 'write its checks too, for Pharos to make them'] as const;

/** Imports from other status pages. */
const IMPORTS: Readonly<Record<string, CommandSpec>> = {
  'import statuspage': {
    does: 'a Statuspage, or any page with its API',
    takes: [['<place...>', 'address of the page, or JSON files from its API']],
    options: [...IMPORT_OPTIONS, UPDATE, JSON_FLAG],
    examples: [
      'pharos import statuspage https://status.vendor.example --page acme',
      'pharos import statuspage summary.json incidents.json --page acme',
    ],
    load: async () => (await import('./import.ts')).importStatuspage,
  },
  'import cstate': {
    does: 'a cState site',
    takes: [['<folder>', 'folder of the site, which contains config.yml']],
    options: [...IMPORT_OPTIONS, UPDATE, JSON_FLAG],
    examples: ['pharos import cstate ./status --page acme --timezone Europe/Berlin'],
    load: async () => (await import('./import.ts')).importCstate,
  },
  'import upptime': {
    does: 'an Upptime repository and its GitHub issues',
    takes: [['<folder>', 'folder of the repository, which contains .upptimerc.yml']],
    options: [
      ...IMPORT_OPTIONS,
      CHECKS,
      ['--issues <file>', 'issues from `gh issue list --json` (default: from GitHub)'],
      UPDATE,
      JSON_FLAG,
    ],
    examples: ['pharos import upptime ./upptime --page acme', 'pharos import upptime ./upptime --issues issues.json'],
    load: async () => (await import('./import.ts')).importUpptime,
  },
  'import uptime-kuma': {
    does: 'a status page of Uptime Kuma',
    takes: [['<place>', 'kuma.db from its data folder, or the address of a status page']],
    options: [
      ...IMPORT_OPTIONS,
      CHECKS,
      ['--status-page <slug>', 'the status page to import (default: the only one)'],
      UPDATE,
      JSON_FLAG,
    ],
    examples: [
      'pharos import uptime-kuma ./data/kuma.db --status-page default --page acme',
      'pharos import uptime-kuma https://kuma.example.com/status/default',
    ],
    load: async () => (await import('./import.ts')).importUptimeKuma,
  },
  'import gatus': {
    does: 'a Gatus',
    takes: [['<place...>', 'its configuration, its SQLite database, its address, or several of them']],
    options: [...IMPORT_OPTIONS, CHECKS, UPDATE, JSON_FLAG],
    examples: [
      'pharos import gatus config.yaml data.db --page acme',
      'pharos import gatus config.yaml --checks',
      'pharos import gatus https://gatus.example.com',
    ],
    load: async () => (await import('./import.ts')).importGatus,
  },
};

export function runCommands(program: Command): Readonly<Record<string, CommandSpec>> {
  return { ...SERVERS, ...SINGLE_RUNS, ...SETUP, ...shellCommands(program), ...IMPORTS };
}
