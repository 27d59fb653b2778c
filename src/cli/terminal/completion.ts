/** Completion scripts for shells. */

import type { Command } from 'commander';

export const NAME_SOURCES = ['upstreams', 'pages', 'channels', 'kinds'] as const;
export type NameSource = (typeof NAME_SOURCES)[number];

type CompletionValues = readonly string[] | NameSource;

/** Values by option in all commands, or by command and option or argument. Options with declared choices aren't listed. */
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

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The completion script to source. It completes commands, options, and values of options and arguments. */
export function completionScript(program: Command, shell: Shell): string {
  const entries = listEntries(program, []);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](entries);
}

/** Words for a shell: the values, or a command that prints them for the current line. */
function shellWords(values: CompletionValues, line: string): string {
  return typeof values === 'string' ? `$(pharos complete ${values} -- ${line} 2>/dev/null)` : values.join(' ');
}

/** The same in fish, which writes commands without a dollar sign. */
const fishWords = (values: CompletionValues): string => shellWords(values, '(commandline -opc)').replace(/^\$/, '');

/** Branches for `case`: matches the command and the option before the cursor, and offers the option's values. */
function valueCases(entries: readonly Entry[], use: (values: CompletionValues) => string): string {
  return entries
    .flatMap((entry) =>
      entry.options.flatMap((option) => {
        if (!hasValues(option.takes)) return [];
        const flags = flagsOf(option).map((flag) => `'${commandPath(entry)}:${flag}'`);
        return [`    ${flags.join('|')}) ${use(option.takes)}; return ;;`];
      }),
    )
    .join('\n');
}

const commandPath = ({ path }: Entry): string => path.join(' ');
const flagsOf = ({ name, short }: OptionEntry): string[] => (short === undefined ? [name] : [short, name]);
/** Branches for `case`: follows the words of the line down to the command. */
const stepCases = (entries: readonly Entry[]): string =>
  entries
    .flatMap((entry) =>
      entry.commands.map(
        ({ name }) => `      '${commandPath(entry)}:${name}') place='${[...entry.path, name].join(' ')}' ;;`,
      ),
    )
    .join('\n');
/** A pattern for `case`; without options, one that never matches. */
const flagsTaking = (entries: readonly Entry[], takes: 'file' | 'text'): string => {
  const options = entries.flatMap((entry) => entry.options.filter((option) => option.takes === takes));
  return options.length === 0 ? "''" : [...new Set(options.flatMap(flagsOf))].join('|');
};

const BASH_LINE = '"${COMP_WORDS[@]}"';
const ZSH_LINE = '"${words[@]}"';

function bashScript(entries: readonly Entry[]): string {
  const candidates = entries.map((entry) => {
    const words = [...entry.commands.map(({ name }) => name), ...entry.options.flatMap(flagsOf)];
    const { argument } = entry;
    const more = hasValues(argument) ? `; words="$words ${shellWords(argument, BASH_LINE)}"` : '';
    const files = argument === 'file' ? '; _pharos_files "$current"' : '';
    return `    '${commandPath(entry)}') words='${words.join(' ')}'${more}${files} ;;`;
  });
  return `# Completion of pharos for bash: source <(pharos completion bash)
_pharos_files() {
  compopt -o filenames 2>/dev/null
  IFS=$'\\n' read -r -d '' -a COMPREPLY < <(compgen -f -- "$1"; printf '\\0')
}
_pharos() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" place='' words='' index
  COMPREPLY=()
  # Bash splits --page=acme at the sign.
  if [[ $current == '=' ]]; then current=''; elif [[ $before == '=' ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$place:\${COMP_WORDS[index]}" in
${stepCases(entries)}
    esac
  done
  case "$place:$before" in
${valueCases(entries, (values) => `COMPREPLY=($(compgen -W "${shellWords(values, BASH_LINE)}" -- "$current"))`)}
  esac
  case "$before" in
    ${flagsTaking(entries, 'file')}) _pharos_files "$current"; return ;;
    ${flagsTaking(entries, 'text')}) return ;;
  esac
  case "$place" in
${candidates.join('\n')}
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$current"))
}
complete -F _pharos pharos
`;
}

function zshScript(entries: readonly Entry[]): string {
  const described = ({ name, description }: Named): string => `'${`${name}:${description}`.replaceAll("'", `'\\''`)}'`;
  const candidates = entries.map((entry) => {
    const { argument } = entry;
    const words = hasValues(argument) ? [shellWords(argument, ZSH_LINE)] : [];
    const files = argument === 'file' ? '; _files' : '';
    const all = [...[...entry.commands, ...entry.options].map(described), ...words];
    return `    '${commandPath(entry)}') candidates=(${all.join(' ')})${files} ;;`;
  });
  return `#compdef pharos
