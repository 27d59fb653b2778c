/**
 * Runs the command line in processes that are used again, one command at a time in each: most of what a process of its own takes
 * is loading and warming up the program. For tests of what a command or a server does. Tests of how a process begins and dies, of
 * its flags, its user and its clock take one of its own (`pharos.ts`).
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { CommandResult, RunningPharos } from './pharos.ts';
import type { WarmTask } from './warm-process.ts';

interface WarmOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Run {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly onOutput: (listener: () => void) => void;
  readonly ended: Promise<number>;
  readonly signal: (name: NodeJS.Signals) => void;
}

interface WarmProcess {
  readonly run: (args: readonly string[], options: WarmOptions) => Run;
}

/**
 * Of processes that go on from test to test. They throw away many megabytes a second, and would collect the usual 16 all the time;
 * and where several of them share few cores, threads that help to collect take more of those than they spare.
 */
export const TEST_FLAGS = ['--max-semi-space-size=32', '--v8-pool-size=1'];

const idle: WarmProcess[] = [];
const IDLE_MAX = 3;
let marks = 0;

/** As `runPharos` does it: one command to its end. */
export async function runWarm(args: readonly string[], options: WarmOptions): Promise<CommandResult> {
  const run = (idle.pop() ?? startProcess()).run(args, options);
  const status = await run.ended;
  return { status, stdout: run.stdout(), stderr: run.stderr() };
}

/** As `startPharos` does it: `pharos start` or `serve`, once it says where it serves. */
export async function startWarm(args: readonly string[], options: WarmOptions): Promise<RunningPharos> {
  const run = (idle.pop() ?? startProcess()).run(args, options);
  const url = await new Promise<string>((found, failed) => {
    run.onOutput(() => {
      const [, match] = /Pharos serves (http:\/\/[^/\s]+)\//.exec(run.stdout()) ?? [];
      if (match !== undefined) found(match);
    });
    void run.ended.then((status) =>
      failed(new Error(`pharos ended with ${status} before it served:\n${run.stderr()}${run.stdout()}`)),
    );
  });
  return {
    url,
    pid: run.pid,
    stdout: run.stdout,
    stderr: run.stderr,
    stop: () => {
      run.signal('SIGTERM');
      return run.ended;
    },
    kill: () => run.signal('SIGKILL'),
  };
}

function startProcess(): WarmProcess {
  const child = spawn(process.execPath, [...TEST_FLAGS, join(import.meta.dirname, 'warm-process.ts')], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // It ends with us.
  child.unref();
  child.channel?.unref();
  const outputs = [child.stdout, child.stderr].map((stream) => {
    (stream as unknown as { unref?: () => void } | null)?.unref?.();
    return collect(stream);
  });
  const self: WarmProcess = {
    run: (args, { cwd, env = {} }) => {
      const named = Object.keys(env).filter((name) => name.startsWith('NODE_'));
      if (named.length > 0) throw new Error(`${named.join(', ')} is read when a process begins`);
      marks += 1;
      const endMark = `\n-- end of command ${marks} of ${process.pid} --\n`;
      for (const output of outputs) output.begin(endMark);
      const whole = { ...process.env, ...env } as Record<string, string>;
      const task: WarmTask = { args, cwd, env: whole, endMark };
      child.send(task);
      const ended = endOf(child, outputs).then((status) => {
        if (status.isAlive && idle.length < IDLE_MAX) idle.push(self);
        else child.kill('SIGKILL');
        return status.status;
      });
      let isEnded = false;
      void ended.then(() => {
        isEnded = true;
      });
      const [stdout, stderr] = outputs.map((output) => output.current());
      return {
        pid: child.pid ?? -1,
        stdout: () => stdout?.text ?? '',
        stderr: () => stderr?.text ?? '',
        onOutput: (listener) => {
          for (const output of outputs) output.onText(listener);
        },
        ended,
        // Afterwards it does something else.
        signal: (name) => void (isEnded || child.kill(name)),
      };
    },
  };
  child.once('exit', () => {
    const at = idle.indexOf(self);
    if (at !== -1) idle.splice(at, 1);
  });
  return self;
}

/** The status of the command, once everything that it wrote is here; the process may end with it. */
async function endOf(
  child: ChildProcess,
  outputs: readonly Output[],
): Promise<{ readonly status: number; readonly isAlive: boolean }> {
  return await new Promise((resolve) => {
    const onExit = (code: number | null): void => {
      child.off('message', onMessage);
      resolve({ status: code ?? -1, isAlive: false });
    };
    const onMessage = (message: unknown): void => {
      child.off('exit', onExit);
      const { status } = message as { status: number };
      void Promise.all(outputs.map((output) => output.ended())).then(() => resolve({ status, isAlive: status !== -1 }));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
  });
}

interface Output {
  readonly begin: (endMark: string) => void;
  /** Of the command that was begun last. */
  readonly current: () => { readonly text: string };
  readonly onText: (listener: () => void) => void;
  readonly ended: () => Promise<void>;
}

function collect(stream: NodeJS.ReadableStream | null): Output {
  let current = { text: '' };
  let mark = '';
  let listeners: (() => void)[] = [];
  let end = Promise.withResolvers<void>();
  stream?.setEncoding('utf8').on('data', (text: string) => {
    current.text += text;
    if (current.text.endsWith(mark)) {
      current.text = current.text.slice(0, -mark.length);
      end.resolve();
    }
    for (const listener of listeners) listener();
  });
  return {
    begin: (endMark) => {
      current = { text: '' };
      mark = endMark;
      listeners = [];
      end = Promise.withResolvers();
    },
    current: () => current,
    onText: (listener) => void listeners.push(listener),
    ended: () => end.promise,
  };
}
