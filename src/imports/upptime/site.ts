/**
 * Imports Upptime: a repository with sites in its configuration and incidents in its GitHub issues. A clone doesn't
 * contain issues, so they are read from GitHub's API or from a file.
 */

import { parse } from 'yaml';
import { z } from 'zod';
import { HOST_NAME, safeLink } from '../../model/scalars.ts';
import { toSlug } from '../../model/slugs.ts';
import { type EpochMs, later, MINUTE_MS, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import type { PostUpdate } from '../../sync/connectors/markdown/schema.ts';
import { InstantSchema, NameSchema, parseInstant, TextSchema } from '../../sync/connectors/wire.ts';
import { type CheckDraft, type CheckList, createCheckList, statusAssertions } from '../checks.ts';
import {
  type Ask,
  aboutPage,
  change,
  createIds,
  drop,
  type ImportContext,
  type ImportedPost,
  type ImportedSite,
  type Importing,
  type ImportNote,
  quoted,
  readItem,
  type SourceFile,
  toTitle,
  unreadKeys,
} from '../site.ts';
import unread from '../unread-keys.json' with { type: 'json' };

const WordSchema = z.string().nullish().catch(null);

const ConfigSchema = z.object({
  owner: WordSchema,
  repo: WordSchema,
  sites: z.array(z.looseObject({ name: z.string().min(1), slug: WordSchema })).nullish(),
  workflowSchedule: z.unknown().optional(),
  'status-website': z
    .object({
      name: WordSchema,
      introMessage: WordSchema,
      baseUrl: WordSchema,
      apiBaseUrl: WordSchema,
      cname: WordSchema,
      robotsText: WordSchema,
      favicon: WordSchema,
    })
    .nullish()
    .catch(null),
});
type UpptimeConfig = z.output<typeof ConfigSchema>;

const SummarySchema = z.array(
  z.object({
    name: z.string(),
    slug: z.string(),
    dailyMinutesDown: z.record(z.string(), z.number()).nullish().catch(null),
  }),
);

/** The configuration of a repository; null if it is missing or can't be read. */
export function upptimeConfig(files: readonly SourceFile[], notes: ImportNote[] = [], makesChecks = false) {
  const file = files.find(({ path }) => /^\.upptimerc\.ya?ml$/.test(path));
  if (file === undefined) return null;
  try {
    const document: unknown = parse(file.text);
    // Checks that are taken over aren't reported either.
    const reasons = makesChecks
      ? { ...unread.upptime, '': [...unread.upptime[''], ...Object.values(unread.upptimeChecks).flat()] }
      : { ...unread.upptime, ...unread.upptimeChecks };
    notes.push(...unreadKeys(file.path, document, ConfigSchema, reasons));
    return ConfigSchema.safeParse(document).data ?? null;
  } catch {
    return null;
  }
}

/** Settings of the page from the website's configuration. A page that wasn't indexed stays that way. */
function pageSettings(website: UpptimeConfig['status-website']): Record<string, string | boolean> {
  const { cname, robotsText, favicon } = website ?? {};
  return {
    ...(cname != null && HOST_NAME.test(cname) ? { custom_domain: cname } : {}),
    ...(/^\s*disallow:\s*\/\s*$/im.test(robotsText ?? '') ? { allow_index: false } : {}),
    ...(favicon != null && safeLink(favicon)?.startsWith('http') === true ? { icon: favicon } : {}),
  };
}

/** Imports the site of a repository. Never throws. */
export function upptimeSite(
  files: readonly SourceFile[],
  { issues, notes: told }: UpptimeIssues,
  context: ImportContext,
): ImportedSite {
  const notes: ImportNote[] = [...told];
  const config = upptimeConfig(files, notes, context.makesChecks);
  const checks = context.makesChecks === true ? createCheckList(notes) : null;
  const website = config?.['status-website'];
  const sites = listSites(files, config, checks, notes);
  const ids = new Map(sites.map(({ slug, id }) => [slug, id]));
  const inOrder = issues.toSorted((a, b) => a.number - b.number);
  const posts = inOrder.flatMap((issue) => toPost(issue, { ...context, ids, notes }));
  const unlabelled = issues.filter((issue) => !isIncident(issue) && !isMaintenance(issue));
  const others = unlabelled.map(({ number }) => `#${number}`);
  if (others.length > 0)
    drop(
      notes,
      `issues ${others.slice(0, 20).join(', ')}${others.length > 20 ? ` and ${others.length - 20} more` : ''}`,
      'they have neither the label status nor maintenance, so they aren’t incidents',
    );
  tellFigures(files, notes);
  return {
    title: website?.name ?? null,
    description: toTitle(website?.introMessage ?? ''),
    settings: pageSettings(website),
    groups: [],
    components: sites.map(({ slug: _, ...component }) => component),
    upstream: checks?.upstream() ?? null,
    posts,
    redirects: Object.fromEntries([...ids].map(([slug, id]) => [`/history/${slug}/`, `/components/${id}/`])),
    notes,
  };
}

/** The sites as components, with their slugs in Upptime. */
function listSites(
  files: readonly SourceFile[],
  config: UpptimeConfig | null,
  checks: CheckList | null,
  notes: ImportNote[],
) {
  if (config === null) drop(notes, '.upptimerc.yml', 'it is unreadable, so components come from history/summary.json');
  const summary = readSummary(files);
  const names = config?.sites ?? summary.map(({ name, slug }) => ({ name, slug }));
  const { uptime: schedule } = (config?.workflowSchedule ?? {}) as { readonly uptime?: unknown };
  const ids = createIds('component');
  return names.map(({ name, slug: given, ...site }) => {
    const slug = given ?? summary.find((one) => one.name === name)?.slug ?? toUpptimeSlug(name);
    const draft = config === null ? 'only .upptimerc.yml says how it is checked' : upptimeCheck(site, schedule);
    const monitor = checks?.add(`site ${quoted(name)}`, name, draft) ?? null;
    return { slug, id: ids(slug, name), name, monitor };
  });
}

/** Upptime splits words before making a slug: `GitHub` becomes `git-hub`, and `APIs` becomes `apis`. */
function toUpptimeSlug(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-rt-z\d])/g, '$1 $2')
    .replaceAll(/([A-Z]{2})(\d)/g, '$1 $2');
  return toSlug(words);
}

