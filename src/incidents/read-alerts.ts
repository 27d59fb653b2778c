/** What alerting systems send, by the mapping of their intake. Pure. */

import type { IntakeConfig } from '../config/intake.ts';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import { parseInstant } from '../sync/connectors/wire.ts';
import { Refusal, unprocessable } from './refusal.ts';
import { isBodyTaken } from './requests.ts';

export interface Alert {
  readonly key: string;
  readonly state: 'firing' | 'resolved';
  readonly title: string;
  /** Markdown; empty where it says nothing, or nothing that could be shown. */
  readonly body: string;
  /** As the sender calls it; null: it names none. */
  readonly component: string | null;
  readonly severity: string | null;
  readonly startedAt: EpochMs | null;
  readonly endedAt: EpochMs | null;
}

const ALERTS_MAX = 500;
const KEY_CHARS_MAX = 300;
/** Go's zero time: an alert that has not ended. */
const NO_TIME_BEFORE = toEpochMs(Date.UTC(2000, 0, 1));

/**
 * The alerts of a payload; those whose status is neither firing nor resolved are passed over.
 *
 * @throws Refusal 422 with the path of what every alert needs and one lacks
 */
export function readAlerts(payload: unknown, { mapping }: Pick<IntakeConfig, 'mapping'>): readonly Alert[] {
  const listed = mapping.alerts === undefined ? [payload] : valueAt(payload, mapping.alerts);
  if (!Array.isArray(listed))
    throw unprocessable([{ path: mapping.alerts ?? '', message: 'expected a list of alerts' }]);
  if (listed.length > ALERTS_MAX) throw new Refusal(413, `At most ${ALERTS_MAX} alerts at once.`);
  return listed.flatMap((item: unknown, index) => {
    const place = mapping.alerts === undefined ? '' : `${mapping.alerts}.${index}.`;
    const textOf = (paths: readonly string[] | undefined): string | null => firstText(item, paths ?? []);
    const needed = (paths: readonly string[]): string => {
      const text = textOf(paths);
      if (text === null) throw unprocessable([{ path: `${place}${paths[0]}`, message: 'is missing' }]);
      return text;
    };
    const status = needed(mapping.status);
    const state = mapping.firing.includes(status) ? 'firing' : mapping.resolved.includes(status) ? 'resolved' : null;
    if (state === null) return [];
    const key = needed(mapping.key);
    if (key.length > KEY_CHARS_MAX)
      throw unprocessable([
        { path: `${place}${mapping.key[0]}`, message: `has more than ${KEY_CHARS_MAX} characters` },
      ]);
    const body = (textOf(mapping.body) ?? '').trim();
    return [
      {
        key,
        state,
        title: oneLine(textOf(mapping.title) ?? key),
        body: isBodyTaken(body) ? body : '',
        component: textOf(mapping.component),
        severity: textOf(mapping.severity),
        startedAt: instantAt(item, mapping.started ?? []),
        endedAt: instantAt(item, mapping.ended ?? []),
      },
    ];
  });
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((place, name) => {
    const isThere = typeof place === 'object' && place !== null && Object.hasOwn(place, name);
    return isThere ? (place as Readonly<Record<string, unknown>>)[name] : undefined;
  }, value);
}

function firstText(item: unknown, paths: readonly string[]): string | null {
  for (const path of paths) {
    const value = valueAt(item, path);
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  }
  return null;
}

/** ISO 8601, or seconds, milliseconds or nanoseconds since 1970. */
function instantAt(item: unknown, paths: readonly string[]): EpochMs | null {
  const text = firstText(item, paths);
  if (text === null) return null;
  const at = /^\d{9,19}$/.test(text) ? fromCount(Number(text)) : parseInstant(text, 'UTC');
  return at === null || at < NO_TIME_BEFORE ? null : at;
}

function fromCount(count: number): EpochMs {
  const ms = count < 1e11 ? count * 1_000 : count < 1e14 ? count : count / 1e6;
  return toEpochMs(Math.round(ms));
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  return line === '' ? 'Alert' : [...line].slice(0, 200).join('');
}
