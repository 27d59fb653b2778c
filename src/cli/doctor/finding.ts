/** A finding of the doctor, with its remedy. */

import { marked, paragraph } from '../terminal/table.ts';

export interface Finding {
  /** What was checked: `clock of edge`, `disk space`. */
  readonly name: string;
  /** `skipped`: it couldn't be checked from here. */
  readonly result: keyof typeof TONES;
  readonly message: string;
  /** The remedy; null if none is needed. */
  readonly remedy: string | null;
}

const TONES = { ok: 'good', warning: 'middling', fault: 'bad', skipped: 'faint' } as const;

export const ok = (name: string, message: string): Finding => ({ name, result: 'ok', message, remedy: null });
export const skipped = (name: string, message: string): Finding => ({ name, result: 'skipped', message, remedy: null });
/** A finding of this kind, which has a remedy. */
const remediable =
  (result: 'warning' | 'fault') =>
  (name: string, message: string, remedy: string): Finding => ({ name, result, message, remedy });
export const warning = remediable('warning');
export const fault = remediable('fault');

/** If a clock is further off, times on pages look wrong. */
export const SKEW_WARN_MS = 5_000;

/** @param skewMs  how far the clock of a server is ahead of ours; null: it doesn't say */
export function clockFinding(server: string, skewMs: number | null, remedy: string): Finding {
  const name = `clock against ${server}`;
  if (skewMs === null) return skipped(name, 'it doesn’t send the time');
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  if (Math.abs(skewMs) <= SKEW_WARN_MS) return ok(name, seconds === 0 ? 'in sync' : `${seconds} s apart`);
  return warning(name, `its clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} ours`, remedy);
}

export function findingLines({ name, result, message, remedy }: Finding): string[] {
  const line = marked(TONES[result], `${name}: ${message}`);
  return remedy === null ? [line] : [line, paragraph(`    → ${remedy}`, '      ')];
}
