/** Writes valid files for the markdown upstream: incidents, maintenance windows, announcements. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { now } from '../../app/clock.ts';
import {
  ANNOUNCEMENT_LEVELS,
  type AnnouncementLevel,
  INCIDENT_IMPACTS,
  INCIDENT_STATUSES,
  type IncidentImpact,
} from '../../model/observation.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs, toIso } from '../../model/time.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { type PlacedComponent, readPlaced, readWritten } from '../../store/written.ts';
import { type NewFile, newPostFile, parseWritten, writtenFile } from '../../sync/connectors/markdown/written.ts';
import { loadConfig, type Options, openToRead, print, requireConfig } from '../common.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { oneOf } from './command-options.ts';
import { appendUpdate, checkPost, choosePlace, declareIncident, type PostOptions, sendUpdate } from './incident.ts';

/** A resolved incident needs an end, which its author adds with the last update. */
const OPEN_STATUSES = ['investigating', 'identified', 'monitoring'] as const;

/** `pharos incident new TITLE`: through the server, in the store, or as a file. */
export async function incidentNew(title: string, options: PostOptions): Promise<number> {
  const place = choosePlace(options, loadConfig(options.config));
  if (place.kind === 'api') return declareIncident(place, title, options);
  if (options.draft === true || options.component?.some((component) => component.includes('=')) === true)
    throw new UsageError('--draft and component states don’t work with --folder. Edit the file, or omit --folder.');
  const status = oneOf('--status', options.status ?? 'investigating', OPEN_STATUSES);
  const impact = oneOf<IncidentImpact>('--impact', options.impact ?? 'major', INCIDENT_IMPACTS);
  const startedAt = options.started === undefined ? now() : instant('--started', options.started);
  const post = { type: 'incident', title, status, impact, started: toIso(startedAt) } as const;
  return write(options, newPostFile({ ...post, ...postSubject(options) }, options.body));
}

/** `pharos incident update ID`. */
export async function incidentUpdate(id: string, options: PostOptions): Promise<number> {
  const { folder } = options;
  if (folder === undefined) return sendUpdate(id, options, loadConfig(options.config));
  if (options.status !== undefined) oneOf('--status', options.status, INCIDENT_STATUSES);
  if (options.component !== undefined)
    throw new UsageError('Component states don’t work with --folder. Edit the file.');
  return appendUpdate(resolve(folder), id, options);
}

/** `pharos incident resolve ID`. */
export async function incidentResolve(id: string, options: PostOptions): Promise<number> {
  return incidentUpdate(id, { ...options, status: 'resolved' });
}

/** `pharos maintenance new TITLE --starts … --ends …`: a file for a window, which may repeat. */
export async function maintenanceNew(
  title: string,
  options: PostOptions & { starts: string; ends?: string; for?: string; repeat?: string; timezone?: string },
): Promise<number> {
  const startsAt = instant('--starts', options.starts);
  const endsAt =
    options.ends === undefined ? toEpochMs(startsAt + duration('--for', options.for)) : instant('--ends', options.ends);
  if (endsAt <= startsAt) throw new UsageError(`--ends must be after --starts; got "${options.ends}".`);
  const { repeat, timezone, body } = options;
  const post = { type: 'maintenance', title, starts: toIso(startsAt), ends: toIso(endsAt), repeat, timezone } as const;
  return write(options, newPostFile({ ...post, ...postSubject(options) }, body));
}

/** `pharos announcement new TITLE`: a file for a notice on pages. */
export async function announcementNew(title: string, options: PostOptions & { level?: string; until?: string }) {
  const level = oneOf<AnnouncementLevel>('--level', options.level ?? 'info', ANNOUNCEMENT_LEVELS);
  const to = options.until === undefined ? undefined : toIso(instant('--until', options.until));
  const { page: pages, body } = options;
  return write(options, newPostFile({ type: 'announcement', title, level, from: toIso(now()), to, pages }, body));
}

function postSubject({ monitor: monitors, component: components, page: pages }: PostOptions) {
  if (monitors === undefined && components === undefined && pages === undefined) {
    throw new UsageError(
      'Nothing is affected, so the post would appear nowhere. Add --monitor edge/12, --component … or --page example.',
    );
  }
  const [only, other] = pages ?? [];
  const place = only === undefined || other !== undefined ? '' : `${only}/`;
  return { monitors, components: components?.map((id) => (id.includes('/') ? id : `${place}${id}`)), pages };
}

