/** Badges, by what they say to people who cannot see them and to programs. */

import type { State } from '../../../src/model/state.ts';
import { type Check, fileOf, jsonOf, same } from '../check.ts';
import { added, percentText, periodWindow, sumsIn } from '../figures.ts';
import { all, one, parseHtml, textOf } from '../html.ts';
import { combined, type Line } from '../lines.ts';
import { STATE_WORDS } from './words.ts';

interface Subject {
  readonly folder: string;
  readonly name: string;
  readonly state: State;
  readonly isStale: boolean;
  readonly lines: readonly Line[];
}

export function checkBadges(check: Check): void {
  const { lines, state, isStale, world } = check.expected;
  const page: Subject = { folder: '', name: 'Acme', state, isStale, lines };
  checkStatus(check, page);
  checkUptime(check, page);
  checkOpen(check, page);
  for (const line of lines) {
    const subject = {
      folder: `components/${line.component.id}/`,
      name: line.component.name,
      state: line.state,
      isStale: line.isStale,
      lines: [line],
    };
    checkStatus(check, subject);
    checkUptime(check, subject);
  }
  for (const { id, name } of world.groups) {
    const members = lines.filter(({ component }) => component.groupId === id);
    if (members.length === 0) continue;
    const subject = {
      folder: `groups/${id}/`,
      name,
      state: combined(members.map((line) => line.state)),
      isStale: members.some((line) => line.isStale),
      lines: members,
    };
    checkStatus(check, subject);
    checkUptime(check, subject);
  }
}

function checkStatus(check: Check, { folder, name, state, isStale }: Subject): void {
  const word = STATE_WORDS[state].toLowerCase();
  const isTrouble = ['major_outage', 'partial_outage', 'degraded'].includes(state);
  checkBadge(check, `${folder}badges/status`, {
    label: name,
    message: isStale ? stale(isTrouble ? word : null) : word,
  });
}

/** A figure of the past stays, beside the word; nothing that looks well does. */
function stale(kept: string | null): string {
  return kept === null ? 'stale' : `${kept} (stale)`;
}

function checkUptime(check: Check, { folder, isStale, lines }: Subject): void {
  const { from, to } = periodWindow(check.expected.asOf, 90);
  const percent = percentText(added(lines.map(({ pieces }) => sumsIn(pieces, from, to, 'counted'))));
  const isKnown = percent !== '–';
  const message = isStale ? stale(isKnown ? percent : null) : isKnown ? percent : 'no data';
  checkBadge(check, `${folder}badges/uptime-90d`, { label: 'uptime 90d', message });
}

function checkOpen(check: Check, { state, isStale }: Subject): void {
  const open = check.expected.stories.filter(({ endedAt }) => endedAt === null).length;
  const word = open > 0 ? `${open} open` : state === 'unknown' ? 'no data' : 'none open';
  checkBadge(check, 'badges/incidents', {
    label: 'incidents',
    message: isStale ? stale(open > 0 ? word : null) : word,
  });
}

function checkBadge(
  check: Check,
  path: string,
  { label, message }: { readonly label: string; readonly message: string },
): void {
  const json = jsonOf<{ readonly label: string; readonly message: string }>(check, `${path}.json`);
  same(check, `${path}.json`, `${json.label}: ${json.message}`, `${label}: ${message}`);
  const svg = one(parseHtml(fileOf(check, `${path}.svg`)), 'svg');
  same(check, `${path}.svg`, svg.attribs['aria-label'], `${label}: ${message}`);
  same(check, `${path}.svg: title`, all(svg, 'title').map(textOf), [`${label}: ${message}`]);
}
