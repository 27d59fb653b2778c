/** Logs go to standard error: lines of JSON for machines, one readable line each on a terminal. Secrets never leave. */

import { createRequire } from 'node:module';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/load.ts';
import { messageOf } from '../errors.ts';
import { type EpochMs, HOUR_MS, SECOND_MS } from '../model/time.ts';
import { once } from '../once.ts';
import type { AnsweredRequest } from '../server/send.ts';

export type Log = Logger;

/** Creates the log. Every text in `secrets` is masked wherever it occurs. */
export function createLog(options: { readonly isQuiet: boolean; readonly secrets: ReadonlySet<string> }): Log {
  const isTerminal = process.stderr.isTTY === true;
  const target = isTerminal
    ? pretty()({
        destination: 2,
        sync: true,
        // By default, pino-pretty checks standard output.
        colorize: process.stderr.hasColors(),
        translateTime: 'SYS:HH:MM:ss',
        // Only stacks of errors get lines of their own.
        include: 'time,level,err',
        messageFormat: (line) => lineText(line),
      })
    : pino.destination({ dest: 2, sync: true });
  const write = (line: string): void => {
    target.write(redact(line, options.secrets));
  };
  return pino(
    { level: options.isQuiet ? 'warn' : 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write },
  );
}

/** Only loaded for terminals, because a server would keep it in memory. */
function pretty(): typeof import('pino-pretty') {
  return createRequire(import.meta.url)('pino-pretty');
}

/** Returns a function that filters repeated lines: it returns those that weren't in the previous call for the same subject. */
export function createNews(): (about: string, lines: readonly string[]) => ReadonlySet<string> {
  const logged = new Map<string, ReadonlySet<string>>();
  return (about, lines) => {
    const before = logged.get(about);
    logged.set(about, new Set(lines));
    return new Set(lines.filter((line) => before?.has(line) !== true));
  };
}

/** Logs errors of work that is retried: the same one at most once an hour. */
export function createErrorLog(log: Pick<Log, 'error'>, now: () => number = () => performance.now()) {
  const said = new Map<string, { readonly message: string; readonly at: number }>();
  return (error: unknown, where: string): void => {
    const message = messageOf(error);
    const last = said.get(where);
    if (last?.message === message && now() - last.at < HOUR_MS) return;
    said.set(where, { message, at: now() });
    log.error({ where }, message);
  };
}

/** Fields that only matter to machines. */
const MACHINE_FIELDS = new Set(['time', 'level', 'msg', 'err', 'run', 'pid', 'hostname']);

/** `published page=acme release=4`: a message and its fields on one line. */
export function lineText(fields: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(fields)
    .filter(([name]) => !MACHINE_FIELDS.has(name))
    .map(
      ([name, value]) =>
        `${name}=${typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`,
    );
  return [String(fields['msg'] ?? ''), ...shown].join('  ').replace(/\p{Cc}+/gu, ' ');
}

/** Masks secrets with `***`, except those shorter than four characters, which would hide too much else. */
export function redact(text: string, secrets: ReadonlySet<string>): string {
  let clean = text;
  for (const secret of secrets)
    if (secret.length >= 4)
      clean = clean.replaceAll(secret, '***').replaceAll(JSON.stringify(secret).slice(1, -1), '***');
  return clean;
}

// The access log on standard output: one line for each response, written when it is complete. Queries are left out,
// because links in emails have tokens in them.

type AccessLogFormat = Config['server']['accessLog'];

/**
 * Returns a function that logs requests in a format, in the order of their responses; only the last lines of a process that
 * ends at once may be in another. `write` gets whole lines.
 */
export function createAccessLog(write: (line: string) => void = toStandardOutput()) {
  const json = (request: AnsweredRequest): void => write(`${jsonLine(request)}\n`);
  const common = (request: AnsweredRequest): void => write(`${commonLine(request)}\n`);
  return (format: AccessLogFormat) => (format === 'off' ? null : format === 'json' ? json : common);
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
