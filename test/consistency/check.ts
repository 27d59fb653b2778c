/** One publish under examination: what it must say, what is served, and every difference that was found. */

import type { Expected } from './expected.ts';
import type { ExpectedPlan } from './expected-plans.ts';
import type { ExpectedStory } from './story.ts';

export interface Check {
  readonly expected: Expected;
  /** The same as of the page's last heartbeat: what only grows older may be counted to then. */
  readonly atHeartbeat: Expected;
  readonly files: ReadonlyMap<string, string>;
  readonly differences: string[];
  /** Addresses that surfaces give to stories, by key: one for each. */
  readonly addresses: Map<string, string>;
  /** The same of the ids that documents give them. */
  readonly ids: Map<string, string>;
}

export function fileOf({ files }: Check, path: string): string {
  const text = files.get(path);
  if (text === undefined) throw new Error(`${path} is not served`);
  return text;
}

export function jsonOf<Shape>(check: Check, path: string): Shape {
  return JSON.parse(fileOf(check, path)) as Shape;
}

/** Notes a difference where two values are not the same text. */
export function same({ differences }: Check, what: string, read: unknown, expected: unknown): void {
  const [a, b] = [shown(read), shown(expected)];
  if (a !== b) differences.push(`${what}: ${a} instead of ${b}`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}

export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** An incident as a surface tells it; what it says nothing of is absent. */
export interface ReadStory {
  /** `incidents/x/`, below the page. */
  readonly address: string;
  readonly id?: string;
  readonly title: string;
  readonly from: number;
  readonly to?: number | null;
  readonly status?: string;
  readonly impact?: string | null;
  readonly isAutomatic?: boolean;
  readonly componentIds?: readonly string[];
  readonly names?: string;
  /** Newest first. */
  readonly updates?: readonly { readonly at: number; readonly status: string }[];
}

export interface ComparedBy {
  readonly where: string;
  /** Whether it has the newest updates only, or all of them. */
  readonly updates?: 'newest' | 'all';
  readonly statusOf?: (status: string) => string;
  readonly namesOf?: (ids: readonly string[]) => string;
}

/** Notes what a surface leaves out, adds, or tells otherwise. */
export function compareStories(
  check: Check,
  read: readonly ReadStory[],
  expected: readonly ExpectedStory[],
  by: ComparedBy,
): void {
  const told = read.map(({ title, from }) => `${title} ${iso(from)}`);
  const wanted = expected.map(({ title, startedAt }) => `${title} ${iso(startedAt)}`);
  same(check, `${by.where}: incidents`, told.toSorted(), wanted.toSorted());
  for (const story of expected) {
    const one = read.find(({ title, from }) => title === story.title && from === story.startedAt);
    if (one !== undefined) compareStory(check, one, story, by);
  }
}

export function compareStory(
  check: Check,
  read: ReadStory,
  story: ExpectedStory,
  { where, updates = 'all', statusOf = (word) => word, namesOf }: ComparedBy,
): void {
  const place = `${where}: ${story.title}`;
  if (read.to !== undefined) same(check, `${place}: end`, iso(read.to), iso(story.endedAt));
  if (read.status !== undefined) same(check, `${place}: status`, read.status, statusOf(story.status));
  if (read.impact !== undefined) same(check, `${place}: impact`, read.impact, story.impact);
  if (read.isAutomatic !== undefined)
    same(check, `${place}: detected automatically`, read.isAutomatic, story.isAutomatic);
  if (read.componentIds !== undefined) same(check, `${place}: components`, read.componentIds, story.componentIds);
  if (read.names !== undefined && namesOf !== undefined)
    same(check, `${place}: names`, read.names, namesOf(story.componentIds));
  if (read.updates !== undefined) {
    const newestFirst = story.updates.toReversed().map(({ at, status }) => `${iso(at)} ${statusOf(status)}`);
    const seen = read.updates.map(({ at, status }) => `${iso(at)} ${status}`);
    same(check, `${place}: updates`, seen, updates === 'all' ? newestFirst : newestFirst.slice(0, seen.length || 1));
  }
  compareNames(check, place, { key: story.key, ...read });
}

/** Whatever names a story names it by one id, links to one address, and something is there. */
export function compareNames(
  check: Check,
  where: string,
  { key, address, id }: { readonly key: string; readonly address: string; readonly id?: string },
): void {
  same(check, `${where}: address`, address, check.addresses.getOrInsert(key, address));
  if (id !== undefined) same(check, `${where}: id`, id, check.ids.getOrInsert(key, id));
  if (!check.files.has(`${address}index.html`)) check.differences.push(`${where}: nothing is served at ${address}`);
}

export function addressIn(check: Check, url: string): string {
  return url.replace(`https://status.example/${check.expected.world.slug}/`, '').replace(/^(?:\.\.\/)+/, '');
}

export interface ReadPlan {
  readonly address: string;
  readonly id?: string;
  readonly title: string;
  readonly from: number;
  readonly to?: number;
  readonly status?: string;
  readonly componentIds?: readonly string[];
  /** Newest first. */
  readonly updates?: readonly { readonly at: number; readonly status: string }[];
}

export function comparePlans(
  check: Check,
  read: readonly ReadPlan[],
  expected: readonly ExpectedPlan[],
  by: ComparedBy,
): void {
  const told = read.map(({ title, from }) => `${title} ${iso(from)}`);
  const wanted = expected.map(({ title, startsAt }) => `${title} ${iso(startsAt)}`);
  same(check, `${by.where}: maintenance`, told.toSorted(), wanted.toSorted());
  for (const plan of expected) {
    const one = read.find(({ title }) => title === plan.title);
    if (one !== undefined) comparePlan(check, one, plan, by);
  }
}

export function comparePlan(
  check: Check,
  read: ReadPlan,
  plan: ExpectedPlan,
  { where, updates = 'all', statusOf = (word) => word }: ComparedBy,
): void {
  const place = `${where}: ${plan.title}`;
  if (read.to !== undefined) same(check, `${place}: end`, iso(read.to), iso(plan.endsAt));
  if (read.status !== undefined) same(check, `${place}: status`, read.status, statusOf(plan.status));
  if (read.componentIds !== undefined) same(check, `${place}: components`, read.componentIds, plan.componentIds);
  if (read.updates !== undefined) {
    const newestFirst = plan.updates.toReversed().map(({ at, status }) => `${iso(at)} ${statusOf(status)}`);
    const seen = read.updates.map(({ at, status }) => `${iso(at)} ${status}`);
    same(check, `${place}: updates`, seen, updates === 'all' ? newestFirst : newestFirst.slice(0, seen.length || 1));
  }
  compareNames(check, place, { key: plan.key, ...read });
}
