import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram, GROUPS } from '../../../src/cli/main.ts';
import { COMPLETION_VALUES, completionScript, SHELLS } from '../../../src/cli/terminal/completion.ts';
import { temporaryFolder } from '../../helpers/pharos.ts';

const program = createProgram(() => undefined);

/** Every command by its path. */
function pathsOf(command: Command, path: readonly string[] = []): string[][] {
  return command.commands.flatMap((child) => [[...path, child.name()], ...pathsOf(child, [...path, child.name()])]);
}

/** What bash offers for a line that ends where the cursor is. */
function offered(words: readonly string[], before = ''): string[] {
  const script = `${before}${completionScript(program, 'bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_pharos; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

describe('completion', () => {
  it('offers the commands, those below them and their options, in a real bash', () => {
    expect(offered(['pharos', 'bu'])).toEqual(['build']);
    expect(offered(['pharos', 'incident', ''])).toContain('new');
    expect(offered(['pharos', 'keys', 'revoke', '--up'])).toEqual(['--upstream']);
    expect(offered(['pharos', 'build', '--o'])).toEqual(['--out', '--offline']);
  });

  it('offers files where an option takes one, and nothing where it takes a word', () => {
    expect(offered(['pharos', 'check', '--config', 'package.j'])).toEqual(['package.json']);
    expect(offered(['pharos', 'incident', 'new', '--body', ''])).toEqual([]);
  });

  it('offers files where an argument is one, also with spaces, and leaves the names of commands alone', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder.path, 'two words.csv'), '');
    mkdirSync(join(folder.path, 'posts'));
    const before = `cd '${folder.path}';`;
    expect(offered(['pharos', 'subscribers', 'import', 'two'], before)).toEqual(['two words.csv']);
    expect(offered(['pharos', 'import', 'cstate', 'po'], before)).toEqual(['posts']);
    expect(offered(['pharos', 'pos'], before)).toEqual(['posts']);
    folder.remove();
  });

  it('offers the values that an option or an argument takes', () => {
    expect(offered(['pharos', 'start', '--role', ''])).toEqual(['all', 'sync', 'web']);
    expect(offered(['pharos', 'start', '--role', '=', 's'])).toEqual(['sync']);
    expect(offered(['pharos', 'start', '--role', '='])).toEqual(['all', 'sync', 'web']);
    expect(offered(['pharos', 'incident', 'new', '--impact', 'm'])).toEqual(['minor', 'major']);
    expect(offered(['pharos', 'incident', 'new', '--status', 'res'])).toEqual([]);
    expect(offered(['pharos', 'incident', 'update', '--status', 'res'])).toEqual(['resolved']);
    expect(offered(['pharos', 'completion', 'z'])).toEqual(['zsh']);
  });

  it('offers upstreams, pages and kinds of the configuration here', () => {
    const names = 'pharos() { printf "%s of %s\\n" "$2-1" "$1"; };';
    expect(offered(['pharos', 'sync', '--upstream', 'up'], names)).toEqual(['upstreams-1']);
    expect(offered(['pharos', 'sync', '-u', 'up'], names)).toEqual(['upstreams-1']);
    expect(offered(['pharos', 'rollback', 'pa'], names)).toEqual(['pages-1']);
    expect(offered(['pharos', 'badges', 'token', 'pa'], names)).toEqual(['pages-1']);
    expect(offered(['pharos', 'init', '--kind', 'ki'], names)).toEqual(['kinds-1']);
    expect(offered(['pharos', 'notify', 'test', 'ch'], names)).toEqual(['channels-1']);
  });

  it('asks for names with the line so far, which may name a configuration', () => {
    const line = 'pharos() { printf "%s_" "$@"; };';
    expect(offered(['pharos', 'sync', '-c', 'a.yaml', '-u', ''], line)).toEqual([
      'complete_upstreams_--_pharos_sync_-c_a.yaml_-u__',
    ]);
  });

  it('does not take a command of the same name below another for this one, in fish', () => {
    const lines = completionScript(program, 'fish').split('\n');
    const cstate = lines.find((text) => text.includes('-a cstate '));
    expect(cstate).toContain('not __fish_seen_subcommand_from subscribers ');
  });

  it('has values only for what there is, and knows the value of every option that names one', () => {
    const takers = new Set<string>();
    const collect = (command: Command, path: string): void => {
      for (const { long } of command.options) takers.add(`${path} ${long}`).add(String(long));
      for (const argument of command.registeredArguments) takers.add(`${path} <${argument.name()}>`);
      for (const child of command.commands) collect(child, `${path} ${child.name()}`.trim());
    };
    collect(program, '');
    expect(Object.keys(COMPLETION_VALUES).filter((key) => !takers.has(key))).toEqual([]);
  });

  it('lists every command in the help under what it is for', () => {
    const grouped = Object.values(GROUPS).flat();
    expect(grouped.toSorted()).toEqual(
      program.commands
        .map((command) => command.name())
        .filter((name) => name !== 'complete')
        .toSorted(),
    );
  });

  it('knows every command in every shell', () => {
    for (const shell of SHELLS) {
      const script = completionScript(program, shell);
      for (const path of pathsOf(program))
        expect([shell, path, script]).toEqual([shell, path, expect.stringContaining(path.at(-1) ?? '')]);
    }
  });

  it('keeps quotes of a description inside its string', () => {
    const tricky = new Command('pharos').description('x');
    tricky.command('go').description("what's \\ 'this'").option('--file <file>', 'a $(reboot) `one`');
    expect(() => execFileSync('bash', ['-n', '-c', completionScript(tricky, 'bash')])).not.toThrow();
    expect(completionScript(tricky, 'zsh')).toContain(`'go:what'\\''s \\ '\\''this'\\'''`);
    expect(completionScript(tricky, 'fish')).toContain(`-d 'what\\'s \\\\ \\'this\\''`);
  });
});
