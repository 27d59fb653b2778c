/** All surfaces of one publish, read back and held against the model. */

import type { State } from '../../src/model/state.ts';
import { type Check, iso, jsonOf } from './check.ts';
import { expectedAt } from './expected.ts';
import { dayState, daysUpTo, stateIn, sumsIn } from './figures.ts';
import type { Line } from './lines.ts';
import type { Published } from './publish-world.ts';
import { checkGone, checkSequence } from './sequence.ts';
import { checkBadges } from './surfaces/badges.ts';
import { checkCalendars } from './surfaces/calendar.ts';
import { checkComponentPages, checkEventPages, checkHistory, checkReports } from './surfaces/event-pages.ts';
import { checkFeeds } from './surfaces/feeds.ts';
import { checkStateJson } from './surfaces/json.ts';
import { checkSecrets } from './surfaces/secrets.ts';
import { checkEmbed, checkStatusPage } from './surfaces/status-page.ts';
import { checkReportJson, checkUptimeJson, heartbeatOf } from './surfaces/uptime.ts';
import { checkV2 } from './surfaces/v2.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 900_000;

const SURFACES = {
  'state.json': checkStateJson,
  'uptime.json': checkUptimeJson,
  'report.json': checkReportJson,
  v2: checkV2,
  page: checkStatusPage,
  embed: checkEmbed,
  components: checkComponentPages,
  history: checkHistory,
  reports: checkReports,
  feeds: checkFeeds,
  calendars: checkCalendars,
  stories: checkEventPages,
  badges: checkBadges,
  secrets: checkSecrets,
};

/** @param before the publish before of the same world; null: this is the first */
export function examine(world: World, { now, upTo, isSetBack, files }: Published, before: Check | null): Check {
  if (before !== null && !isSetBack && isSame(before.files, files)) {
    const check: Check = { ...before, differences: [] };
    checkAge(check, { now, upTo, heartbeat: heartbeatOf(files), hadOne: true });
    return check;
  }
  const asOf = Date.parse(jsonOf<{ as_of: string }>({ files } as Check, 'build.json').as_of);
  const definedAt = Math.min(before?.expected.definedAt ?? now, now);
  const expected = expectedAt(world, { now, upTo, asOf, definedAt });
  const heartbeat = heartbeatOf(files);
  const check: Check = {
    expected,
    atHeartbeat: { ...expected, asOf: heartbeat },
    files,
    differences: [],
    addresses: new Map(),
    ids: new Map(),
  };
  checkAge(check, { now, upTo, heartbeat, hadOne: before !== null });
  for (const [surface, checkSurface] of Object.entries(SURFACES))
    try {
      checkSurface(check);
    } catch (error) {
      check.differences.push(`${surface}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  checkGone(check);
  if (before !== null && !isSetBack) checkSequence(before, check);
  return check;
}

function isSame(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): boolean {
  return before.size === now.size && [...now].every(([path, text]) => before.get(path) === text);
}

function todayState(pieces: Line['pieces'], at: number, zone: string): State | undefined {
  const [{ from, to } = { from: at, to: at }] = daysUpTo(at, zone, 1);
  return dayState(sumsIn(pieces, from, to), stateIn(pieces, at));
}

/** A page is as of now, or of its last heartbeat or news since which nothing happened. */
function checkAge(
  { expected, differences }: Check,
  {
    now,
    upTo,
    heartbeat,
    hadOne,
  }: { readonly now: number; readonly upTo: number; readonly heartbeat: number; readonly hadOne: boolean },
): void {
  const { asOf, world, definedAt } = expected;
  if (asOf > now || asOf <= now - HEARTBEAT_MS || (!hadOne && asOf !== now))
    differences.push(`as of ${iso(asOf)} at ${iso(now)}`);
  if (heartbeat > asOf || heartbeat <= asOf - HEARTBEAT_MS)
    differences.push(`the heartbeat is ${iso(heartbeat)} at ${iso(asOf)}`);
  if (asOf === now) return;
  const [shown, present] = [expected, expectedAt(world, { now, upTo, asOf: now, definedAt })].map(
    ({ lines, stories, plans, asOf: at }) =>
      JSON.stringify([
        lines.map(({ state }) => state),
        lines.map(({ pieces }) => todayState(pieces, at, world.zone)),
        stories.map(({ key, status, impact }) => [key, status, impact]),
        plans.map(({ status, startsAt }) => [status, startsAt]),
      ]),
  );
  if (shown !== present) differences.push(`news of ${iso(now)} is not shown: ${shown} instead of ${present}`);
}
