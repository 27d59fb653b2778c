/** Completion scripts for shells, made from the commands themselves, so that they never lag behind. */

import { type Command, Help } from 'commander';
import { COMPLETION_VALUES, type CompletionValues } from '../completion-values.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** One command as a shell needs it. */
interface Entry {
  /** `['keys', 'revoke']`; empty: the program itself. */
  readonly path: readonly string[];
  readonly commands: readonly Named[];
  readonly options: readonly OptionEntry[];
  /** What its first argument takes; null: nobody knows. */
  readonly argument: CompletionValues | null;
}

interface Named {
  readonly name: string;
  readonly description: string;
}

interface OptionEntry {
  readonly long: string;
  readonly short: string | null;
  readonly description: string;
  readonly takes: 'nothing' | 'file' | 'text' | CompletionValues;
}

/** The script to source; it completes commands, options, and what an option or argument takes. */
export function completionScript(program: Command, shell: Shell): string {
  const entries = entriesOf(program, []);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](entries);
}

function entriesOf(command: Command, path: readonly string[]): readonly Entry[] {
  const own: Entry = {
    path,
    commands: visible(command).map((child) => ({ name: child.name(), description: child.description() })),
    options: [
      ...command.options.map(
        (option): OptionEntry => ({
          long: option.long ?? '',
          short: option.short ?? null,
          description: option.description,
          takes: takenBy(option.flags, option.long ?? '', path),
        }),
      ),
      { long: '--help', short: '-h', description: 'display help', takes: 'nothing' },
    ],
    argument: argumentOf(command, path),
  };
  return [own, ...visible(command).flatMap((child) => entriesOf(child, [...path, child.name()]))];
}

function visible(command: Command): Command[] {
  return new Help().visibleCommands(command).filter((child) => command.commands.includes(child));
}

