/** Turns alerts into incidents: one per alert key, however often and in whatever order its messages arrive. */

import type { IntakeConfig, TestMark } from '../config/intake.ts';
import { type EpochMs, earlier, MINUTE_MS, toEpochMs } from '../model/time.ts';
import type { Writer } from '../store/database.ts';
import { findAlert, findWritten, type KnownAlert, keepAlert } from '../store/written.ts';
import type { WrittenPost } from '../sync/connectors/markdown/written.ts';
import { parseInstant } from '../sync/connectors/wire.ts';
import { applyChange, newIncident, updateTime } from './change-post.ts';
import { declaredStatus, foreignBody, instantIn, Refusal, unprocessable } from './requests.ts';
import { type Author, changePost, createPost, findComponent, freshId, type WritingPage } from './writing-page.ts';

interface IntakeContext {
  readonly intake: IntakeConfig;
  readonly writing: WritingPage;
  readonly author: Author;
  readonly newSuffix: () => string;
}

/** The result of one alert. */
export interface Taken {
  readonly key: string;
  /** `late`: an earlier message already ended what this one is about. */
  readonly did: 'declared' | 'resolved' | 'changed' | 'known' | 'late';
  /** Id of the post; null: it has none. */
  readonly post: string | null;
  /** The sender’s name for a component that the page doesn’t have. */
  readonly unknownComponent: string | null;
}

/** If an alert has been firing for longer than this when it first arrives, its incident starts now. */
const BEGAN_BEFORE_MAX_MS = 24 * 60 * MINUTE_MS;

/** Records one alert, in the transaction of its message. */
export async function takeAlert(tx: Writer, alert: Alert, context: IntakeContext): Promise<Taken> {
  const { intake, author } = context;
  const known = await findAlert(tx, { intake: intake.id, page: author.page.key, key: alert.key });
  return { firing: fire, resolved: resolve, changed: change }[alert.state](tx, alert, known, context);
}

async function fire(tx: Writer, alert: Alert, known: KnownAlert | null, context: IntakeContext): Promise<Taken> {
  const { intake, writing, author, newSuffix } = context;
  const { key, startedAt } = alert;
  const isAnew = known?.state === 'resolved' && startedAt !== null && known.toldAt !== null && startedAt > known.toldAt;
  const component = alertComponent(alert, intake, writing);
  const unknownComponent = component === null ? alert.component : null;
  if (known !== null && !isAnew)
    return { key, did: known.state === 'firing' ? 'known' : 'late', post: known.post, unknownComponent };
  const id = freshId(alert.title, newSuffix(), author.now);
  await createPost(tx, author, { id, document: alertPost(alert, component, context), action: 'incident-new' });
  await keep(tx, context, { key, post: id, state: 'firing', toldAt: startedAt });
  return { key, did: 'declared', post: id, unknownComponent };
}

function keep(tx: Writer, { intake, author }: IntakeContext, alert: Omit<KnownAlert, 'intake' | 'page'>) {
  return keepAlert(tx, { intake: intake.id, page: author.page.key, ...alert }, author.now);
}

async function resolve(tx: Writer, alert: Alert, known: KnownAlert | null, context: IntakeContext): Promise<Taken> {
  const { author } = context;
  const { key, endedAt, startedAt } = alert;
  const taken = { key, post: known?.post ?? null, unknownComponent: null };
  if (known?.state === 'resolved') return { ...taken, did: 'known' };
  // It ends an earlier firing than the current one, if the sender gives times. The start alone may have been corrected.
  const toldAt = known?.toldAt ?? null;
  const isLate = toldAt !== null && startedAt !== null && startedAt < toldAt && (endedAt ?? startedAt) <= toldAt;
  if (isLate) return { ...taken, did: 'late' };
  await keep(tx, context, { key, post: taken.post, state: 'resolved', toldAt: endedAt ?? startedAt });
  const row = taken.post === null ? null : await findWritten(tx, taken.post);
  if (row === null) return { ...taken, did: known === null ? 'known' : 'resolved' };
  const change = (document: WrittenPost): WrittenPost => resolvedPost(document, author.now);
  await changePost(tx, author, { id: row.id, action: 'incident-update', version: null, change });
  return { ...taken, did: 'resolved' };
}