function readSummary(files: readonly SourceFile[]): z.output<typeof SummarySchema> {
  const text = files.find(({ path }) => path === 'history/summary.json')?.text ?? '[]';
  try {
    return SummarySchema.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    return [];
  }
}

function tellFigures(files: readonly SourceFile[], notes: ImportNote[]): void {
  const days = readSummary(files).flatMap(({ dailyMinutesDown }) => Object.keys(dailyMinutesDown ?? {})).length;
  if (days > 0)
    drop(notes, 'history/summary.json', `${days} days with minutes of downtime; in Pharos, incidents colour the days`);
  drop(notes, 'response times', 'they start over with the upstream that monitors the sites from now on');
}

function isIncident({ labels }: Issue): boolean {
  return labels.includes('status');
}

function isMaintenance({ labels }: Issue): boolean {
  return labels.includes('maintenance');
}

function toPost(issue: Issue, { ids, notes, ...context }: Importing): ImportedPost[] {
  const place = `issue #${issue.number}`;
  const shared = { name: `upptime-${issue.number}`, addresses: [`/incident/${issue.number}/`] };
  const about = (slugs: readonly string[]) => aboutPage(context, new Set(slugs.flatMap((slug) => ids.get(slug) ?? [])));
  const title = toTitle(issue.title) ?? `#${issue.number}`;
  if (isMaintenance(issue)) {
    const plan = readPlan(issue);
    if (plan === null)
      return drop(
        notes,
        place,
        'maintenance without start and end in a comment <!-- start: … end: … -->, or with an end before its start',
      );
    for (const slug of plan.slugs.filter((one) => !ids.has(one)))
      drop(notes, place, `it is about the site ${quoted(slug)}, which is not in the configuration`);
    const window = { starts: toIso(plan.from), ends: toIso(plan.to) };
    return [
      {
        ...shared,
        post: { type: 'maintenance', title, ...window, ...about([...plan.slugs, ...issue.labels]) },
        opening: issue.body.replace(PLAN, '').trim(),
        updates: issue.comments.map(({ at, body }) => ({ at, status: null, body })),
      },
    ];
  }
  if (!isIncident(issue)) return [];
  const isAboutSites = issue.labels.some((label) => ids.has(label));
  if (!isAboutSites)
    change(notes, place, 'none of its labels is a site in the configuration; it is about the whole page');
  const endedAt = issue.closedAt === null ? null : later(issue.openedAt, issue.closedAt);
  const state = /\bis down\b/.test(title) ? 'major_outage' : /\bdegraded\b/.test(title) ? 'degraded' : 'none';
  return [
    {
      ...shared,
      post: {
        type: 'incident',
        title,
        impact: state === 'major_outage' ? 'major' : 'minor',
        state: isAboutSites ? state : 'none',
        started: toIso(issue.openedAt),
        ended: endedAt === null ? undefined : toIso(endedAt),
        ...about(issue.labels),
      },
      opening: issue.body.trim(),
      updates: issue.comments.map(
        ({ at, body }): PostUpdate => ({
          at,
          status: endedAt !== null && /^\*\*Resolved:\*\*/.test(body) ? 'resolved' : null,
          body: body.trim(),
        }),
      ),
    },
  ];
}