# Completion of pharos for zsh: source <(pharos completion zsh)
_pharos() {
  local place='' index
  local -a candidates
  for ((index = 2; index < CURRENT; index++)); do
    case "$place:\${words[index]}" in
${stepCases(entries)}
    esac
  done
  case "$place:\${words[CURRENT-1]}" in
${valueCases(entries, (values) => `candidates=(${shellWords(values, ZSH_LINE)}); _describe -t values value candidates`)}
  esac
  case "\${words[CURRENT-1]}" in
    ${flagsTaking(entries, 'file')}) _files; return ;;
    ${flagsTaking(entries, 'text')}) return ;;
  esac
  case "$place" in
${candidates.join('\n')}
  esac
  _describe -t commands pharos candidates
}
compdef _pharos pharos
`;
}

function fishScript(entries: readonly Entry[]): string {
  const lines = entries.flatMap((entry) => {
    const begin = `complete -c pharos ${fishCondition(entry, entries)}`;
    const end = ({ description }: Named): string =>
      `-d '${description.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
    const commands = entry.commands.map((command) => `${begin} -f -a ${command.name} ${end(command)}`);
    const options = entry.options.map((option) => {
      const { name, short, takes } = option;
      const flags = `-l ${name.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}`;
      const value = hasValues(takes) ? `-x -a '${fishWords(takes)}'` : FISH_VALUES[takes];
      return `${begin} ${flags} ${value} ${end(option)}`;
    });
    const { argument } = entry;
    const words = hasValues(argument) ? [`${begin} -f -a '${fishWords(argument)}'`] : [];
    return [...commands, ...options, ...(argument === 'file' ? [`${begin} -F`] : words)];
  });
  return `# Completion of pharos for fish: pharos completion fish | source\ncomplete -c pharos -f\n${lines.join('\n')}\n`;
}

const FISH_VALUES = { nothing: '-f', file: '-r -F', text: '-x' } as const;

/** Fish finds words anywhere in the line, so `import` only counts if `subscribers` doesn't precede it. */
function fishCondition({ path, commands }: Entry, entries: readonly Entry[]): string {
  const [first, ...rest] = path;
  if (first === undefined) return '-n __fish_use_subcommand';
  const parents = entries.filter((entry) => entry.path.length > 0 && entry.commands.some(({ name }) => name === first));
  const excluded = [...parents.flatMap((entry) => entry.path), ...commands.map(({ name }) => name)];
  const seen = [first, ...rest].map((word) => `__fish_seen_subcommand_from ${word}`);
  const not = excluded.length === 0 ? [] : [`not __fish_seen_subcommand_from ${excluded.join(' ')}`];
  return `-n '${[...seen, ...not].join('; and ')}'`;
}

/** A command as needed for completion. */
type Entry = ReturnType<typeof toEntry>;
type Named = Entry['commands'][number];
/** Its name is the long flag. */
type OptionEntry = Entry['options'][number];

type Taken = keyof typeof FISH_VALUES | CompletionValues;

/** A command and those below it. @param path  `['keys', 'revoke']`; empty: the program itself */
function listEntries(command: Command, path: readonly string[]): readonly Entry[] {
  const children = command.createHelp().visibleCommands(command);
  const below = children.flatMap((child) => listEntries(child, [...path, child.name()]));
  return [toEntry(command, path, children), ...below];
}

/** @param children  commands listed in the help */
function toEntry(command: Command, path: readonly string[], children: readonly Command[]) {
  const options = command.options.filter(({ hidden }) => !hidden);
  const [first] = command.registeredArguments;
  return {
    path,
    commands: children.map((child) => ({ name: child.name(), description: child.description() })),
    options: [
      ...options.map(({ long = '', short, description, flags, argChoices }) => {
        const values = argChoices ?? COMPLETION_VALUES[`${path.join(' ')} ${long}`] ?? COMPLETION_VALUES[long];
        return { name: long, short, description, takes: takenBy(flags, values) };
      }),
      { name: '--help', short: '-h', description: 'display help', takes: 'nothing' as Taken },
    ],
    /** Values of its first argument. */
    argument:
      first === undefined
        ? ('nothing' as const)
        : takenBy(`<${first.name()}>`, first.argChoices ?? COMPLETION_VALUES[`${path.join(' ')} <${first.name()}>`]),
  };
}

/** What follows an option, or stands for an argument. @param flags  as declared: `-o, --out <folder>` */
function takenBy(flags: string, values: CompletionValues | undefined): Taken {
  if (!/[<[]/.test(flags)) return 'nothing';
  return FILE.test(flags) ? 'file' : (values ?? 'text');
}

/** Names of options and arguments that are paths. */
const FILE = /<(file|folder|place)>/;

function hasValues(taken: Taken): taken is CompletionValues {
  return taken !== 'nothing' && taken !== 'file' && taken !== 'text';
}
