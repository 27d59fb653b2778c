/** Component pages, the stories' own pages, the history and the reports as people read them. */

import { type Check, comparePlan, comparePlans, compareStories, compareStory, fileOf, iso, same } from '../check.ts';
import type { Expected } from '../expected.ts';
import { added, dateOf, monthWindow, percentText, periodWindow, sumsIn } from '../figures.ts';
import { all, byId, type Document, one, parseHtml, stateClass, textOf, timesIn } from '../html.ts';
import type { Line } from '../lines.ts';
import { affects, checkBar, isPlanCard, readCard, readPlanCard, readStoryUpdates } from './cards.ts';
import { STATE_WORDS, statusWord } from './words.ts';

const PERIODS = [1, 7, 30, 90, 365];

/** A page says until when it may be believed, and so to when its figures are counted: now or the last heartbeat. */
function countedTo(check: Check, page: Document, where: string): Expected {
  const { expected, atHeartbeat } = check;
  const staleAfter = Number(one(page, 'html').attribs['data-stale-after']);
  const asOf = staleAfter - 900_000 - 2 * expected.intervalMs;
  if (asOf !== expected.asOf) same(check, `${where}: counted to`, iso(asOf), iso(atHeartbeat.asOf));
  return asOf === expected.asOf ? expected : atHeartbeat;
}

export function checkComponentPages(check: Check): void {
  for (const line of check.expected.lines) checkComponentPage(check, line);
}

function checkComponentPage(check: Check, line: Line): void {
  const { component, state, since } = line;
  const where = `page of ${component.name}`;
  const page = parseHtml(fileOf(check, `components/${component.id}/index.html`));
  const as = countedTo(check, page, where);
  const head = byId(page, 'state');
  same(check, `${where}: state`, stateClass(one(page, 'html')), state);
  same(check, `${where}: word`, textOf(one(one(head, 'div'), 'p')), STATE_WORDS[state]);
  same(
    check,
    `${where}: since`,
    timesIn(one(head, 'p', 'as-of'))
      .slice(0, since === null ? 0 : 1)
      .map(iso),
    since === null ? [] : [iso(since)],
  );
  checkBar(check, one(page, 'main'), { page, line, where, as });
  const periods = all(page, 'table').find((table) => textOf(table).startsWith('Period'));
  const rows = (periods === undefined ? [] : all(periods, 'tr')).flatMap((row) => all(row, 'td').slice(0, 1));
  const uptimes = PERIODS.map((days) => {
    const { from, to } = periodWindow(as.asOf, days);
    return percentText(sumsIn(line.pieces, from, to, 'counted'));
  });
  same(check, `${where}: uptimes`, rows.map(textOf), uptimes);
  const cards = all(page, 'article', 'event');
  const by = { where, updates: 'newest', statusOf: statusWord, namesOf: affects(check.expected) } as const;
  const own = check.expected.stories.filter(({ componentIds }) => componentIds.includes(component.id));
  compareStories(
    check,
    cards.filter((card) => !isPlanCard(card)).map((card) => readCard(check, card)),
    own.slice(0, 20),
    by,
  );
  const plans = check.expected.plans.filter(
    ({ componentIds, status }) => componentIds.includes(component.id) && status !== 'completed',
  );
  comparePlans(
    check,
    cards.filter(isPlanCard).map((card) => readPlanCard(check, card)),
    plans,
    by,
  );
}