/** Declares another state of the component if the alert’s severity now maps to another one. */
async function change(tx: Writer, alert: Alert, known: KnownAlert | null, context: IntakeContext): Promise<Taken> {
  const { intake, writing, author } = context;
  const taken: Taken = { key: alert.key, did: 'known', post: known?.post ?? null, unknownComponent: null };
  const component = alertComponent(alert, intake, writing);
  const row = known?.state !== 'firing' || known.post === null ? null : await findWritten(tx, known.post);
  if (row === null || component === null) return taken;
  const state = alertState(alert, intake);
  let did: Taken['did'] = 'known';
  const changed = (document: WrittenPost): WrittenPost => {
    const { post } = document;
    const declared = post.type === 'incident' ? post.impacts?.at(-1)?.components : undefined;
    if (declared?.[`${writing.page.definition.id}/${component}`] === state || isOver(document)) return document;
    did = 'changed';
    const components = { [component]: declaredStatus(state) };
    return applyChange(document, { components, deliver_notifications: false }, { writing, now: author.now });
  };
  await changePost(tx, author, { id: row.id, action: 'incident-update', version: null, change: changed });
  return { ...taken, did };
}

function isOver({ post, updates }: WrittenPost): boolean {
  const status = updates.findLast((update) => update.status !== null)?.status;
  return post.type !== 'incident' || status === 'resolved' || status === 'postmortem';
}

/** Resolves the incident, unless somebody already did. */
function resolvedPost(document: WrittenPost, now: EpochMs): WrittenPost {
  const { post, updates } = document;
  if (post.type !== 'incident' || isOver(document)) return document;
  const at = updateTime(updates, instantIn(post.started), now);
  return { ...document, updates: [...updates, { at, status: 'resolved', body: '' }] };
}

/** The same as a request to the API, but it may have begun a while ago. */
function alertPost(alert: Alert, component: string | null, { intake, writing, author }: IntakeContext): WrittenPost {
  const { now } = author;
  const reportedAt = alert.startedAt ?? now;
  const startedAt = reportedAt < now - BEGAN_BEFORE_MAX_MS ? now : earlier(reportedAt, now);
  const note =
    component === null && alert.component !== null
      ? `${intake.id} names the component ${JSON.stringify(alert.component.slice(0, 200))}, which is not on this page.`
      : undefined;
  const declared = component === null ? {} : { [component]: declaredStatus(alertState(alert, intake)) };
  const request = { name: alert.title, body: alert.body, components: declared, published: intake.published };
  return { ...newIncident(request, { writing, now }, startedAt), ...(note === undefined ? {} : { note }) };
}

/** The state that the intake’s table has for the first known severity of the alert. */
function alertState({ severities }: Alert, intake: IntakeConfig): IntakeConfig['state'] {
  const known = severities.find((severity) => Object.hasOwn(intake.severities, severity));
  return (known === undefined ? undefined : intake.severities[known]) ?? intake.state;
}

/** Finds the alert’s component by the intake’s table, then by id, then by name. */
function alertComponent({ component }: Alert, { components }: IntakeConfig, writing: WritingPage): string | null {
  if (component === null) return null;
  const given = Object.hasOwn(components, component) ? component : component.trim();
  const mapped = Object.hasOwn(components, given) ? (components[given] ?? given) : given;
  const name = mapped.toLowerCase();
  const byName = writing.model.components.find((one) => one.name.toLowerCase() === name);
  return findComponent(writing, mapped) ?? byName?.definition.id ?? null;
}

// Reads alerts from a payload with the mapping of its intake. Pure.

type Alert = NonNullable<ReturnType<typeof readAlert>>;

const ALERTS_MAX = 500;
const KEY_CHARS_MAX = 300;
/** Go's zero time: an alert that has not ended. */
const NO_TIME_BEFORE = toEpochMs(Date.UTC(2000, 0, 1));

/**
 * Reads the alerts of a payload, and whether it contains the sender's test message. Alerts with an unmapped status are
 * skipped.
 *
 * @throws Refusal 422 with the path of a required field that is missing
 */
export function readAlerts(payload: unknown, { mapping, tests }: Pick<IntakeConfig, 'mapping' | 'tests'>) {
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

/** Null: its status isn’t mapped. */
function readAlert(item: unknown, mapping: IntakeConfig['mapping'], place: string) {
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
  return {
    key,
    /** `changed`: only its severity. */
    state,
    title: oneLine(textOf(mapping.title) ?? key),
    /** Markdown; empty if there is no text, or none that can be shown. */
    body: foreignBody(textOf(mapping.body) ?? ''),
    /** The sender’s name for it; null: none given. */
    component: textOf(mapping.component),
    /** In the order in which they are looked up. */
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
