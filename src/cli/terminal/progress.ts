/**
 * Progress of a long command: one changing line on a terminal, plain lines elsewhere, nothing with `--quiet`. By hand:
 * ora adds eight packages for a spinner.
 */

import { cut, plain, terminalColumns } from './table.ts';

export type Progress = Readonly<ReturnType<typeof createLine>>;

interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
const CLEAR_LINE = '\r\u001b[2K';

type Environment = Readonly<Record<string, string | undefined>>;

/** Writes to standard error, so that standard output contains only the result. */
export function createProgress(
  isQuiet: boolean,
  stream: ProgressStream = process.stderr,
  environment: Environment = process.env,
): Progress {
  const nothing = () => undefined;
  const silent = { doing: nothing, did: nothing, end: nothing, [Symbol.dispose]: nothing };
  if (isQuiet) return silent;
  // Terminals that only append, and CI services that keep a log, get plain lines.
  const canRedraw = stream.isTTY === true && environment['TERM'] !== 'dumb' && (environment['CI'] ?? '') === '';
  if (canRedraw) return createLine(stream, environment);
  return { ...silent, did: (text) => void stream.write(`${plain(text)}\n`) };
}

function createLine(stream: ProgressStream, environment: Environment) {
  let frame = 0;
  let shown: () => string = () => '';
  let timer: NodeJS.Timeout | null = null;

  function draw(): void {
    frame = (frame + 1) % FRAMES.length;
    const columns = Math.max(10, (terminalColumns(stream, environment) ?? 0) - 1);
    // Escape sequences in a name of an upstream must not reach the terminal.
    stream.write(CLEAR_LINE + cut(`${FRAMES[frame]} ${plain(shown())}`, columns));
  }

  function show(text: string | (() => string)): void {
    shown = typeof text === 'string' ? () => text : text;
    draw();
    timer ??= setInterval(draw, FRAME_MS).unref();
  }

  function end(): void {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    stream.write(CLEAR_LINE);
  }

  return {
    /** Shows what is being done until the next call. A function is called again for each update. */
    doing: show,
    /** Reports something as done, as a line of its own if there is no terminal. */
    did: (text: string): void => show(text),
    /** Clears the line. Call this before printing the result; `using` does it otherwise. */
    end,
    [Symbol.dispose]: end,
  };
}

/** Awaits all tasks; `tell` gets how many are done, at the beginning and after each. */
export async function allDone<T>(tasks: readonly Promise<T>[], tell: (done: number, total: number) => void) {
  let done = 0;
  if (tasks.length > 0) tell(done, tasks.length);
  return Promise.all(
    tasks.map(async (task) => {
      const result = await task;
      done += 1;
      tell(done, tasks.length);
      return result;
    }),
  );
}
