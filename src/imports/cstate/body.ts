/** The body of an issue of cState: paragraphs that end in a `track` with their time. */

import { INCIDENT_STATUSES, type IncidentStatus, isOverStatus } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import type { PostUpdate } from '../../sync/connectors/markdown/schema.ts';
import { parseInstant } from '../../sync/connectors/wire.ts';
import { quoted } from '../names.ts';

const TRACK = /\{\{[<%]\s*track\s+["'`]?([^"'`>%]+?)["'`]?\s*[>%]\}\}/;
/** `*Investigating* - ` */
const LEAD = /^\s*(\*{1,2})([^*\n]{1,40})\1\s*(?:[-–—:]|$|\n)/;
const WORDS: Readonly<Record<string, IncidentStatus>> = {
  ...Object.fromEntries(INCIDENT_STATUSES.map((status) => [status, status])),
  fixed: 'resolved',
  'post-mortem': 'postmortem',
  'post mortem': 'postmortem',
};

/** The status that a text begins with. */
export function statusIn(text: string): IncidentStatus | null {
  const [, , word = ''] = LEAD.exec(text) ?? [];
  const key = word.trim().toLowerCase();
  return Object.hasOwn(WORDS, key) ? (WORDS[key] ?? null) : null;
}

/**
 * A body as updates, oldest first: what stands before a `track`, as far as the one before it or a line. What has no time is
 * the opening.
 */
export function readBody(
  body: string,
  zone: string,
  tell: (message: string) => void,
): { readonly opening: string; readonly updates: PostUpdate[] } {
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
      // A line between updates says nothing; one inside of a text does.
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

/** Oldest first; of one time as they stand, or the other way round where the newest stands first, as is usual there. */
function inOrder(updates: readonly PostUpdate[]): PostUpdate[] {
  const [first, last] = [updates[0], updates.at(-1)];
  const isNewestFirst =
    first !== undefined &&
    last !== undefined &&
    (first.at > last.at || (first.at === last.at && isOverStatus(first.status)));
  return (isNewestFirst ? updates.toReversed() : updates).toSorted((a, b) => a.at - b.at);
}

/** As Hugo reads times: with an offset or in the zone of the site, also apart from the time, without its colon, and with hours of one digit. */
export function readInstant(value: unknown, zone: string): EpochMs | null {
  if (typeof value !== 'string') return null;
  const text = value
    .trim()
    .replace(/^(\d{4}-\d\d-\d\d[T\s]+)(\d:)/, '$10$2')
    .replace(/\s+([+-]\d\d):?(\d\d)(?:\s+\w+)?$/, '$1:$2');
  return parseInstant(text, zone);
}
