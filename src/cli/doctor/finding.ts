/** A finding of the doctor, with its remedy. */

import { paint, paragraph, plain } from '../terminal/table.ts';

export interface Finding {
  /** What was checked: `clock of edge`, `disk space`. */
  readonly name: string;
  /** `skipped`: it couldn't be checked from here. */
  readonly result: 'ok' | 'warning' | 'fault' | 'skipped';
  readonly message: string;
  /** The remedy; null if none is needed. */
  readonly remedy: string | null;
}

export function ok(name: string, message: string): Finding {
  return { name, result: 'ok', message, remedy: null };
}

export function warning(name: string, message: string, remedy: string): Finding {
  return { name, result: 'warning', message, remedy };
}

export function fault(name: string, message: string, remedy: string): Finding {
  return { name, result: 'fault', message, remedy };
}

export function skipped(name: string, message: string): Finding {
  return { name, result: 'skipped', message, remedy: null };
}

const SIGNS = {
  ok: ['good', '✓'],
  warning: ['middling', '!'],
  fault: ['bad', '✗'],
  skipped: ['faint', '–'],
} as const;

export function findingLines({ name, result, message, remedy }: Finding): string[] {
  const [tone, sign] = SIGNS[result];
  return [
    paragraph(`${paint(tone, sign)} ${name}: ${plain(message)}`, '  '),
    ...(remedy === null ? [] : [paragraph(`    → ${remedy}`, '      ')]),
  ];
}
