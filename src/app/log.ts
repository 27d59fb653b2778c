/** Logs go to standard error: lines of JSON for machines, one readable line each on a terminal. Secrets never leave. */

import { createRequire } from 'node:module';
import { type Logger, pino } from 'pino';
import { messageOf } from '../errors.ts';
import { HOUR_MS } from '../model/time.ts';

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
export function createErrorLog(
  log: Pick<Log, 'error'>,
  now: () => number = () => performance.now(),
): (error: unknown, where: string) => void {
  const said = new Map<string, { readonly message: string; readonly at: number }>();
  return (error, where) => {
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
