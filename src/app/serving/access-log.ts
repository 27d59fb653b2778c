/**
 * The access log on standard output: one line for each response, written when it is complete. Queries are left out, because
 * links in emails have tokens in them.
 */

import { pino } from 'pino';
import type { Config } from '../../config/load.ts';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import { once } from '../../once.ts';
import type { AnsweredRequest } from '../../server/send.ts';

type AccessLogFormat = Config['server']['accessLog'];

/**
 * Returns a function that logs requests in a format, in the order of their responses; only the last lines of a process that
 * ends at once may be in another. `write` gets whole lines.
 */
export function createAccessLog(
  write: (line: string) => void = toStandardOutput(),
): (format: AccessLogFormat) => ((request: AnsweredRequest) => void) | null {
  const json = (request: AnsweredRequest): void => write(`${jsonLine(request)}\n`);
  const common = (request: AnsweredRequest): void => write(`${commonLine(request)}\n`);
  return (format) => (format === 'off' ? null : format === 'json' ? json : common);
}

/** A pipe takes so much in one piece, and other processes of this node write there too. */
const PIECE_BYTES = 4_096;
/** The longest that a line waits for others: each piece wakes a thread of ours and whoever reads it. */
const GATHERED_MS = 100;

/** No visitor waits for a slow reader. What was gathered is also written when the process ends. */
function toStandardOutput(): (line: string) => void {
  let gathered = '';
  let bytes = 0;
  const target = once(() => {
    const made = pino.destination({ dest: 1, sync: false, maxWrite: PIECE_BYTES });
    const writeLast = (): void => {
      if (bytes === 0) return;
      flush();
      made.flushSync();
    };
    setInterval(flush, GATHERED_MS).unref();
    process.once('beforeExit', writeLast).once('exit', writeLast);
    return made;
  });
  const flush = (): void => {
    if (bytes > 0) target().write(gathered);
    gathered = '';
    bytes = 0;
  };
  return (line) => {
    const length = Buffer.byteLength(line);
    if (bytes + length > PIECE_BYTES) flush();
    if (bytes === 0) target();
    gathered += line;
    bytes += length;
  };
}

function jsonLine({ at, clientAddress, method, path, status, bytes, seconds, sent }: AnsweredRequest): string {
  return JSON.stringify({
    time: new Date(at).toISOString(),
    client: clientAddress,
    method,
    host: sent.headers.host ?? '',
    path,
    status,
    bytes,
    ms: Math.round(seconds * 1e6) / 1e3,
    agent: sent.headers['user-agent'] ?? '',
  });
}

/** The Common Log Format: `host ident user [time] "request" status bytes`. */
function commonLine({ at, clientAddress, method, path, status, bytes }: AnsweredRequest): string {
  return `${clientAddress || '-'} - - [${timeIn(at)}] "${method} ${quoted(path)} HTTP/1.1" ${status} ${bytes}`;
}

/** Kept for a second. */
function timeIn(at: EpochMs): string {
  const second = Math.floor(at / SECOND_MS);
  if (second !== latest.second) {
    const [, day, month, year, time] = new Date(at).toUTCString().split(' ');
    latest = { second, text: `${day}/${month}/${year}:${time} +0000` };
  }
  return latest.text;
}

let latest = { second: Number.NaN, text: '' };

/** Escapes text from a request, so that it can't end its field or line. */
function quoted(text: string): string {
  if (/^[\w./-]*$/.test(text)) return text;
  return text
    .replace(/["\\]/g, '\\$&')
    .replace(/[^\x20-\x7e]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
