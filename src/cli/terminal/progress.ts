/**
 * What a long command is doing: one line that changes on a terminal, plain lines elsewhere, nothing when it is to be quiet.
 * By hand: ora brings eight packages for a turning sign.
 */

import { cut, plain, terminalColumns } from './table.ts';

export interface Progress {
  /** Something goes on until the next call; a function is asked anew as long as it does. */
  readonly doing: (text: string | (() => string)) => void;
  /** Something is done: a line of its own where there is no terminal. */
  readonly did: (text: string) => void;
  /** Clears the line; to be called before the result is printed. */
  readonly end: () => void;
}

interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
const CLEAR_LINE = '\r\u001b[2K';

type Environment = Readonly<Record<string, string | undefined>>;

/** Makes it for standard error, so that standard output holds the result alone. */
export function createProgress(
  isQuiet: boolean,
  stream: ProgressStream = process.stderr,
  environment: Environment = process.env,
): Progress {
  if (isQuiet) return { doing: () => undefined, did: () => undefined, end: () => undefined };
  if (!canRedraw(stream, environment)) {
    return {
      doing: () => undefined,
      did: (text) => void stream.write(`${plain(text)}\n`),
      end: () => undefined,
    };
  }
  return createLine(stream, environment);
}

/** Terminals that only append, and services that keep a log of what they were shown, get lines. */
function canRedraw({ isTTY }: ProgressStream, { TERM, CI }: Environment): boolean {
  return isTTY === true && TERM !== 'dumb' && (CI ?? '') === '';
}

function createLine(stream: ProgressStream, environment: Environment): Progress {
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

  return {
    doing: show,
    did: show,
    end: () => {
      if (timer === null) return;
      clearInterval(timer);
      timer = null;
      stream.write(CLEAR_LINE);
    },
  };
}
