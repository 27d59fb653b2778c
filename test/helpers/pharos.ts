/** Runs the command line as a user would: a process of its own, in a folder of its own. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const BIN = resolve(import.meta.dirname, '../../bin/pharos.js');

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The user that runs it; only root may choose. Default: whoever runs the test. */
  readonly uid?: number;
  /** Told of the process as soon as there is one. */
  readonly onStarted?: (pid: number) => void;
}

/** A folder that is removed again. */
export function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'pharos-e2e-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Runs one command to its end. */
export async function runPharos(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const child = spawnPharos(args, options);
  options.onStarted?.(child.pid ?? -1);
  const output = collect(child);
  const status = await new Promise<number>((done) => child.once('exit', (code) => done(code ?? -1)));
  return { status, stdout: output.stdout(), stderr: output.stderr() };
}

export interface RunningPharos {
  /** Where it serves, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Asks it to stop and waits; its exit status. */
  readonly stop: () => Promise<number>;
  readonly kill: () => void;
}

/** Starts `pharos start` or `serve` and waits until it says where it serves. */
export async function startPharos(args: readonly string[], options: CommandOptions): Promise<RunningPharos> {
  const child = spawnPharos(args, options);
  options.onStarted?.(child.pid ?? -1);
  const output = collect(child);
  const exited = new Promise<number>((done) => child.once('exit', (code) => done(code ?? -1)));
  const url = await new Promise<string>((found, failed) => {
    const look = (): void => {
      const match = /Pharos serves (http:\/\/[^/\s]+)\//.exec(output.stdout());
      if (match?.[1] === undefined) return;
      found(match[1]);
      // Else all that an access log writes would be joined for each of its pieces.
      child.stdout?.off('data', look);
    };
    child.stdout?.on('data', look);
    void exited.then((status) =>
      failed(new Error(`pharos ended with ${status} before it served:\n${output.stderr()}${output.stdout()}`)),
    );
  });
  return {
    url,
    pid: child.pid ?? -1,
    stdout: output.stdout,
    stderr: output.stderr,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

function spawnPharos(args: readonly string[], { cwd, env, uid }: CommandOptions): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid }),
  });
}

function collect(child: ChildProcess): { stdout: () => string; stderr: () => string } {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return { stdout: () => stdout, stderr: () => stderr };
}

/** Asks again until `isDone`, soon and then less often, at most for 45 seconds; the last value either way. */
export async function eventually<T>(ask: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + 45_000;
  let value = await ask();
  for (let pauseMs = 10; !isDone(value) && performance.now() < deadline; pauseMs = Math.min(100, 2 * pauseMs)) {
    await new Promise((wait) => setTimeout(wait, pauseMs));
    value = await ask();
  }
  return value;
}

/** Waits until it has asked every upstream and published every page; one that does not is ended, and what it said is thrown. */
export async function untilFresh(pharos: RunningPharos): Promise<void> {
  const ask = async (): Promise<boolean> => (await fetch(`${pharos.url}/-/fresh`)).ok;
  if (await eventually(ask, (isFresh) => isFresh)) return;
  // Whoever called may have nothing to close.
  pharos.kill();
  throw new Error(`not fresh:\n${pharos.stderr()}`);
}
