/** What must hold from one publish to the next: stories keep their names, calendars never go back, what was taken back is gone. */

import { type Check, same } from './check.ts';
import type { ExpectedStory } from './story.ts';
import { readCalendar } from './surfaces/calendar.ts';
import type { Answer } from './world.ts';

const RELAPSE_MS = 600_000;

export function checkSequence(before: Check, now: Check): void {
  for (const story of before.expected.stories) checkName(before, now, story);
  for (const story of now.expected.stories) checkNew(before, now, story);
  for (const { key, title } of before.expected.plans) {
    const [earlier, later] = [before.addresses.get(key), now.addresses.get(key)];
    if (earlier !== undefined && later !== undefined)
      same(now, `from one publish to the next: ${title}`, later, earlier);
  }
  const events = new Map(readCalendar(before.files.get('maintenance.ics') ?? '').map((event) => [event.uid, event]));
  for (const event of readCalendar(now.files.get('maintenance.ics') ?? '')) {
    const known = events.get(event.uid);
    if (known === undefined) continue;
    if (event.sequence < known.sequence || event.stampedAt < known.stampedAt)
      now.differences.push(`maintenance.ics: ${event.title} goes back in time`);
    const isMoved = event.from !== known.from || event.to !== known.to || event.title !== known.title;
    if (isMoved && event.sequence === known.sequence)
      now.differences.push(`maintenance.ics: ${event.title} changed and its sequence did not`);
  }
}

/** The same story has the same id and address; what opened an entry is found again in whatever became of it. */
function checkName(before: Check, now: Check, story: ExpectedStory): void {
  const { stories } = now.expected;
  // What people wrote and took back is gone, whatever becomes of the outage.
  const successor = stories.find((one) => (story.isAutomatic ? hasFall(one, story.falls[0]) : one.key === story.key));
  if (successor === undefined) return;
  const [earlier, later] = [before.addresses.get(story.key), now.addresses.get(successor.key)];
  if (earlier === undefined || later === undefined) return;
  const merged = before.expected.stories.filter((one) => one.falls.length > 0 && hasFall(successor, one.falls[0]));
  if (!now.files.has(`${earlier}index.html`))
    now.differences.push(`${story.title}: nothing is served any more at ${earlier}`);
  // An entry that an upstream's second thoughts split off again keeps its name, and who told of it has another.
  const holder = stories.find((one) => now.addresses.get(one.key) === earlier);
  if (holder !== undefined && holder !== successor && hasFall(holder, story.falls[0])) return;
  // Two stories that turn out to be one keep the name of one of them.
  if (
    merged.length > 1 ||
    (story.isAutomatic && !successor.isAutomatic && successor.firstSeenAt <= before.expected.asOf)
  )
    return;
  same(now, `from one publish to the next: ${story.title}`, later, earlier);
  same(now, `from one publish to the next: ${story.title}: id`, now.ids.get(successor.key), before.ids.get(story.key));
}

/** An upstream's number that is given again names another story, under a name that no other had. */
function checkNew(before: Check, now: Check, story: ExpectedStory): void {
  const earlier = before.expected.stories.filter(({ key, falls }) => key !== story.key && falls.length === 0);
  if (story.falls.length > 0) return;
  for (const { key, title } of earlier) {
    if (before.addresses.get(key) === now.addresses.get(story.key))
      now.differences.push(`${story.title} has the address of ${title}`);
    if (before.ids.get(key) === now.ids.get(story.key)) now.differences.push(`${story.title} has the id of ${title}`);
  }
}

function hasFall({ falls }: ExpectedStory, fall: string | undefined): boolean {
  const [component, from] = (fall ?? '').split('@');
  return falls.some((one) => {
    const [other, at] = one.split('@');
    return other === component && Math.abs(Number(at) - Number(from)) <= RELAPSE_MS;
  });
}

/** What was told once and is no more, or is not of this page, is named by no file. */
export function checkGone(check: Check): void {
  const { world, upTo, stories, plans } = check.expected;
  const told = world.steps.slice(0, upTo).filter((step): step is Answer => step.kind === 'answer');
  const titles = new Set(
    told.flatMap(({ incidents, maintenances }) => [
      ...(incidents ?? []).filter(({ isOutage }) => !isOutage).map(({ title }) => title.replace(' (edited)', '')),
      ...(maintenances ?? []).map(({ title }) => title),
    ]),
  );
  for (const { title } of [...stories, ...plans]) titles.delete(title.replace(' (edited)', ''));
  for (const [path, text] of check.files)
    for (const title of titles)
      if (new RegExp(`${title}(?!\\d)`).test(text))
        check.differences.push(`${path}: tells of ${title}, which was taken back`);
}
