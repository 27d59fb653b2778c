/** The page itself, and the frame for other sites. */

import { addressIn, type Check, comparePlans, compareStories, fileOf, iso, same } from '../check.ts';
import { added, percentText, periodWindow, sumsIn } from '../figures.ts';
import { all, byId, one, parseHtml, stateClass, textOf, timesIn } from '../html.ts';
import { combined } from '../lines.ts';
import { affects, checkBar, isPlanCard, readCard, readPlanCard } from './cards.ts';
import { SENTENCES, STATE_WORDS, statusWord } from './words.ts';

const DAY_MS = 86_400_000;

export function checkStatusPage(check: Check): void {
  const { expected } = check;
  const page = parseHtml(fileOf(check, 'index.html'));
  const root = one(page, 'html');
  same(check, 'page: state', stateClass(root), expected.state);
  same(
    check,
    'page: since',
    timesIn(one(byId(page, 'state'), 'p', 'as-of'))
      .slice(0, 1)
      .map(iso),
    expected.since === null
      ? timesIn(one(byId(page, 'state'), 'p', 'as-of'))
          .slice(0, 1)
          .map(iso)
      : [iso(expected.since)],
  );
  same(check, 'page: stale', byId(page, 'stale').attribs['hidden'] === undefined, expected.isStale);
  checkBanner(check, textOf(one(byId(page, 'state'), 'h1')));
  same(
    check,
    'page: oldest day',
    textOf(one(one(page, 'p', 'heads'), 'span', 'axis')).replace('Today', ' Today'),
    '89 days ago Today',
  );
  const description =
    all(page, 'meta').find(({ attribs }) => attribs['name'] === 'description')?.attribs['content'] ?? '';
  same(check, 'page: description', description.split('. ')[0], textOf(one(byId(page, 'state'), 'h1')));
  if (description.includes('..')) check.differences.push(`page: two stops in ${description}`);
  checkRows(check, page);
  const cards = all(page, 'article', 'event');
  const stories = cards.filter((card) => !isPlanCard(card)).map((card) => readCard(check, card));
  const by = { where: 'page', updates: 'newest', statusOf: statusWord, namesOf: affects(expected) } as const;
  const open = expected.stories.filter(({ endedAt }) => endedAt === null);
  compareStories(
    check,
    stories.filter(({ to }) => to === null),
    open,
    by,
  );
  const past = expected.stories.filter(
    ({ endedAt, startedAt }) => endedAt !== null && startedAt >= expected.asOf - 14 * DAY_MS,
  );
  compareStories(
    check,
    stories.filter(({ to }) => to !== null),
    past.slice(0, 20),
    by,
  );
  const plans = cards.filter(isPlanCard).map((card) => readPlanCard(check, card));
  comparePlans(
    check,
    plans,
    expected.plans.filter(({ status }) => status !== 'completed'),
    by,
  );
}

function checkBanner(check: Check, sentence: string): void {
  const { lines, state } = check.expected;
  const bad = lines.filter((line) =>
    ['major_outage', 'partial_outage', 'degraded', 'maintenance', 'unknown'].includes(line.state),
  );
  const [only] = bad;
  const one = bad.length === 1 && only !== undefined ? only : null;
  const words: Readonly<Record<string, string>> = {
    major_outage: 'is down',
    partial_outage: 'is partially down',
    degraded: 'is degraded',
  };
  const word = one === null ? undefined : words[one.state];
  same(check, 'page: sentence', sentence, word === undefined ? SENTENCES[state] : `${one?.component.name} ${word}`);
}

function checkRows(check: Check, page: ReturnType<typeof parseHtml>): void {
  const { expected } = check;
  const { lines, asOf, world } = expected;
  const rows = all(page, 'li', 'row');
  same(
    check,
    'page: components',
    rows.map((row) => textOf(one(row, 'a'))),
    lines.map(({ component }) => component.name),
  );
  const { from, to } = periodWindow(asOf, 90);
  for (const [index, row] of rows.entries()) {
    const line = lines[index];
    if (line === undefined) continue;
    const { state, since, component } = line;
    const where = `page: ${component.name}`;
    same(check, `${where}: state`, stateClass(row), state);
    same(check, `${where}: word`, textOf(one(row, 'p', 'state')).replace(/ ?since.*/, ''), STATE_WORDS[state]);
    const saysSince = since !== null && state !== 'operational' && state !== 'paused';
    same(check, `${where}: since`, timesIn(one(row, 'p', 'state')).map(iso), saysSince ? [iso(since)] : []);
    same(
      check,
      `${where}: uptime`,
      textOf(one(row, 'p', 'uptime')),
      percentText(sumsIn(line.pieces, from, to, 'counted')),
    );
    checkBar(check, row, { page, line, where, as: expected });
  }
  for (const group of all(page, 'details', 'group')) {
    const name = textOf(one(group, 'h3'));
    const id = world.groups.find((known) => known.name === name)?.id;
    const members = lines.filter(({ component }) => component.groupId === id);
    same(check, `page: ${name}: state`, stateClass(group), combined(members.map(({ state }) => state)));
    const sums = added(members.map(({ pieces }) => sumsIn(pieces, from, to, 'counted')));
    same(check, `page: ${name}: uptime`, textOf(one(group, 'span', 'num')), percentText(sums));
    same(check, `page: ${name}: members`, all(group, 'li', 'row').length, members.length);
  }
}

export function checkEmbed(check: Check): void {
  const { expected } = check;
  const page = parseHtml(fileOf(check, 'embed/index.html'));
  same(check, 'embed: state', stateClass(one(page, 'html')), expected.state);
  same(check, 'embed: sentence', textOf(one(page, 'h1')), `Acme ${SENTENCES[expected.state]}`);
  const open = expected.stories.filter(({ endedAt }) => endedAt === null).slice(0, 3);
  const links = all(one(page, 'main'), 'li').map((item) => one(item, 'a'));
  same(check, 'embed: incidents', links.map(textOf).toSorted(), open.map(({ title }) => title).toSorted());
  for (const link of links) {
    const address = addressIn(check, link.attribs['href'] ?? '');
    if (!check.files.has(`${address}index.html`)) check.differences.push(`embed: nothing is served at ${address}`);
  }
  same(
    check,
    'embed: stale',
    textOf(one(page, 'div', 'age')).startsWith('This page is out of date.'),
    expected.isStale,
  );
}
