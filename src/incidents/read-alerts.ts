/** What alerting systems send, by the mapping of their intake. Pure. */

import type { IntakeConfig, TestMark } from '../config/intake.ts';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import { parseInstant } from '../sync/connectors/wire.ts';
import { Refusal, unprocessable } from './refusal.ts';
import { isBodyTaken } from './requests.ts';

export interface Alert {
  readonly key: string;
  /** `changed`: only its severity. */
  readonly state: 'firing' | 'resolved' | 'changed';
  readonly title: string;
  /** Markdown; empty where it says nothing, or nothing that could be shown. */
  readonly body: string;
  /** As the sender calls it; null: it names none. */
  readonly component: string | null;
  /** In the order in which they are looked up. */
  readonly severities: readonly string[];
  readonly startedAt: EpochMs | null;
  readonly endedAt: EpochMs | null;
}

const ALERTS_MAX = 500;
const KEY_CHARS_MAX = 300;
/** Go's zero time: an alert that has not ended. */
const NO_TIME_BEFORE = toEpochMs(Date.UTC(2000, 0, 1));

/**
 * The alerts of a payload, and whether it has the sender's test. Alerts whose status says nothing to us are passed over.
 *
 * @throws Refusal 422 with the path of what every alert needs and one lacks
 */
export function readAlerts(
  payload: unknown,
  { mapping, tests }: Pick<IntakeConfig, 'mapping' | 'tests'>,
): { readonly alerts: readonly Alert[]; readonly hasTest: boolean } {
  const listed = mapping.alerts === undefined ? [payload] : valueAt(payload, mapping.alerts);
  if (!Array.isArray(listed))
    throw unprocessable([{ path: mapping.alerts ?? '', message: 'expected a list of alerts' }]);
  if (listed.length > ALERTS_MAX) throw new Refusal(413, `At most ${ALERTS_MAX} alerts at once.`);
  const isTest = (item: unknown): boolean => tests.some((mark) => hasMark(item, mark));
  const alerts = listed.flatMap((item: unknown, index) => {
    const place = mapping.alerts === undefined ? '' : `${mapping.alerts}.${index}.`;
    return isTest(item) ? [] : (readAlert(item, mapping, place) ?? []);
  });
  return { alerts, hasTest: listed.some(isTest) };
}

function hasMark(item: unknown, mark: TestMark): boolean {
  return Object.entries(mark).every(([path, expected]) => {
    const text = firstText(item, [path]);
    return expected === null ? text === null : text !== null && expected.test(text);
  });
}

/** Null: its status says nothing to us. */
function readAlert(item: unknown, mapping: IntakeConfig['mapping'], place: string): Alert | null {
  const textOf = (paths: readonly string[] | undefined): string | null => firstText(item, paths ?? []);
  const needed = (paths: readonly string[]): string => {
    const text = textOf(paths);
    if (text === null) throw unprocessable([{ path: `${place}${paths[0]}`, message: 'is missing' }]);
    return text;
  };
  const status = needed(mapping.status);
  const state = (['firing', 'resolved', 'changed'] as const).find((word) => mapping[word]?.includes(status));
  if (state === undefined) return null;
  const key = needed(mapping.key);
  if (key.length > KEY_CHARS_MAX)
    throw unprocessable([{ path: `${place}${mapping.key[0]}`, message: `has more than ${KEY_CHARS_MAX} characters` }]);
  const body = (textOf(mapping.body) ?? '').trim();
  return {
    key,
    state,
    title: oneLine(textOf(mapping.title) ?? key),
    body: isBodyTaken(body) ? body : '',
    component: textOf(mapping.component),
    severities: (mapping.severity ?? []).flatMap((path) => textOf([path]) ?? []),
    startedAt: instantAt(item, mapping.started ?? []),
    endedAt: instantAt(item, mapping.ended ?? []),
  };
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