function write(options: PostOptions, { name, text }: NewFile): number {
  checkPost(name, text);
  const folder = chooseFolder(options);
  makeFolder(folder);
  const [stem = name] = name.split('.md');
  let file = join(folder, name);
  for (let number = 2; existsSync(file); number += 1) file = join(folder, `${stem}-${number}.md`);
  writeFileSync(file, text, { flag: 'wx' });
  process.stdout.write(`${file}\n`);
  return EXIT_DONE;
}

/** The given folder, or that of the only markdown upstream. */
function chooseFolder({ folder, config }: PostOptions): string {
  if (folder !== undefined) return resolve(folder);
  const entries = loadConfig(config)?.upstreams.filter((upstream) => upstream.kind === 'markdown') ?? [];
  const path = (entries[0]?.options as { path?: string } | undefined)?.path;
  if (entries.length !== 1 || path === undefined)
    throw new UsageError('Set --folder, because the configuration doesn’t have exactly one markdown upstream.');
  return resolve(path);
}

function instant(option: string, text: string): EpochMs {
  try {
    return toEpochMs(Temporal.Instant.from(text).epochMilliseconds);
  } catch {
    throw new UsageError(
      `${option} expects a time with a UTC offset, such as 2026-11-21T22:00:00Z or 2026-11-21T23:00:00+01:00; got "${text}".`,
    );
  }
}

function duration(option: string, text: string | undefined): number {
  if (text === undefined)
    throw new UsageError(`Set an end: --ends with a time, or ${option} with a duration such as 90m or 2h.`);
  const match = /^(\d{1,4})(m|h)$/.exec(text);
  if (match === null || Number(match[1]) === 0)
    throw new UsageError(`${option} expects a duration such as 90m or 2h; got "${text}".`);
  return Number(match[1]) * (match[2] === 'm' ? MINUTE_MS : HOUR_MS);
}

// `pharos posts export`: writes the posts of the store as files for a markdown upstream.

/** Writes every post that has no file there. Existing files are never overwritten. */
export async function postsExport(options: Options & { readonly out: string }): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const rows = await readWritten(pharos.store.database);
  const folder = resolve(options.out);
  makeFolder(folder);
  const files: string[] = [];
  const unchanged: string[] = [];
  const skipped: { readonly id: string; readonly reason: string }[] = [];
  for (const { id, document } of rows) {
    const post = parseWritten(document);
    if (post === null) {
      skipped.push({ id, reason: 'is stored in a format this version can’t read' });
      continue;
    }
    const { name, text } = writtenFile(id, post);
    const file = join(folder, name);
    if (!existsSync(file)) {
      writeFileSync(file, text, { flag: 'wx' });
      files.push(file);
    } else if (readFileSync(file, 'utf8') === text) unchanged.push(file);
    else skipped.push({ id, reason: `differs from ${file}. Move that file away, or set another folder with --out` });
  }
  const lines = [
    ...files,
    ...unchanged.map((file) => `${file} (already there)`),
    ...skipped.map(({ id, reason }) => `skipped ${id}: it ${reason}`),
  ];
  const text = lines.length === 0 ? 'There are no posts to export.' : lines.join('\n');
  return print(options, { files, unchanged, skipped }, text, skipped.length === 0);
}

// `pharos components export`: prints components made over the API as configuration.

export async function componentsExport(options: Options): Promise<number> {
  await using pharos = await openToRead(requireConfig(options.config));
  const made = await readPlaced(pharos.store.database);
  const pages = [...Map.groupBy(made, ({ slug }) => slug)].map(([slug, all]) => ({ slug, ...toConfiguration(all) }));
  const text =
    pages.length === 0
      ? '# No components were made over the API.'
      : `# Add these to their pages in the configuration: to groups and components that are there already.\n${stringify({ pages }).trimEnd()}`;
  return print(options, { pages }, text);
}

function toConfiguration(made: readonly PlacedComponent[]): object {
  const { group: groups, component: components } = Object.groupBy(made, ({ kind }) => kind);
  // JSON and YAML leave out what is undefined.
  return {
    groups: groups?.map(({ id, name, names }) => ({ id, name, names })),
    components: components?.map(({ id, name, names, description, groupId }) => ({
      ...{ id, type: 'static', name, names },
      description: description ?? undefined,
      group_id: groupId ?? undefined,
    })),
  };
}