const PLAN = /<!--([\s\S]*?)-->/;

/** Reads the comment in a maintenance issue; null if it says no window. */
function readPlan({ body }: Issue) {
  const [, inside = ''] = PLAN.exec(body) ?? [];
  const fields = new Map(
    inside.split(/\r?\n/).flatMap((line) => {
      const [, key, value] = /^\s*(\w+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value] as const];
    }),
  );
  const [from, to] = ['start', 'end'].map((key) => parseInstant(fields.get(key) ?? '', 'UTC'));
  if (from == null || to == null || to <= from) return null;
  const slugs = ['expectedDown', 'expectedDegraded'].flatMap((key) => (fields.get(key) ?? '').split(','));
  return { from, to, slugs: [...new Set(slugs.map((slug) => slug.trim()).filter(Boolean))] };
}

// Converts sites to checks.

const SiteSchema = z.object({
  url: z.string(),
  method: z.string().nullish(),
  headers: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  check: z.string().nullish(),
  port: z.coerce.number().nullish(),
  expectedStatusCodes: z.array(z.coerce.number().int()).nullish(),
  maxResponseTime: z.coerce.number().nullish(),
  maxRedirects: z.coerce.number().nullish(),
  ipv6: z.boolean().nullish(),
  __dangerous__body_down: z.string().nullish(),
  __dangerous__body_down_if_text_missing: z.string().nullish(),
});
/** Keys that don't affect how a site is checked. */
const OTHER = new Set(['name', 'slug', 'icon', 'assignees', 'tags', 'verbose', 'type']);
/** The default schedule of the workflow. */
const USUAL_MS = 5 * MINUTE_MS;

/** @param schedule  cron expression of the checking workflow */
function upptimeCheck(site: object, schedule: unknown): CheckDraft | string {
  const parsed = check(SiteSchema, site);
  if (!parsed.success) return faultText(parsed.faults[0]);
  const { url, method, headers, body, port, check: kind, ...rest } = parsed.data;
  const lost = Object.keys(site).filter((key) => !OTHER.has(key) && !Object.hasOwn(SiteSchema.shape, key));
  const minutes = Number(/^\*\/(\d{1,2}) /.exec(typeof schedule === 'string' ? schedule : '')?.[1] ?? 0);
  const shared = {
    everyMs: minutes > 0 ? minutes * MINUTE_MS : USUAL_MS,
    fields: { ip_version: rest.ipv6 === true ? 6 : null, degraded_at: rest.maxResponseTime },
  };
  if (kind === 'tcp-ping') {
    const uri = `${url.replace(/^\w+:\/\//, '').replace(/[/:].*$/, '')}:${port ?? 80}`;
    return { ...shared, lost, fields: { type: 'tcp', ...shared.fields, uri } };
  }
  if (kind != null && kind !== 'http') return `Pharos has no check ${kind}`;
  const statuses = statusAssertions((rest.expectedStatusCodes ?? []).map((status) => [status, status]));
  if (rest.expectedStatusCodes != null && statuses === null) lost.push('expectedStatusCodes');
  if ((rest.maxRedirects ?? 0) > 0) lost.push('maxRedirects');
  const texts = [
    ['not_contains', rest.__dangerous__body_down],
    ['contains', rest.__dangerous__body_down_if_text_missing],
  ] as const;
  return {
    everyMs: shared.everyMs,
    lost,
    fields: {
      ...{ type: 'http', ...shared.fields, url: toReferences(url), method: method?.toUpperCase() },
      body: body == null ? null : toReferences(body),
      headers: (headers ?? []).map((line) => {
        const [, key = '', value = ''] = /^([^:]*):\s*(.*)$/s.exec(line) ?? [];
        return { key: key.trim(), value: toReferences(value.trim()) };
      }),
      follow_redirects: rest.maxRedirects === 0 ? false : null,
      status_code_assertions: statuses,
      body_assertions: texts.flatMap(([comparator, target]) => (target == null ? [] : [{ comparator, target }])),
    },
  };
}