export function checkEventPages(check: Check): void {
  for (const story of check.expected.stories) {
    const address = check.addresses.get(story.key);
    if (address === undefined) continue;
    const page = parseHtml(fileOf(check, `${address}index.html`));
    const main = one(page, 'main');
    const title = one(main, 'div', 'title');
    const [from = Number.NaN, to = null] = timesIn(title);
    const head = textOf(title);
    const isOpen = head.includes('ongoing');
    same(check, `page of ${story.title}: over`, isOpen, story.endedAt === null);
    const read = {
      address,
      title: textOf(one(main, 'h1')),
      from,
      to,
      status: textOf(one(main, 'b')),
      isAutomatic: head.includes('Detected automatically'),
      names: all(one(main, 'div', 'beside'), 'a')
        .map(textOf)
        .join(),
      updates: readStoryUpdates(main),
    };
    const namesOf = (ids: readonly string[]) =>
      check.expected.lines
        .filter(({ component }) => ids.includes(component.id))
        .map(({ component }) => component.name)
        .join();
    same(
      check,
      `page of ${story.title}: title and start`,
      `${read.title} ${iso(from)}`,
      `${story.title} ${iso(story.startedAt)}`,
    );
    compareStory(check, read, story, { where: 'its page', statusOf: statusWord, namesOf });
    if (story.endedAt === null) checkAffected(check, main, story.title);
  }
  for (const plan of check.expected.plans) {
    const address = check.addresses.get(plan.key);
    if (address === undefined) continue;
    const main = one(parseHtml(fileOf(check, `${address}index.html`)), 'main');
    const [from = Number.NaN, to = Number.NaN] = timesIn(one(main, 'div', 'title'));
    const read = {
      address,
      title: textOf(one(main, 'h1')),
      from,
      to,
      status: textOf(one(main, 'b')),
      updates: readStoryUpdates(main),
    };
    same(check, `page of ${plan.title}: begins`, iso(from), iso(plan.startsAt));
    same(check, `page of ${plan.title}: repeats`, textOf(one(main, 'div', 'title')).includes('Repeats'), plan.repeats);
    comparePlan(check, read, plan, { where: 'its page', statusOf: statusWord });
  }
}

/** What the page of an open story says of components is what they are in now. */
function checkAffected(check: Check, main: ReturnType<typeof one>, title: string): void {
  for (const item of all(one(main, 'div', 'beside'), 'li').filter((one) => stateClass(one) !== 'none')) {
    const name = textOf(one(item, 'a'));
    const line = check.expected.lines.find(({ component }) => component.name === name);
    same(check, `page of ${title}: ${name}`, stateClass(item), line?.state);
  }
}

export function checkHistory(check: Check): void {
  const { expected, files } = check;
  const { zone } = expected.world;
  const months = [...files.keys()].flatMap((path) => /^history\/(\d{4}-\d\d)\/index.html$/.exec(path)?.[1] ?? []);
  const by = { where: 'history', updates: 'newest', statusOf: statusWord, namesOf: affects(expected) } as const;
  const stories = months.flatMap((month) => {
    const page = parseHtml(fileOf(check, `history/${month}/index.html`));
    return all(page, 'section')
      .filter(({ attribs }) => attribs['id']?.startsWith('d') === true)
      .flatMap((section) => {
        const cards = all(section, 'article', 'event');
        for (const card of cards)
          same(check, `history ${month}: day`, `d${dateOf(timesIn(card)[0] ?? 0, zone)}`, section.attribs['id']);
        return cards.filter((card) => !isPlanCard(card)).map((card) => readCard(check, card));
      });
  });
  compareStories(check, stories, expected.stories, by);
}

export function checkReports(check: Check): void {
  const months = [...check.files.keys()].flatMap((path) => /^reports\/(\d{4}-\d\d)\/index.html$/.exec(path)?.[1] ?? []);
  for (const month of months) checkReport(check, month);
}

function checkReport(check: Check, month: string): void {
  const { expected, atHeartbeat } = check;
  const where = `report ${month}`;
  const { from, to } = monthWindow(month, expected.world.zone, atHeartbeat.asOf);
  const main = one(parseHtml(fileOf(check, `reports/${month}/index.html`)), 'main');
  const rows = all(one(main, 'tbody'), 'tr').map((row) => ({
    name: textOf(one(row, 'th')),
    uptime: textOf(one(row, 'td')),
  }));
  const sums = expected.lines.map(({ pieces }) => sumsIn(pieces, from, to, 'counted'));
  same(
    check,
    `${where}: uptimes`,
    rows.map(({ name, uptime }) => `${name} ${uptime}`),
    [
      `Overall ${percentText(added(sums))}`,
      ...expected.lines.map(
        ({ component }, index) => `${component.name} ${sums[index] === undefined ? '' : percentText(sums[index])}`,
      ),
    ],
  );
  const cards = all(main, 'article', 'event').filter((card) => !isPlanCard(card));
  const touching = expected.stories.filter(
    ({ startedAt, endedAt }) => startedAt < to && (endedAt === null || endedAt > from || startedAt >= from),
  );
  compareStories(
    check,
    cards.map((card) => readCard(check, card)),
    touching,
    { where, updates: 'newest', statusOf: statusWord, namesOf: affects(expected) },
  );
}
