/** One file as a post: front matter checked, body cut into its opening text and its updates. */

import { parseDocument } from 'yaml';
import { INCIDENT_STATUSES, type IncidentStatus } from '../../../model/observation.ts';
import { MAINTENANCE_STATUSES, type MaintenanceStatus } from '../../../model/page.ts';
import type { EpochMs } from '../../../model/time.ts';
import { checkOwn } from '../../../schema/issue-words.ts';
import { parseInstant } from '../wire.ts';
import { type Post, type PostFile, PostSchema } from './schema.ts';

/** Front matter is some ten lines; aliases that unfold beyond this are an attack or an accident. */
const ALIASES_MAX = 20;

export interface PostUpdate {
  readonly at: EpochMs;
  readonly status: IncidentStatus | MaintenanceStatus | null;
  readonly body: string;
  /** False: nobody is to be told of it. */
  readonly notify?: boolean | undefined;
}

export interface ReadPost {
  /** File name without its ending; part of the post's id. */
  readonly name: string;
  readonly post: Post;
  /** The text before the first update. */
  readonly opening: string;
  /** In the order of the file. */
  readonly updates: readonly PostUpdate[];
}

/** What is wrong with a file: the field (empty: the file itself) and what was expected. */
export interface PostFault {
  readonly field: string;
  readonly message: string;
  /** What the file says it is, where that can be read. */
  readonly type: string | null;
}

const FENCE = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
/** What an update may say of its parent. */
export const STATUSES = { incident: INCIDENT_STATUSES, maintenance: MAINTENANCE_STATUSES } as const;
/** `## 2026-11-21T08:10:00Z identified` */
export const UPDATE_HEADING = /^##[ \t]+(\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*)(?:[ \t]+([a-z]+))?[ \t]*$/;

/** The post in a file, or every fault in it. */
export function readPost(file: PostFile, zone: string): ReadPost | readonly PostFault[] {
  if (file.fault !== undefined) return [{ field: '', message: file.fault, type: null }];
  const text = file.text.replace(/^\uFEFF/, '');
  const fence = FENCE.exec(text);
  if (fence === null)
    return [{ field: '', message: 'doesn’t start with front matter between two lines of ---', type: null }];
  const matter = parseMatter(fence[1] ?? '');
  if ('fault' in matter) return [{ field: '', message: matter.fault, type: null }];
  const parsed = checkOwn(PostSchema, matter.value);
  const type = typeOf(matter.value);
  if (!parsed.success) return parsed.faults.map(({ path, message }) => ({ field: path, message, type }));
  const body = readBody(text.slice(fence[0].length), parsed.data, zone);
  return 'fault' in body
    ? [{ field: 'body', message: body.fault, type }]
    : { name: stemOf(file.name), post: parsed.data, ...body };
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

function typeOf(value: unknown): string | null {
  const type = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : null;
  return typeof type === 'string' ? type : null;
}

function readBody(
  text: string,
  post: Post,
  zone: string,
): { opening: string; updates: PostUpdate[] } | { fault: string } {
  if (post.type !== 'incident' && post.type !== 'maintenance') return { opening: text.trim(), updates: [] };
  const statuses = STATUSES[post.type];
  const opening: string[] = [];
  const updates: { at: EpochMs; status: PostUpdate['status']; lines: string[] }[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, time, word] = UPDATE_HEADING.exec(line) ?? [];
    if (time === undefined) {
      (updates.at(-1)?.lines ?? opening).push(line);
      continue;
    }
    const at = parseInstant(time, zone);
    const status = statuses.find((known) => known === word) ?? null;
    if (at === null) return { fault: `"## ${time}" is not a time` };
    if (word !== undefined && status === null) return { fault: `"${word}" is not one of ${statuses.join(', ')}` };
    updates.push({ at, status, lines: [] });
  }
  return {
    opening: opening.join('\n').trim(),
    updates: updates.map(({ at, status, lines }) => ({ at, status, body: lines.join('\n').trim() })),
  };
}

/** `2026-11-21-api.md` without its ending. */
function stemOf(name: string): string {
  return name.replace(/\.(md|markdown)$/i, '');
}
