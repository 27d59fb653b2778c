/** What options and arguments take, for completion: words, or names that depend on the configuration here. */

/** Asked for with `pharos complete <source>` when somebody presses Tab. */
export const NAME_SOURCES = ['upstreams', 'pages', 'channels', 'kinds'] as const;
export type NameSource = (typeof NAME_SOURCES)[number];

export type CompletionValues = readonly string[] | NameSource;

/** By option in all commands, or by command and option or argument. What has choices of its own is not here. */
export const COMPLETION_VALUES: Readonly<Record<string, CompletionValues>> = {
  '--upstream': 'upstreams',
  '--page': 'pages',
  'init --kind': 'kinds',
  'init --deploy': ['none', 'github-pages', 'compose', 'systemd'],
  'badge --style': ['flat', 'square', 'pill', 'tall', 'dot', 'flat-text', 'square-text', 'pill-text', 'tall-text'],
  'badge --scheme': ['auto', 'light', 'dark'],
  'incident new --status': ['investigating', 'identified', 'monitoring'],
  'incident new --impact': ['none', 'minor', 'major', 'critical'],
  'incident update --status': ['investigating', 'identified', 'monitoring', 'resolved'],
  'announcement new --level': ['info', 'warning', 'success'],
  'tokens create --scope': ['incidents', 'components', 'read'],
  'rollback <page>': 'pages',
  'badges token <page>': 'pages',
  'notify test <channel>': 'channels',
};
