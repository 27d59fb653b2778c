/** Commands for writing posts, and for looking after stored data. */

import { Option } from 'commander';
import {
  CONFIG,
  type CommandSpec,
  collect,
  JSON_FLAG,
  required,
  SERVER_URL,
  toCount,
  USUAL,
} from './command-options.ts';

type Specs = Readonly<Record<string, CommandSpec>>;

const TITLE = ['<title>', 'one line, shown as the heading'] as const;
const ABOUT = [
  ['--folder <folder>', 'posts folder (default: from the markdown upstream)'],
  ['--page <slug>', 'page to show it on; repeatable', collect],
  ['--body <text>', 'text of the first update, in Markdown'],
  CONFIG,
] as const;
const AFFECTED = [
  ...ABOUT,
  ['--monitor <id>', 'affected monitor, <upstream id>/<external id>; repeatable', collect],
  ['--component <id>', 'affected component, with its page if there are several; repeatable', collect],
] as const;
const INCIDENT_ID = ['<id>', 'incident id from the v2 JSON, or the file name'] as const;
const CHANGED = [
  ['--page <slug>', 'page of the incident', collect],
  ['--folder <folder>', 'posts folder, if the incident is a file'],
  ['--body <text>', 'text of the update, in Markdown'],
  SERVER_URL,
  ...USUAL,
] as const;

/** Through the running server, or in the store if there is none; as a file if a folder or a monitor is given. */
const POSTS: Specs = {
  'incident new': {
    does: 'declare an incident through the running server, in the store, or as a file with --folder',
    takes: [TITLE],
    options: [
      ...AFFECTED,
      ['--status <status>', 'investigating, identified or monitoring'],
      ['--impact <impact>', 'none, minor, major or critical'],
      ['--started <instant>', 'start time, for files (default: now)'],
      ['--draft', 'keep it as a draft'],
      SERVER_URL,
      JSON_FLAG,
    ],
    examples: [
      'pharos incident new "Errors at the API" --page example --component api=major_outage',
      'pharos incident new "Slow searches" --monitor edge/4 --body "We are looking into it."',
    ],
    load: async () => (await import('./posts.ts')).incidentNew,
  },
  'incident update': {
    does: 'post an update',
    takes: [INCIDENT_ID],
    options: [
      ...CHANGED,
      ['--status <status>', 'investigating, identified, monitoring or resolved'],
      ['--component <id=state>', 'new state of a component; repeatable', collect],
    ],
    examples: ['pharos incident update 0c4xq2n8r5vd --page example --status monitoring --body "A fix is out."'],
    load: async () => (await import('./posts.ts')).incidentUpdate,
  },
  'incident resolve': {
    does: 'resolve an incident',
    takes: [INCIDENT_ID],
    options: CHANGED,
    examples: ['pharos incident resolve 0c4xq2n8r5vd --page example --body "Everything is working again."'],
    load: async () => (await import('./posts.ts')).incidentResolve,
  },
  'maintenance new': {
    does: 'write a post for a maintenance window',
    takes: [TITLE],
    options: [
      ...AFFECTED,
      required('--starts <instant>', 'start time with UTC offset, such as 2026-12-01T22:00:00Z'),
      ['--ends <instant>', 'end time'],
      ['--for <length>', 'duration, such as 90m or 2h'],
      ['--repeat <rule>', 'recurrence rule (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU'],
      ['--timezone <zone>', 'time zone of the recurrence'],
    ],
    examples: ['pharos maintenance new "Database upgrade" --page example --starts 2026-12-01T22:00:00Z --for 2h'],
    load: async () => (await import('./posts.ts')).maintenanceNew,
  },
  'announcement new': {
    does: 'write a post for an announcement',
    takes: [TITLE],
    options: [...ABOUT, ['--level <level>', 'info, warning or success'], ['--until <instant>', 'when it disappears']],
    examples: ['pharos announcement new "We have moved" --until 2026-12-24T00:00:00Z'],
    load: async () => (await import('./posts.ts')).announcementNew,
  },
  'posts export': {
    does: 'export all posts as Markdown files for a markdown upstream',
    options: [required('-o, --out <folder>', 'folder to write to; existing files are kept'), ...USUAL],
    examples: ['pharos posts export --out posts'],
    load: async () => (await import('./posts.ts')).postsExport,
  },
  'components export': {
    does: 'print components and groups made over the API as configuration',
    examples: ['pharos components export'],
    load: async () => (await import('./posts.ts')).componentsExport,
  },
};