function takenBy(flags: string, long: string, path: readonly string[]): OptionEntry['takes'] {
  if (!/[<[]/.test(flags)) return 'nothing';
  if (/<(file|folder)>/.test(flags)) return 'file';
  return COMPLETION_VALUES[`${path.join(' ')} ${long}`] ?? COMPLETION_VALUES[long] ?? 'text';
}

function argumentOf(command: Command, path: readonly string[]): CompletionValues | null {
  const [first] = command.registeredArguments;
  return first === undefined ? null : (COMPLETION_VALUES[`${path.join(' ')} <${first.name()}>`] ?? null);
}

/** Words for a shell: the values, or what asks for them. */
function wordsOf(values: CompletionValues): string {
  return typeof values === 'string' ? `$(pharos complete ${values} 2>/dev/null)` : values.join(' ');
}

/** For `case`: the option before the cursor, with the command it belongs to, and the words that it takes. */
function valueCases(entries: readonly Entry[], use: (words: string) => string): string {
  return entries
    .flatMap((entry) =>
      entry.options
        .filter(({ takes }) => typeof takes !== 'string' || isSource(takes))
        .map(
          (option) =>
            `    ${flagsOf(option)
              .map((flag) => `'${commandPath(entry)}:${flag}'`)
              .join('|')}) ${use(wordsOf(option.takes as CompletionValues))}; return ;;`,
        ),
    )
    .join('\n');
}

function isSource(takes: string): boolean {
  return takes !== 'nothing' && takes !== 'file' && takes !== 'text';
}

const commandPath = ({ path }: Entry): string => path.join(' ');
const flagsOf = ({ long, short }: OptionEntry): string[] => (short === null ? [long] : [short, long]);
/** A pattern for `case`; one that nothing fits when there are none. */
const flagsTaking = (entries: readonly Entry[], takes: 'file' | 'text'): string => {
  const options = entries.flatMap((entry) => entry.options.filter((option) => option.takes === takes));
  return options.length === 0 ? "''" : [...new Set(options.flatMap(flagsOf))].join('|');
};

function bashScript(entries: readonly Entry[]): string {
  const steps = entries.flatMap((entry) =>
    entry.commands.map(
      ({ name }) => `      '${commandPath(entry)}:${name}') place='${[...entry.path, name].join(' ')}' ;;`,
    ),
  );
  const candidates = entries.map((entry) => {
    const words = [...entry.commands.map(({ name }) => name), ...entry.options.flatMap(flagsOf)];
    const argument = entry.argument === null ? '' : ` words="$words ${wordsOf(entry.argument)}"`;
    return `    '${commandPath(entry)}') words='${words.join(' ')}'${argument === '' ? '' : `;${argument}`} ;;`;
  });
  return `# Completion of pharos for bash: source <(pharos completion bash)
_pharos() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" place='' words='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$place:\${COMP_WORDS[index]}" in
${steps.join('\n')}
    esac
  done
  case "$place:$before" in
${valueCases(entries, (words) => `COMPREPLY=($(compgen -W "${words}" -- "$current"))`)}
  esac
  case "$before" in
    ${flagsTaking(entries, 'file')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    ${flagsTaking(entries, 'text')}) return ;;
  esac
  case "$place" in
${candidates.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _pharos pharos
`;
}

function zshScript(entries: readonly Entry[]): string {
  const described = ({ name, description }: Named): string => `'${escaped(`${name}:${description}`)}'`;
  const steps = entries.flatMap((entry) =>
    entry.commands.map(
      ({ name }) => `      '${commandPath(entry)}:${name}') place='${[...entry.path, name].join(' ')}' ;;`,
    ),
  );
  const candidates = entries.map((entry) => {
    const options = entry.options.map(({ long, description }) => described({ name: long, description }));
    const words = entry.argument === null ? [] : [wordsOf(entry.argument)];
    return `    '${commandPath(entry)}') candidates=(${[...entry.commands.map(described), ...options, ...words].join(' ')}) ;;`;
  });
  return `#compdef pharos
# Completion of pharos for zsh: source <(pharos completion zsh)
_pharos() {
  local place='' index
  local -a candidates
  for ((index = 2; index < CURRENT; index++)); do
    case "$place:\${words[index]}" in
${steps.join('\n')}
    esac
  done
  case "$place:\${words[CURRENT-1]}" in
${valueCases(entries, (words) => `candidates=(${words}); _describe -t values value candidates`)}
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
    const condition = fishCondition(entry);
    const commands = entry.commands.map(
      ({ name, description }) => `complete -c pharos ${condition} -f -a ${name} -d '${escapedForFish(description)}'`,
    );
    const options = entry.options.map(({ long, short, description, takes }) => {
      const flags = [`-l ${long.slice(2)}`, ...(short === null ? [] : [`-s ${short.slice(1)}`])].join(' ');
      const value =
        takes === 'nothing'
          ? '-f'
          : takes === 'file'
            ? '-r -F'
            : takes === 'text'
              ? '-x'
              : `-x -a '${fishWords(takes)}'`;
      return `complete -c pharos ${condition} ${flags} ${value} -d '${escapedForFish(description)}'`;
    });
    const argument =
      entry.argument === null ? [] : [`complete -c pharos ${condition} -f -a '${fishWords(entry.argument)}'`];
    return [...commands, ...options, ...argument];
  });
  return `# Completion of pharos for fish: pharos completion fish | source\ncomplete -c pharos -f\n${lines.join('\n')}\n`;
}

function fishWords(values: CompletionValues): string {
  return typeof values === 'string' ? `(pharos complete ${values} 2>/dev/null)` : values.join(' ');
}

function fishCondition({ path, commands }: Entry): string {
  if (path.length === 0) return '-n __fish_use_subcommand';
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
  const notDeeper =
    commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`];
  return `-n '${[...seen, ...notDeeper].join('; and ')}'`;
}

function escaped(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

function escapedForFish(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
