/**
 * Posts: one Markdown file each, with YAML front matter that says what it is. Every key has its sentence, which editors
 * show; times without an offset are in the zone of the option `timezone`.
 */

import { parseDocument } from 'yaml';
import { z } from 'zod';
import { ANNOUNCEMENT_LEVELS, INCIDENT_IMPACTS, INCIDENT_STATUSES } from '../../../model/observation.ts';
import { MAINTENANCE_STATUSES } from '../../../model/page.ts';
import { isLocale } from '../../../model/scalars.ts';
import type { EpochMs } from '../../../model/time.ts';
import type { Translated } from '../../../model/translated.ts';
import { checkOwn } from '../../../schema/issue-words.ts';
import { LocaleSchema, TimezoneSchema } from '../../../schema/scalars.ts';
import { readField } from '../items.ts';
import { instantSchema, parseInstant } from '../wire.ts';

const instantField = z
  .string()
  .refine((text) => parseInstant(text, 'UTC') !== null, 'expected a time such as 2026-11-21T08:00:00Z');

const monitorField = z.string().regex(/^[^/\s]+\/\S+$/, 'expected <upstream id>/<external id>');
const pageField = z.string().min(1).max(300);
const componentField = z.string().regex(/^[^/\s]+\/\S+$/, 'expected <page slug>/<component id>');

const about = {
  monitors: z.array(monitorField).default([]).describe('Affected monitors, as <upstream id>/<external id>.'),
  components: z.array(componentField).default([]).describe('Affected components, as <page slug>/<component id>.'),
  pages: z
    .array(pageField)
    .optional()
    .describe('Slugs of the pages it appears on. Default: every page with one of its monitors or components.'),
};

const titleField = z.string().min(1).max(256).describe('One line; shown as the heading.');
const notifyField = z.boolean().optional().describe('False: subscribers and channels are not notified. Default: true.');
const draftField = z.boolean().default(false).describe('True: only pharos preview shows it.');

const translationsField = z
  .record(LocaleSchema, z.strictObject({ title: titleField.optional(), body: z.string().max(10_000).optional() }))
  .optional()
  .describe('By language: { de: { title: …, body: … } }. body is the text before the first update.');

const heading = { title: titleField, translations: translationsField, draft: draftField };

/** Translations of titles and texts, in the form of observations. */
export function readTranslations({ translations = {} }: { translations?: z.output<typeof translationsField> }) {
  const of = (field: 'title' | 'body'): [string, string][] =>
    Object.entries(translations).flatMap(([tag, said]) => (said[field] === undefined ? [] : [[tag, said[field]]]));
  const [titles, bodies] = [of('title'), of('body')];
  return {
    ...(titles.length === 0 ? {} : { titles: Object.fromEntries(titles) as Translated }),
    ...(bodies.length === 0 ? {} : { bodies: Object.fromEntries(bodies) as Translated }),
  };
}

const hasSubject = ({ monitors, components, pages = [] }: z.output<z.ZodObject<typeof about>>): boolean =>
  monitors.length + components.length + pages.length > 0;
const isAmong = (known: readonly string[], ids: readonly string[]) => ids.every((id) => known.includes(id));
const SUBJECT_MISSING = {
  path: ['monitors'],
  error: 'set at least one of monitors, components or pages; otherwise it appears nowhere',
};

/** States that operators can declare for components. */
const AFFECTED_STATES = ['degraded', 'partial_outage', 'major_outage'] as const;
/** States that can be declared for a single component, including operational and maintenance. */
const DECLARED_STATES = ['operational', ...AFFECTED_STATES, 'maintenance'] as const;

const ImpactSchema = z.strictObject({
  at: instantField.describe('Time of the start or of an update.'),
  components: z.record(componentField, z.enum(DECLARED_STATES)).describe('State of each component from then on.'),
});

const IncidentPostSchema = z
  .strictObject({
    type: z.literal('incident'),
    ...heading,
    deliver_notifications: notifyField,
    status: z.enum(INCIDENT_STATUSES).optional().describe('Default: that of the newest update, or investigating.'),
    impact: z.enum(INCIDENT_IMPACTS).default('minor').describe('How severe it is for visitors.'),
    state: z
      .enum([...AFFECTED_STATES, 'none'])
      .default('degraded')
      .describe('State of its monitors and components while it is open; none: no state is declared.'),
    impacts: z
      .array(ImpactSchema)
      .optional()
      .describe('States of single components, from the start or an update on, instead of state.'),
    started: instantField.describe('Start time.'),
    ended: instantField.optional().describe('End time. Default: the time of the update that says resolved.'),
    affects_uptime: z
      .boolean()
      .default(true)
      .describe('False: it appears on its components and colours their days, but doesn’t count in their uptime.'),
    ...about,
  })
  .refine(hasSubject, SUBJECT_MISSING)
  .refine(({ impacts, monitors }) => impacts === undefined || monitors.length === 0, {
    path: ['impacts'],
    error: 'impacts supports components only: remove monitors, or use state',
  })
  .refine(({ impacts = [], components }) => impacts.every((one) => isAmong(components, Object.keys(one.components))), {
    path: ['impacts'],
    error: 'list only components from components',
  });