/** Replaces `$NAME`, a secret of the repository, with `${NAME}`. */
function toReferences(text: string): string {
  return text.replaceAll(/\$([A-Z][A-Z0-9_]*)/g, '${$1}');
}

// GitHub issues with comments, from the API or from the output of its command line.

const SharedFields = {
  number: z.int(),
  title: NameSchema,
  body: TextSchema,
  labels: z.array(z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])),
};
const WhenSchema = InstantSchema.nullish().catch(null);

/** An issue in GitHub's API. */
const RestIssueSchema = z.object({
  ...SharedFields,
  created_at: InstantSchema,
  closed_at: WhenSchema,
  pull_request: z.unknown().optional(),
});
const RestCommentSchema = z.object({ issue_url: z.string(), body: TextSchema, created_at: InstantSchema });

/** An issue with its comments, as written by `gh issue list --json`. */
const GhIssueSchema = z.object({
  ...SharedFields,
  createdAt: InstantSchema,
  closedAt: WhenSchema,
  comments: z.array(z.object({ body: TextSchema, createdAt: InstantSchema })),
});

export type Issue = ReturnType<typeof toIssue>;

interface UpptimeIssues {
  readonly issues: readonly Issue[];
  readonly notes: readonly ImportNote[];
}

/** Reads lists of issues and comments from GitHub's API. */
export function issuesFromApi(items: readonly unknown[], comments: readonly unknown[]): UpptimeIssues {
  const notes: ImportNote[] = [];
  const read = readAll(RestCommentSchema, comments, 'comment', notes);
  const byIssue = Map.groupBy(read, ({ issue_url: url }) => Number(/\/issues\/(\d+)$/.exec(url)?.[1] ?? 0));
  const issues = readAll(RestIssueSchema, items, 'issue', notes)
    .filter((one) => one.pull_request == null)
    .map((issue) => {
      const texts = (byIssue.get(issue.number) ?? []).map((one) => ({ at: one.created_at, body: one.body ?? '' }));
      return toIssue(issue, issue.created_at, issue.closed_at, texts);
    });
  return { issues, notes };
}

/** Reads a file of issues from GitHub's command line. */
export function issuesFromFile(value: unknown): UpptimeIssues {
  const notes: ImportNote[] = [];
  if (!Array.isArray(value)) return { issues: drop(notes, 'issues', 'the file is not a list of issues'), notes };
  const issues = readAll(GhIssueSchema, value, 'issue', notes).map((issue) => {
    const texts = issue.comments.map((one) => ({ at: one.createdAt, body: one.body ?? '' }));
    return toIssue(issue, issue.createdAt, issue.closedAt, texts);
  });
  return { issues, notes };
}

function toIssue(
  { number, title, body, labels }: z.output<z.ZodObject<typeof SharedFields>>,
  openedAt: EpochMs,
  closedAt: EpochMs | null | undefined,
  comments: readonly { readonly at: EpochMs; readonly body: string }[],
) {
  return {
    ...{ number, title, body: body ?? '', labels, openedAt, closedAt: closedAt ?? null },
    /** Oldest first. */
    comments: comments.toSorted((a, b) => a.at - b.at),
  };
}

function readAll<T>(schema: z.ZodType<T>, items: readonly unknown[], what: string, notes: ImportNote[]): T[] {
  return items.flatMap((item, index) => {
    const { number } = (item ?? {}) as { number?: unknown };
    const name = typeof number === 'number' ? number : `number ${index + 1} in the list`;
    return readItem(schema, item, `${what} ${name}`, notes) ?? [];
  });
}

// Downloads the issues and comments of a repository: two lists, a hundred items per request.

const PAGE_SIZE = 100;
/** 100,000 issues. */
const PAGES_MAX = 1_000;

/** Requests all issues with comments. Without a key, GitHub allows 60 requests an hour. @throws a StatusError */
export async function readIssues(ask: Ask, { owner, repo }: { readonly owner: string; readonly repo: string }) {
  const base = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}/issues`;
  const issues = await readPages(ask, `${base}?state=all&direction=asc&`);
  const comments = issues.length === 0 ? [] : await readPages(ask, `${base}/comments?`);
  return issuesFromApi(issues, comments);
}

async function readPages(ask: Ask, path: string): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const answer = await ask(`${path}per_page=${PAGE_SIZE}&page=${page}`);
    const list = Array.isArray(answer) ? answer : [];
    items.push(...list);
    if (list.length < PAGE_SIZE) break;
  }
  return items;
}
