/** Posts as files: new ones for operators who would rather be asked than type front matter, and copies of posts from elsewhere. */

import { stringify } from 'yaml';
import type { z } from 'zod';
import type { AnnouncementLevel, IncidentImpact, IncidentStatus } from '../../../model/observation.ts';
import { type EpochMs, toIso } from '../../../model/time.ts';
import { type AFFECTED_STATES, type PostSchema, type PostUpdate, UPDATE_HEADING } from './schema.ts';

/** A file to put into the folder of posts. */
export interface NewFile {
  /** `2026-11-21-api-errors.md`; the caller sees to it that there is none of that name. */
  readonly name: string;
  readonly text: string;
}

interface Subject {
  readonly title: string;
  /** At least one of these names what it is about, or it shows nowhere. */
  readonly monitors?: readonly string[];
  readonly components?: readonly string[];
  readonly pages?: readonly string[];
  /** Markdown. */
  readonly body?: string;
}

interface NewIncident extends Subject {
  readonly startedAt: EpochMs;
  /** Of an incident that begins; one that is over needs its end too. */
  readonly status?: Exclude<IncidentStatus, 'resolved' | 'postmortem'>;
  readonly impact?: IncidentImpact;
  readonly state?: (typeof AFFECTED_STATES)[number];
}

interface NewMaintenance extends Subject {
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  /** Rule of RFC 5545, such as `FREQ=WEEKLY;BYDAY=SU`. */
  readonly repeat?: string;
  readonly timezone?: string;
}

interface NewAnnouncement {
  readonly title: string;
  readonly from: EpochMs;
  readonly to?: EpochMs;
  readonly level?: AnnouncementLevel;
  readonly pages?: readonly string[];
  readonly body?: string;
}

/** A file for an incident that begins. */
export function newIncidentFile(fields: NewIncident): NewFile {
  const { title, status, impact, state, startedAt } = fields;
  const matter = {
    type: 'incident',
    title,
    status,
    impact,
    state,
    started: toIso(startedAt),
    ...subjectFields(fields),
  };
  return fileOf(matter, startedAt, fields.body);
}

/** A file for a maintenance window, once or repeated. */
export function newMaintenanceFile(fields: NewMaintenance): NewFile {
  const { title, startsAt, endsAt, repeat, timezone } = fields;
  const times = { starts: toIso(startsAt), ends: toIso(endsAt), repeat, timezone };
  return fileOf({ type: 'maintenance', title, ...times, ...subjectFields(fields) }, startsAt, fields.body);
}

/** A file for an announcement. */
export function newAnnouncementFile(fields: NewAnnouncement): NewFile {
  const { title, level, from, to, pages } = fields;
  const times = { from: toIso(from), to: to === undefined ? undefined : toIso(to) };
  return fileOf({ type: 'announcement', title, level, ...times, pages }, from, fields.body);
}

function subjectFields({ monitors, components, pages }: Subject): Record<string, readonly string[]> {
  return {
    ...(monitors === undefined || monitors.length === 0 ? {} : { monitors }),
    ...(components === undefined || components.length === 0 ? {} : { components }),
    ...(pages === undefined || pages.length === 0 ? {} : { pages }),
  };
}

function fileOf(matter: Readonly<Record<string, unknown>> & { title: string }, at: EpochMs, body = ''): NewFile {
  const given = Object.fromEntries(Object.entries(matter).filter(([, value]) => value !== undefined));
  const words = matter.title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '');
  return {
    name: `${toIso(at).slice(0, 10)}-${words === '' ? matter['type'] : words}.md`,
    text: `---\n${stringify(given, { lineWidth: 0 })}---\n${body === '' ? '' : `\n${body.trim()}\n`}`,
  };
}

/** What a file says. */
export interface WrittenFile {
  /** Its front matter; what is left out has its default. */
  readonly post: z.input<typeof PostSchema>;
  /** Markdown before the first update. */
  readonly opening: string;
  readonly updates: readonly PostUpdate[];
}

/** The file of a post; its name is the post's id. */
export function writtenFile(id: string, { post, opening, updates }: WrittenFile): NewFile {
  const parts = [
    escaped(opening),
    ...updates.flatMap(({ at, status, body, bodies = {} }) => [
      `## ${toIso(at)}${status === null ? '' : ` ${status}`}\n\n${escaped(body)}`,
      ...Object.entries(bodies).map(([tag, text]) => `## ${toIso(at)} {lang=${tag}}\n\n${escaped(text)}`),
    ]),
  ].map((part) => part.trim());
  const text = parts.filter((part) => part !== '').join('\n\n');
  return {
    name: `${id}.md`,
    text: `---\n${stringify(post, { lineWidth: 0 })}---\n${text === '' ? '' : `\n${text}\n`}`,
  };
}

/** A line of text that looks like the heading of an update is not to become one. */
function escaped(body: string): string {
  return body
    .split(/\r?\n/)
    .map((line) => (UPDATE_HEADING.test(line) ? `\\${line}` : line))
    .join('\n');
}