export type IncidentPost = z.output<typeof IncidentPostSchema>;

/**
 * Parts of a rule by its frequency, as far as they make sense for maintenance. Parts that could leave no window at all
 * in most years are left out: the library would look for one until the year 9999.
 */
const RULE_PARTS = {
  any: 'INTERVAL=[1-9]\\d{0,2}|COUNT=[1-9]\\d{0,3}|UNTIL=\\d{8}(T\\d{6}Z?)?',
  days: '(MO|TU|WE|TH|FR|SA|SU)',
  places: '[+-]?[1-5]',
} as const;
const DAYS = `BYDAY=${RULE_PARTS.days}(,${RULE_PARTS.days})*|WKST=${RULE_PARTS.days}`;
const DAYS_OF_MONTH = [
  `BYDAY=(${RULE_PARTS.places})?${RULE_PARTS.days}(,(${RULE_PARTS.places})?${RULE_PARTS.days})*`,
  `BYSETPOS=${RULE_PARTS.places}`,
  'BYMONTHDAY=-?([1-9]|[12]\\d|3[01])(,-?([1-9]|[12]\\d|3[01]))*',
].join('|');
/** Recurrence rules of a window. */
export const REPEAT_RULE = new RegExp(
  `^FREQ=(${[
    `DAILY(;(${RULE_PARTS.any}))*`,
    `WEEKLY(;(${RULE_PARTS.any}|${DAYS}))*`,
    `MONTHLY(;(${RULE_PARTS.any}|${DAYS_OF_MONTH}))*`,
    `YEARLY(;(${RULE_PARTS.any}|${DAYS_OF_MONTH}|BYMONTH=([1-9]|1[0-2])(,([1-9]|1[0-2]))*))*`,
  ].join('|')})$`,
);

const MaintenancePostSchema = z
  .strictObject({
    type: z.literal('maintenance'),
    ...heading,
    deliver_notifications: notifyField,
    starts: instantField.describe('Start of the window, or of the first one.'),
    ends: instantField.describe('End of the window, or of the first one.'),
    announced_for: instantField.optional().describe('Start when it was announced, if it has moved since.'),
    repeat: z
      .string()
      .regex(REPEAT_RULE, 'expected a rule such as FREQ=WEEKLY;BYDAY=SU')
      .optional()
      .describe('Recurrence rule (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU.'),
    timezone: TimezoneSchema.optional().describe('Time zone of the recurrence. Default: that of the upstream.'),
    ...about,
  })
  .refine(hasSubject, SUBJECT_MISSING);
export type MaintenancePost = z.output<typeof MaintenancePostSchema>;

const AnnouncementPostSchema = z.strictObject({
  type: z.literal('announcement'),
  ...heading,
  level: z.enum(ANNOUNCEMENT_LEVELS).default('info').describe('Sets its colour.'),
  from: instantField.describe('When it appears.'),
  to: instantField.optional().describe('When it disappears. Default: when the file is deleted.'),
  pages: z.array(pageField).optional().describe('Slugs of the pages it appears on. Default: all.'),
});

const OverridePostSchema = z.strictObject({
  type: z.literal('override'),
  title: titleField.describe('One line for operators; visitors only see the state.'),
  draft: draftField,
  component: componentField.describe('The component, as <page slug>/<component id>.'),
  state: z.enum(DECLARED_STATES).describe('Its state, unless monitors report a worse one.'),
  from: instantField.describe('From when.'),
  to: instantField.optional().describe('End time. Default: when the post is deleted.'),
});
export type OverridePost = z.output<typeof OverridePostSchema>;

/** The front matter of a post. */
export const PostSchema = z.discriminatedUnion('type', [
  IncidentPostSchema,
  MaintenancePostSchema,
  AnnouncementPostSchema,
  OverridePostSchema,
]);
type Post = z.output<typeof PostSchema>;

/** JSON Schema (draft 2020-12) of the front matter, for editors. */
export function postJsonSchema(): unknown {
  return z.toJSONSchema(PostSchema, { io: 'input' });
}

/** A folder as read by the runner. `fault`: why the file was not opened. */
export const FolderSchema = z.array(z.object({ name: z.string(), text: z.string(), fault: z.string().optional() }));
export type PostFile = z.output<typeof FolderSchema>[number];

/** Front matter has about ten lines. More aliases are an attack or an accident. */
const ALIASES_MAX = 20;

/** Times in stored posts have an offset. */
export const StoredInstantSchema = instantSchema('UTC', 'expected a date and time');

