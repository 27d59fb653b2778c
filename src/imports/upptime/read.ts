/** Asks GitHub for the issues of a repository and what was said of them: two lists, a hundred at a time. */

import type { Ask } from '../source.ts';
import { issuesFromApi, type UpptimeIssues } from './issues.ts';

const PAGE_SIZE = 100;
/** A hundred thousand issues. */
const PAGES_MAX = 1_000;

/** All issues, with their comments. @throws a StatusError; without a key GitHub takes 60 questions an hour */
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
