/**
 * Has a whole file system written to disk. The command is run by a shell that stays: beginning a program from a process of
 * hundreds of megabytes takes 25 ms in which its thread does nothing else, and from a small shell one or two.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

const TIMEOUT_MS = 60_000;
/** A path a line; for each `y` or `n`. */
const SCRIPT = 'while IFS= read -r path; do if sync -f "$path" 2>/dev/null; then echo y; else echo n; fi; done';

interface Shell {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Of whoever waits, in the order of their paths. */
  readonly waiting: ((isDone: boolean) => void)[];
}

let shell: Shell | null = null;

/** Whether the file system of `path` was told to write everything and did; false where there is no such command. */
export function syncFileSystem(path: string): Promise<boolean> {
  if (path.includes('\n')) return Promise.resolve(false);
  shell ??= begin();
  const mine = shell;
  return new Promise((resolve) => {
    const timer = setTimeout(() => mine.child.kill('SIGKILL'), TIMEOUT_MS);
    mine.waiting.push((isDone) => {
      clearTimeout(timer);
      resolve(isDone);
    });
    // A process ends while its shell has nothing to do, but not before it has answered.
    hold(mine, true);
    mine.child.stdin.write(`${path}\n`);
  });
}

function begin(): Shell {
  // With no environment of ours, which holds secrets.
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
  const mine: Shell = { child, waiting: [] };
  const end = (): void => {
    if (shell === mine) shell = null;
    for (const answer of mine.waiting.splice(0)) answer(false);
  };
  child.once('error', end);
  child.once('exit', end);
  // Told by its end.
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const answer of text.replaceAll('\n', '')) mine.waiting.shift()?.(answer === 'y');
    if (mine.waiting.length === 0) hold(mine, false);
  });
  return mine;
}

/** Whether this process stays for it. */
function hold({ child }: Shell, isHeld: boolean): void {
  for (const part of [child, child.stdin, child.stdout] as unknown as (NodeJS.RefCounted | undefined)[])
    if (isHeld) part?.ref();
    else part?.unref();
}