/** An update as it is stored. */
export const UpdateSchema = z.strictObject({
  at: StoredInstantSchema,
  status: z.enum([...INCIDENT_STATUSES, ...MAINTENANCE_STATUSES]).nullable(),
  body: z.string(),
  /** Translations of the body. */
  bodies: z.record(z.string(), z.string()).optional(),
  /** False: its author doesn't want anyone to be notified. */
  notify: z.boolean().optional(),
});
export type PostUpdate = Readonly<z.output<typeof UpdateSchema>>;

export interface ReadPost {
  /** File name without extension; part of the post's id. */
  readonly name: string;
  readonly post: Post;
  /** The text before the first update. */
  readonly opening: string;
  /** In the order of the file. */
  readonly updates: readonly PostUpdate[];
}

/** An error in a file: the field (empty: the file itself) and what was expected. */
export interface PostFault {
  readonly field: string;
  readonly message: string;
  /** The type in the file, if it can be read. */
  readonly type: string | null;
}

const FENCE = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
/** The statuses of updates. */
const STATUSES = { incident: INCIDENT_STATUSES, maintenance: MAINTENANCE_STATUSES } as const;
/** `## 2026-11-21T08:10:00Z identified`, and after it the same in another language: `## 2026-11-21T08:10:00Z {lang=de}` */
export const UPDATE_HEADING =
  /^##[ \t]+(\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*)(?:[ \t]+([a-z_]+))?(?:[ \t]+\{lang=([A-Za-z0-9-]+)\})?[ \t]*$/;

/** Parses a post. Returns the post, or all errors. */
export function readPost(file: PostFile, zone: string): ReadPost | readonly PostFault[] {
  const unreadable = (message: string): PostFault[] => [{ field: '', message, type: null }];
  if (file.fault !== undefined) return unreadable(file.fault);
  const text = file.text.replace(/^\uFEFF/, '');
  const fence = FENCE.exec(text);
  if (fence === null) return unreadable('doesn’t start with front matter between two lines of ---');
  const matter = parseMatter(fence[1] ?? '');
  if ('fault' in matter) return unreadable(matter.fault);
  const parsed = checkOwn(PostSchema, matter.value);
  const named = readField(matter.value, 'type');
  const type = typeof named === 'string' ? named : null;
  if (!parsed.success) return parsed.faults.map(({ path, message }) => ({ field: path, message, type }));
  const body = readBody(text.slice(fence[0].length), parsed.data, zone);
  if ('fault' in body) return [{ field: 'body', message: body.fault, type }];
  return { name: file.name.replace(/\.(md|markdown)$/i, ''), post: parsed.data, ...body };
}

function parseMatter(yaml: string): { value: unknown } | { fault: string } {
  const document = parseDocument(yaml, { uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) return { fault: `front matter is not valid YAML: ${error.message.split('\n')[0]}` };
  try {
    return { value: document.toJS({ maxAliasCount: ALIASES_MAX }) };
  } catch {
    return { fault: 'front matter is not valid YAML: too many aliases' };
  }
}

function readBody(text: string, post: Post, zone: string): Pick<ReadPost, 'opening' | 'updates'> | { fault: string } {
  if (post.type !== 'incident' && post.type !== 'maintenance') return { opening: text.trim(), updates: [] };
  const statuses = STATUSES[post.type];
  const opening: string[] = [];
  const updates: { at: EpochMs; status: PostUpdate['status']; lines: string[]; lang?: string }[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, time, word, lang] = UPDATE_HEADING.exec(line) ?? [];
    if (time === undefined) {
      (updates.at(-1)?.lines ?? opening).push(line);
      continue;
    }
    const at = parseInstant(time, zone);
    const status = statuses.find((known) => known === word) ?? null;
    if (at === null) return { fault: `"## ${time}" is not a time` };
    if (word !== undefined && status === null) return { fault: `"${word}" is not one of ${statuses.join(', ')}` };
    const before = updates.at(-1);
    if (lang !== undefined && (before?.at !== at || !isLocale(lang)))
      return { fault: `"{lang=${lang}}" must follow the update that it translates, with its time and a language tag` };
    updates.push({ at, status, lines: [], ...(lang === undefined ? {} : { lang }) });
  }
  return {
    opening: joinLines(opening),
    updates: updates.flatMap(({ at, status, lines, lang }, index) => {
      if (lang !== undefined) return [];
      const following = updates.slice(index + 1);
      const end = following.findIndex((one) => one.lang === undefined);
      const translations = end === -1 ? following : following.slice(0, end);
      const bodies = translations.map((one) => [one.lang ?? '', joinLines(one.lines)]);
      const translated = bodies.length === 0 ? {} : { bodies: Object.fromEntries(bodies) as Translated };
      return [{ at, status, body: joinLines(lines), ...translated }];
    }),
  };
}

function joinLines(lines: readonly string[]): string {
  return lines.join('\n').trim();
}
