/**
 * Imports cState, a Hugo site with one file per issue. Systems and categories are in its configuration. An issue's
 * updates are paragraphs that end with a `track` shortcode and a time.
 */

import { parse } from 'yaml';
import { z } from 'zod';
import { INCIDENT_STATUSES, type IncidentStatus, isOverStatus } from '../../model/observation.ts';
import { isTimezone } from '../../model/scalars.ts';
import { type EpochMs, later, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import type { PostUpdate } from '../../sync/connectors/markdown/schema.ts';
import { parseInstant } from '../../sync/connectors/wire.ts';
import {
  aboutPage,
  change,
  drop,
  entryFor,
  type ImportContext,
  type ImportedPost,
  type ImportedSite,
  type Importing,
  type ImportNote,
  layOut,
  quoted,
  type SourceFile,
  toTitle,
  unreadKeys,
} from '../site.ts';
import unread from '../unread-keys.json' with { type: 'json' };

const WordSchema = z.string().nullish().catch(null);
const FlagSchema = z.boolean().nullish().catch(null);

const ConfigSchema = z.object({
  title: WordSchema,
  timeZone: WordSchema,
  params: z
    .object({
      description: WordSchema,
      categories: z
        .array(z.object({ name: z.string(), description: WordSchema, closed: FlagSchema, untitled: FlagSchema }))
        .nullish(),
      systems: z
        .array(z.object({ name: z.string(), description: WordSchema, category: WordSchema, link: WordSchema }))
        .nullish(),
    })
    .nullish(),
});
type Config = z.output<typeof ConfigSchema>;

const CONFIG_FILE = /^(?:config|hugo)\.ya?ml$/;
/** Reads the configuration. If it can't be read, it is empty, and a note says why. */
function readConfig(files: readonly SourceFile[], notes: ImportNote[]): Config {
  const empty: Config = { title: null, timeZone: null, params: null };
  const file = files.find(({ path }) => CONFIG_FILE.test(path));
  const others = files.filter(({ path }) => /^(?:config|hugo)\.(?:toml|json)$/.test(path)).map(({ path }) => path);
  if (file === undefined) {
    drop(
      notes,
      others[0] ?? 'config.yml',
      'only YAML is supported (config.yml, hugo.yaml), so groups and descriptions are missing and only components named by issues are imported. Convert it to YAML and import again with --update',
    );
    return empty;
  }
  const document = parseYaml(file.text);
  const parsed = check(ConfigSchema, document);
  if (parsed.success) {
    notes.push(...unreadKeys(file.path, document, ConfigSchema, unread.cstateConfig));
    return parsed.data;
  }
  drop(notes, file.path, `${faultText(parsed.faults[0])}; only components named by issues are imported`);
  return empty;
}

/** Parses YAML; null if it is invalid. */
function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

const IssueSchema = z.object({
  title: z.unknown().optional(),
  date: z.unknown().optional(),
  section: WordSchema,
  draft: FlagSchema,
  informational: FlagSchema,
  resolved: FlagSchema,
  resolvedWhen: z.unknown().optional(),
  severity: WordSchema,
  affected: z
    .union([z.array(z.string()), z.string().transform((name) => [name])])
    .nullish()
    .catch(null),
  url: WordSchema,
  slug: WordSchema,
  aliases: z.array(z.string()).nullish().catch(null),
});
type Issue = z.output<typeof IssueSchema>;

/** Severities of issues. */
const SEVERITIES = {
  down: { impact: 'critical', state: 'major_outage' },
  disrupted: { impact: 'minor', state: 'degraded' },
  notice: { impact: 'none', state: 'none' },
} as const;
type Severity = (typeof SEVERITIES)[keyof typeof SEVERITIES];

const FENCE = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Imports the site in a folder: its configuration and everything below `content`. Never throws. */
export function cstateSite(files: readonly SourceFile[], context: ImportContext): ImportedSite {
  const notes: ImportNote[] = [];
  const config = readConfig(files, notes);
  const timeZone = config.timeZone ?? context.zone;
  const zone = isTimezone(timeZone) ? timeZone : context.zone;
  if (zone !== timeZone) change(notes, 'timeZone', `${quoted(timeZone)} is not a time zone; ${zone} is used instead`);
  const issues = files
    .filter(({ path }) => path.startsWith('content/') && /\.(?:md|markdown|html)$/.test(path))
    .flatMap((file) => readIssue(file, notes));
  const matters = issues.map(({ matter }) => matter);
  notes.push(...unreadKeys('front matter of issues', matters, z.array(IssueSchema), unread.cstateIssue));
  const { groups, components, ids } = readLayout(config, issues, notes);
  const posts = issues.flatMap((issue) => toPost(issue, { ...context, zone, ids, notes }));
  change(
    notes,
    'index.json, index.svg',
    'JSON and badges have different addresses and formats in Pharos: api/v2/summary.json, badges/',
  );
  const systems = [...ids].flatMap(([name, id]) => [
    [`/affected/${urlized(name)}/`, `/components/${id}/`] as const,
    [`/affected/${urlized(name)}/index.xml`, `/components/${id}/feed.rss`] as const,
  ]);
  return {
    title: config.title ?? null,
    description: config.params?.description ?? null,
    groups,
    components,
    upstream: null,
    posts,
    redirects: {
      '/issues/': '/history/',
      '/index.xml': '/feed.rss',
      '/issues/index.xml': '/feed.rss',
      ...Object.fromEntries(systems),
    },
    notes,
  };
}

/** The keys of categories and systems are their names. */
function readLayout({ params }: Config, issues: readonly ReadIssue[], notes: ImportNote[]) {
  const categories = params?.categories ?? [];
  const systems = params?.systems ?? [];
  const titled = categories.filter(({ untitled }) => untitled !== true);
  for (const { name, description } of titled)
    if (description != null) drop(notes, `category ${quoted(name)}`, 'Pharos has no descriptions of groups');
  for (const { name, link } of systems)
    if (link != null) drop(notes, `system ${quoted(name)}`, `Pharos has no links on components; it pointed to ${link}`);
  const named = new Set(systems.map(({ name }) => name));
  const unlisted = [...new Set(issues.flatMap(({ issue }) => issue.affected ?? []))].filter((name) => !named.has(name));
  if (systems.length > 0)
    for (const name of unlisted)
      drop(
        notes,
        `system ${quoted(name)}`,
        'issues name it, but the configuration doesn’t list it; these issues are about the whole page instead',
      );
  const inOrder = [
    ...categories.flatMap(({ name }) => systems.filter(({ category }) => category === name)),
    ...systems.filter(({ category }) => !categories.some(({ name }) => name === category)),
  ];
  return layOut(
    titled.map(({ name, closed }) => ({ key: name, name, defaultOpen: closed !== true })),
    systems.length > 0
      ? inOrder.map(({ name, description, category }) => ({ key: name, name, description, group: category }))
      : unlisted.map((name) => ({ key: name, name })),
  );
}

type ReadIssue = ReturnType<typeof readIssue>[number];

/** Reads the issue in a file, and its raw front matter; empty if it is another kind of page. */
function readIssue({ path, text }: SourceFile, notes: ImportNote[]) {
  if (/(?:^|\/)_index\.\w+$/.test(path)) return [];
  const isPlaced = path.split('/').includes('issues');
  const plain = text.replace(/^\uFEFF/, '');
  const fence = FENCE.exec(plain);
  const matter = withKnownKeys(fence === null ? null : parseYaml(fence[1] ?? ''));
  const parsed = IssueSchema.safeParse(matter);
  if (!parsed.success)
    return isPlaced ? drop(notes, path, 'its front matter is not YAML between two lines of ---') : [];
  if (!isPlaced && parsed.data.section !== 'issue')
    return drop(notes, path, 'a page that is not an issue; Pharos has no such pages');
  return [{ path, issue: parsed.data, matter, body: plain.slice(fence?.[0].length ?? 0) }];
}

/** The front matter with its keys spelled as in the schema: they are case-insensitive in Hugo. */
function withKnownKeys(matter: unknown): unknown {
  if (typeof matter !== 'object' || matter === null || Array.isArray(matter)) return matter;
  const names = new Map(Object.keys(IssueSchema.shape).map((key) => [key.toLowerCase(), key]));
  return Object.fromEntries(Object.entries(matter).map(([key, value]) => [names.get(key.toLowerCase()) ?? key, value]));
}

function toPost({ path, issue, body }: ReadIssue, { ids, notes, ...context }: Importing): ImportedPost[] {
  const title = toTitle(typeof issue.title === 'object' ? '' : String(issue.title ?? ''));
  const startedAt = readInstant(issue.date, context.zone);
  if (title === null || startedAt === null)
    return drop(notes, path, title === null ? 'it has no title' : `its date ${quoted(issue.date)} is invalid`);
  const { opening, updates } = readBody(body, context.zone, (message) => change(notes, path, message));
  const isOver = issue.resolved === true || issue.informational === true;
  const end = readEnd(issue, startedAt, updates, context.zone);
  const endedAt = isOver ? end.at : null;
  if (isOver && end.change !== null) change(notes, path, end.change);
  const components = (issue.affected ?? []).flatMap((name) => ids.get(name) ?? []);
  const known = entryFor<Severity>(SEVERITIES, issue.severity);
  if (known === undefined && issue.severity != null)
    change(
      notes,
      path,
      `its severity ${quoted(issue.severity)} is not one of ${Object.keys(SEVERITIES).join(', ')}; notice is used instead`,
    );
  const draft = issue.draft === true ? true : undefined;
  const about = { title, draft, ...aboutPage(context, components) };
  const isPostmortem = endedAt !== null && statusIn(opening) === 'postmortem';
  const shared = { name: fileStem(path), opening: isPostmortem ? '' : opening, addresses: listAddresses(path, issue) };
  if (startedAt > context.now && endedAt !== null && issue.informational !== true) {
    const starts = { starts: toIso(startedAt), ends: toIso(later(startedAt, endedAt)) };
    const planned = updates.map((update) => ({ ...update, status: null }));
    return [{ ...shared, post: { type: 'maintenance', ...about, ...starts }, updates: planned }];
  }
  const { impact, state } = issue.informational === true ? SEVERITIES.notice : (known ?? SEVERITIES.notice);
  const times = { started: toIso(startedAt), ended: endedAt === null ? undefined : toIso(endedAt) };
  // Whether it is resolved comes from the front matter.
  const kept = isOver ? updates : updates.map((one) => (isOverStatus(one.status) ? { ...one, status: null } : one));
  return [
    {
      ...shared,
      post: { type: 'incident', ...about, impact, state: components.length === 0 ? 'none' : state, ...times },
      updates: isPostmortem ? [...kept, { at: endedAt, status: 'postmortem', body: opening }] : kept,
    },
  ];
}

/** The end of an issue that is over, and how it differs from what the issue says. */
function readEnd(
  { informational, resolvedWhen }: Issue,
  startedAt: EpochMs,
  updates: readonly PostUpdate[],
  zone: string,
): { readonly at: EpochMs; readonly change: string | null } {
  // Informational issues are never open.
  if (informational === true) return { at: startedAt, change: null };
  const resolvedAt = readInstant(resolvedWhen, zone);
  if (resolvedAt === null) {
    const at = updates.map((update) => update.at).reduce(later, startedAt);
    const words = resolvedWhen == null ? 'has no resolvedWhen' : `has an invalid resolvedWhen, ${quoted(resolvedWhen)}`;
    return { at, change: `is resolved but ${words}; its last update, ${toIso(at)}, is used as the end` };
  }
  const isOutside = updates.some(({ at }) => at < startedAt || at > resolvedAt);
  const outside = isOutside ? 'has updates from before its start or after its end; they keep their times' : null;
  const early = 'ended before it began; its start is used as the end';
  return { at: later(startedAt, resolvedAt), change: resolvedAt < startedAt ? early : outside };
}

/**
 * The name of an issue's file: both `content/issues/2024-api.md` and `content/issues/2024-api/index.md` give
 * `cstate-2024-api`.
 */
function fileStem(path: string): string {
  const parts = path.split('/');
  const last = parts.at(-1)?.replace(/\.\w+$/, '') ?? '';
  const below = parts.slice(parts.indexOf('issues') + 1, -1);
  const names = last === 'index' ? below : [...below, last];
  return ['cstate', ...names].join('-').toLowerCase();
}

/** The default address in Hugo, and the aliases in the front matter. */
function listAddresses(path: string, { url, slug, aliases }: Issue): string[] {
  const parts = path
    .replace(/^content\//, '')
    .replace(/(?:\/index)?\.\w+$/, '')
    .split('/');
  const own = [...parts.slice(0, -1), slug ?? parts.at(-1) ?? ''].map(urlized).join('/');
  const all = [url ?? `/${own}/`, ...(aliases ?? [])];
  return all.map((address) => (address.startsWith('/') ? address : `/issues/${address}`));
}

/** Converts a name as Hugo does for URLs. */
function urlized(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, '-')
    .replaceAll(/[^\p{L}\p{M}\p{N}._~-]/gu, '')
    .replaceAll(/-{2,}/g, '-');
}

// The body of an issue: paragraphs that end with a `track` shortcode and a time.

const TRACK = /\{\{[<%]\s*track\s+["'`]?([^"'`>%]+?)["'`]?\s*[>%]\}\}/;
/** `*Investigating* - ` */
const LEAD = /^\s*(\*{1,2})([^*\n]{1,40})\1\s*(?:[-–—:]|$|\n)/;
const WORDS: Readonly<Record<string, IncidentStatus>> = {
  ...Object.fromEntries(INCIDENT_STATUSES.map((status) => [status, status])),
  fixed: 'resolved',
  'post-mortem': 'postmortem',
  'post mortem': 'postmortem',
};

/** The status at the beginning of a text. */
function statusIn(text: string): IncidentStatus | null {
  const [, , word = ''] = LEAD.exec(text) ?? [];
  return entryFor(WORDS, word.trim().toLowerCase()) ?? null;
}

/**
 * Splits a body into updates, oldest first: each is the text before a `track`, back to the previous `track` or a
 * horizontal rule. Text without a time is the opening.
 */
function readBody(body: string, zone: string, tell: (message: string) => void) {
  const opening: string[] = [];
  const updates: PostUpdate[] = [];
  let waiting: string[] = [];
  let isCode = false;
  const flush = (): void => {
    opening.push(...waiting);
    waiting = [];
  };
  for (const line of body.split(/\r?\n/)) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const [track, time = ''] = isCode ? [] : (TRACK.exec(line) ?? []);
    if (!isCode && /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/.test(line)) {
      // A rule between updates separates them; inside a text it is part of it.
      flush();
      if (opening.some((one) => one.trim() !== '')) opening.push(line);
      continue;
    }
    if (track === undefined) {
      waiting.push(line);
      continue;
    }
    const at = readInstant(time, zone);
    if (at === null) {
      tell(`a track has no valid time (${quoted(time)}); its text became part of the opening`);
      waiting.push(line.replace(track, time));
      continue;
    }
    const text = [...waiting, line.replace(track, '')].join('\n').trim();
    updates.push({ at, status: statusIn(text), body: text });
    waiting = [];
  }
  flush();
  const words = opening
    .join('\n')
    .replace(/(?:\n\s*-{3,}\s*)+$/, '')
    .trim();
  if (/\{\{[<%]/.test(words + updates.map((one) => one.body).join('\n')))
    tell('has unknown Hugo shortcodes; they were left in the text');
  return { opening: words, updates: inOrder(updates) };
}

/** Oldest first. Updates with the same time keep their order, or are reversed if the file has the newest first, as usual. */
function inOrder(updates: readonly PostUpdate[]): PostUpdate[] {
  const [first, last] = [updates[0], updates.at(-1)];
  if (first === undefined || last === undefined) return [];
  const isNewestFirst = first.at > last.at || (first.at === last.at && isOverStatus(first.status));
  return (isNewestFirst ? updates.toReversed() : updates).toSorted((a, b) => a.at - b.at);
}

/** Parses times like Hugo: with an offset or in the site's zone. Spaces, offsets without a colon and one-digit hours are accepted. */
function readInstant(value: unknown, zone: string): EpochMs | null {
  if (typeof value !== 'string') return null;
  const text = value
    .trim()
    .replace(/^(\d{4}-\d\d-\d\d[T\s]+)(\d:)/, '$10$2')
    .replace(/\s+([+-]\d\d):?(\d\d)(?:\s+\w+)?$/, '$1:$2');
  return parseInstant(text, zone);
}
