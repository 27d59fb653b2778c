import { execFileSync } from 'node:child_process';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { programOf } from '../../../src/cli/main.ts';
import { completionScript, SHELLS } from '../../../src/cli/terminal/completion.ts';

const program = programOf(() => undefined);

/** Every command by its path. */
function pathsOf(command: Command, path: readonly string[] = []): string[][] {
  return command.commands.flatMap((child) => [[...path, child.name()], ...pathsOf(child, [...path, child.name()])]);
}

/** What bash offers for a line that ends where the cursor is. */
function offered(words: readonly string[]): string[] {
  const script = `${completionScript(program, 'bash')}
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
    expect(offered(['pharos', 'sync', '--upstream', ''])).toEqual([]);
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
