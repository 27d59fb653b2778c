/**
 * What a long command is doing: one line that changes on a terminal, plain lines elsewhere, nothing when it is to be quiet.
 * By hand: ora brings eight packages for a turning sign.
 */

import { stripVTControlCharacters } from 'node:util';

export interface Progress {
  /** Something goes on until the next call. */
  readonly doing: (text: string) => void;
  /** Something is done: a line of its own where there is no terminal. */
  readonly did: (text: string) => void;
  /** Clears the line; to be called before the result is printed. */
  readonly end: () => void;
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
const CLEAR_LINE = '\r\u001b[2K';

/** Makes it for standard error, so that standard output holds the result alone. */
export function createProgress(isQuiet: boolean, stream: ProgressStream = process.stderr): Progress {
  if (isQuiet) return { doing: () => undefined, did: () => undefined, end: () => undefined };
  if (stream.isTTY !== true) {
    return {
      doing: () => undefined,
      did: (text) => void stream.write(`${stripVTControlCharacters(text)}\n`),
      end: () => undefined,
    };
  }
  return createLine(stream);
}

function createLine(stream: ProgressStream): Progress {
  let frame = 0;
  let shown = '';
  let timer: NodeJS.Timeout | null = null;

  function draw(): void {
    frame = (frame + 1) % FRAMES.length;
    const line = `${FRAMES[frame]} ${shown}`;
    stream.write(CLEAR_LINE + line.slice(0, Math.max(10, (stream.columns ?? 80) - 1)));
  }

  function show(text: string): void {
    // Escape sequences in a name of an upstream must not reach the terminal.
    shown = stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
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