/** Who may write over HTTP, and who sees badges of private pages. */
const TOKENS: Specs = {
  'tokens create': {
    does: 'create a token and show it once',
    options: [
      required('--scope <scope>', 'incidents, components, subscribers or read; repeatable', collect),
      required('--page <slug>', 'page the token is for'),
      ['--name <name>', 'name in the audit log (default: the page)'],
      ['--expires <when>', 'duration such as 90d or 12h, or a time with UTC offset (default: never)'],
      ...USUAL,
    ],
    examples: [
      'pharos tokens create --scope incidents --page example --expires 90d',
      'pharos tokens create --scope incidents --scope components --page example --name deploys --json',
    ],
    load: async () => (await import('./tokens.ts')).tokensCreate,
  },
  'tokens list': {
    does: 'list tokens with page, scopes and validity',
    examples: ['pharos tokens list'],
    load: async () => (await import('./tokens.ts')).tokensList,
  },
  'tokens revoke': {
    does: 'revoke a token immediately',
    takes: [['<id>', 'token id, as listed']],
    examples: ['pharos tokens revoke k3f9a0bq2c'],
    load: async () => (await import('./tokens.ts')).tokensRevoke,
  },
  'badges token': {
    does: 'create, list or revoke tokens for the badges of a private page',
    takes: [['<page>', 'slug of the page']],
    options: [
      ['--revoke [token]', 'revoke this token (or its id); without a value, all tokens of the page'],
      ['--list', 'list the token ids'],
      CONFIG,
    ],
    examples: ['pharos badges token partners', 'pharos badges token partners --revoke'],
    load: async () => (await import('./tokens.ts')).badgesToken,
  },
};

/** The database and published pages. */
const STORE: Specs = {
  audit: {
    does: 'show who triggered what and when, and sign-in counts',
    options: [
      ['-n, --limit <count>', 'number of entries', toCount, 50],
      ['--days <count>', 'days of sign-ins to count', toCount, 7],
      ...USUAL,
    ],
    examples: ['pharos audit', 'pharos audit --limit 200 --days 30 --json'],
    load: async () => (await import('./store.ts')).audit,
  },
  backup: {
    does: 'write a consistent copy of the database; safe while the server runs',
    takes: [['<file>', 'file to write; must not exist yet']],
    options: [CONFIG],
    examples: ['pharos backup /var/backups/pharos.db'],
    load: async () => (await import('./store.ts')).backup,
  },
  'store migrate': {
    does: 'upgrade the database to the version of this Pharos, after making a copy of it',
    examples: ['pharos store migrate'],
    load: async () => (await import('./store.ts')).storeMigrate,
  },
  'store copy': {
    does: 'copy everything into the empty database of another configuration and verify the counts',
    options: [required('--to <file>', 'configuration with the database to copy into'), ...USUAL],
    examples: ['pharos store copy --to postgres.yaml'],
    load: async () => (await import('./store.ts')).storeCopy,
  },
  rollback: {
    does: 'serve an earlier release of a page until its next publish',
    takes: [
      ['<page>', 'slug of the page'],
      ['[release]', 'release number (default: the previous one)', toCount],
    ],
    options: [
      ['--hold', 'keep serving it until you end the hold with --release'],
      new Option('--release', 'end a hold').conflicts('hold'),
      ...USUAL,
    ],
    examples: ['pharos rollback acme', 'pharos rollback acme 41 --hold', 'pharos rollback acme --release'],
    load: async () => (await import('./store.ts')).rollback,
  },
  'pages list': {
    does: 'list pages, removed ones too, with what is kept for each',
    examples: ['pharos pages list'],
    load: async () => (await import('./store.ts')).pagesList,
  },
  'pages adopt': {
    does: 'give a page everything that is kept for a removed one',
    takes: [
      ['<old>', 'key of the removed page, or the slug it had'],
      ['<page>', 'slug of the page that gets it'],
    ],
    examples: ['pharos pages adopt acme~1 example'],
    load: async () => (await import('./store.ts')).pagesAdopt,
  },
};

