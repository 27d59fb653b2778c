/** Reads GitHub issues with comments, from the API or from the output of its command line. */

import { z } from 'zod';
import type { EpochMs } from '../../model/time.ts';
import { InstantSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';
import { type Ask, drop, type ImportNote, readItem } from '../site.ts';

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

export interface UpptimeIssues {
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
export async function readIssues(
  ask: Ask,
  { owner, repo }: { readonly owner: string; readonly repo: string },
): Promise<UpptimeIssues> {
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