/** Messages to other systems, and their keys. */
const SENDING: Specs = {
  'notify test': {
    does: 'send a test message to a channel and report the result',
    takes: [['<channel>', 'id of the channel; pharos check lists them']],
    examples: ['pharos notify test ops', 'pharos notify test ops --json'],
    load: async () => (await import('./sending.ts')).notifyTest,
  },
  exports: {
    does: 'list exports that are queued, sent, rejected or parked',
    options: [
      ['--send', 'queue and send everything that is due'],
      ['--retry', 'queue parked exports again'],
      ['--dry-run', 'show what would be queued; change nothing'],
      ...USUAL,
    ],
    examples: ['pharos exports --dry-run', 'pharos exports --send'],
    load: async () => (await import('./sending.ts')).exportsCommand,
  },
  'keys revoke': {
    does: 'revoke a key; a read-only key may revoke only itself',
    takes: [['<id>', 'id of the key']],
    options: [required('-u, --upstream <id>', 'the uptime service it belongs to'), CONFIG],
    examples: ['pharos keys revoke 42 --upstream svc'],
    load: async () => (await import('./sending.ts')).keysRevoke,
  },
};

const ADDRESS = ['<address>', 'email address'] as const;
const ONLY_PAGE = ['--page <slug>', 'only for this page'] as const;
const THE_PAGE = required('--page <slug>', 'the page');

/** Email subscribers. */
const SUBSCRIBERS: Specs = {
  'subscribers list': {
    does: 'list subscribers with page, state and components',
    options: [ONLY_PAGE, ...USUAL],
    examples: ['pharos subscribers list', 'pharos subscribers list --page acme --json'],
    load: async () => (await import('./subscribers.ts')).subscribersList,
  },
  'subscribers add': {
    does: 'add an address and send it a confirmation link',
    takes: [ADDRESS],
    options: [
      THE_PAGE,
      ['--component <id>', 'only updates about this component; repeatable', collect],
      ['--confirmed', 'skip the confirmation link, because the owner has already agreed'],
      ...USUAL,
    ],
    examples: ['pharos subscribers add ops@example.com --page acme --component api'],
    load: async () => (await import('./subscribers.ts')).subscribersAdd,
  },
  'subscribers remove': {
    does: 'delete an address, from all pages unless --page is set',
    takes: [ADDRESS],
    options: [ONLY_PAGE, ...USUAL],
    examples: ['pharos subscribers remove ops@example.com'],
    load: async () => (await import('./subscribers.ts')).subscribersRemove,
  },
  'subscribers export': {
    does: 'print the list as CSV',
    options: [ONLY_PAGE, CONFIG],
    examples: ['pharos subscribers export --page acme > subscribers.csv'],
    load: async () => (await import('./subscribers.ts')).subscribersExport,
  },
  'subscribers import': {
    does: 'add addresses from a CSV file, such as an export of Statuspage or Instatus',
    takes: [['<file>', 'CSV file, or - for standard input']],
    options: [
      THE_PAGE,
      ['--confirmed', 'skip the confirmation links, because the owners have already agreed'],
      ...USUAL,
    ],
    examples: ['pharos subscribers import statuspage.csv --page acme'],
    load: async () => (await import('./subscribers.ts')).subscribersImport,
  },
};

export const OPERATOR_COMMANDS: Specs = { ...POSTS, ...TOKENS, ...STORE, ...SENDING, ...SUBSCRIBERS };
