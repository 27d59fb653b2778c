/** Feeds, as a reader that knows items by their id and date sees them. */

import { XMLParser } from 'fast-xml-parser';
import { addressIn, type Check, compareNames, fileOf, iso, jsonOf, same } from '../check.ts';
import type { ExpectedPlan } from '../expected-plans.ts';
import { all, parseHtml, textOf } from '../html.ts';
import type { ExpectedStory } from '../story.ts';
import { statusWord } from './words.ts';

/** An item, whatever the format. */
interface Item {
  readonly id: string;
  readonly title: string;
  readonly at: number;
  readonly link: string;
  readonly html: string;
}

interface RssItem {
  readonly guid: { readonly '#text': string };
  readonly title: string;
  readonly pubDate: string;
  readonly link: string;
  readonly description: string;
}

interface AtomEntry {
  readonly id: string;
  readonly title: string;
  readonly published: string;
  readonly updated: string;
  readonly link: { readonly href: string };
  readonly content: { readonly '#text': string };
}

interface JsonItem {
  readonly id: string;
  readonly title: string;
  readonly date_published: string;
  readonly url: string;
  readonly content_html: string;
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  isArray: (name) => name === 'item' || name === 'entry',
  parseTagValue: false,
});

function rssItems(text: string): Item[] {
  const { rss } = parser.parse(text) as { rss: { channel: { item?: readonly RssItem[] } } };
  return (rss.channel.item ?? []).map(({ guid, title, pubDate, link, description }) => ({
    id: guid['#text'],
    title,
    at: Date.parse(pubDate),
    link,
    html: description,
  }));
}

function atomItems(text: string): Item[] {
  const { feed } = parser.parse(text) as { feed: { entry?: readonly AtomEntry[] } };
  return (feed.entry ?? []).map(({ id, title, published, link, content }) => ({
    id,
    title,
    at: Date.parse(published),
    link: link.href,
    html: content['#text'],
  }));
}

function jsonItems(check: Check, path: string): Item[] {
  const { items } = jsonOf<{ items: readonly JsonItem[] }>(check, path);
  return items.map(({ id, title, date_published, url, content_html }) => ({
    id,
    title,
    at: Date.parse(date_published),
    link: url,
    html: content_html,
  }));
}

type Told = (ExpectedStory | ExpectedPlan) & { readonly isOpen: boolean; readonly isPlanned: boolean };

export function checkFeeds(check: Check): void {
  const { stories, plans, lines } = check.expected;
  const told: Told[] = [
    ...stories.map((story) => ({ ...story, isOpen: story.endedAt === null, isPlanned: false })),
    ...plans.map((plan) => ({ ...plan, isOpen: false, isPlanned: plan.status === 'scheduled' })),
  ];
  checkFeed(check, '', { told, room: 1 });
  for (const { component } of lines)
    checkFeed(check, `components/${component.id}/`, {
      told: told.filter(({ componentIds }) => componentIds.includes(component.id)),
      room: 0.5,
    });
  for (const [path, items] of [
    ['history.rss', rssItems(fileOf(check, 'history.rss'))],
    ['history.atom', atomItems(fileOf(check, 'history.atom'))],
  ] as const)
    checkHistoryFeed(check, path, { items, told });
}

/** One item for each update, with a date and an id of its own. */
function checkFeed(
  check: Check,
  folder: string,
  { told, room }: { readonly told: readonly Told[]; readonly room: number },
): void {
  const past = told.filter(({ isPlanned }) => !isPlanned);
  const plans = told.filter(({ isPlanned }) => isPlanned);
  const wanted = told.flatMap(({ title, updates }) =>
    updates.map(({ at, status }) => `${iso(secondOf(at))} ${statusWord(status)}: ${title}`),
  );
  const isAll = past.length <= 50 * room && plans.length <= 10 * room && wanted.length <= 100 * room;
  const rss = rssItems(fileOf(check, `${folder}feed.rss`));
  const feeds = [
    [`${folder}feed.rss`, rss],
    [`${folder}feed.atom`, atomItems(fileOf(check, `${folder}feed.atom`))],
    [`${folder}feed.json`, jsonItems(check, `${folder}feed.json`)],
  ] as const;
  for (const [path, items] of feeds) {
    const read = items.map(({ title, at }) => `${iso(secondOf(at))} ${title}`);
    if (isAll) same(check, `${path}: items`, read.toSorted(), wanted.toSorted());
    else checkRoom(check, path, { read, told, plansMax: 10 * room });
    same(
      check,
      `${path}: ids`,
      items.map(({ id }) => id),
      rss.map(({ id }) => id),
    );
    if (new Set(items.map(({ id }) => id)).size !== items.length) check.differences.push(`${path}: items share an id`);
    for (const item of items) checkItem(check, path, { item, told });
  }
}

/** Where there is no room for all, what is open is there with its newest word, and plans take the place of nothing. */
function checkRoom(
  check: Check,
  path: string,
  {
    read,
    told,
    plansMax,
  }: { readonly read: readonly string[]; readonly told: readonly Told[]; readonly plansMax: number },
): void {
  for (const { title, updates, isOpen } of told) {
    const newest = updates.at(-1);
    if (!isOpen || newest === undefined) continue;
    const wanted = `${iso(secondOf(newest.at))} ${statusWord(newest.status)}: ${title}`;
    if (!read.includes(wanted)) check.differences.push(`${path}: the open incident ${title} is not there`);
  }
  const planned = told.filter(({ isPlanned, title }) => isPlanned && read.some((one) => one.endsWith(`: ${title}`)));
  if (planned.length > plansMax) check.differences.push(`${path}: ${planned.length} plans`);
}

function checkItem(
  check: Check,
  path: string,
  { item, told }: { readonly item: Item; readonly told: readonly Told[] },
): void {
  const alike = told.filter(
    ({ title, updates }) =>
      item.title.endsWith(`: ${title}`) && updates.some(({ at }) => secondOf(at) === secondOf(item.at)),
  );
  const address = addressIn(check, item.link);
  const story = alike.find(({ key }) => check.addresses.get(key) === address) ?? alike[0];
  if (story !== undefined) compareNames(check, `${path}: ${item.title}`, { key: story.key, address });
  checkWords(check, path, { item, story });
}

function checkWords(
  check: Check,
  path: string,
  { item, story }: { readonly item: Item; readonly story: Told | undefined },
): void {
  if (item.at > check.expected.asOf) check.differences.push(`${path}: ${item.title} is of the future`);
  const html = parseHtml(item.html);
  const words = textOf(html);
  if (words.includes('**')) check.differences.push(`${path}: ${item.title} has raw Markdown`);
  if (all(html, 'b').length > 0) check.differences.push(`${path}: ${item.title} has the markup of its upstream`);
  const names = check.expected.lines
    .filter(({ component }) => story?.componentIds.includes(component.id) === true)
    .map(({ component }) => component.name);
  if (!words.includes(names.join(', '))) check.differences.push(`${path}: ${item.title} does not name its components`);
}

/** One item for each story, with all that was said of it. */
function checkHistoryFeed(
  check: Check,
  path: string,
  { items, told }: { readonly items: readonly Item[]; readonly told: readonly Told[] },
): void {
  const plans = told.filter(({ isPlanned }) => isPlanned);
  const wanted = told.map(({ title, key }) => `${title} ${check.addresses.get(key)}`);
  const read = items.map(({ title, link }) => `${title} ${addressIn(check, link)}`);
  if (told.length - plans.length <= 50 && plans.length <= 10)
    same(check, `${path}: items`, read.toSorted(), wanted.toSorted());
  for (const item of items)
    checkWords(check, path, {
      item,
      story: told.find(
        ({ title, key }) => `${title} ${check.addresses.get(key)}` === `${item.title} ${addressIn(check, item.link)}`,
      ),
    });
}

/** RSS dates have no milliseconds. */
function secondOf(at: number): number {
  return Math.floor(at / 1_000) * 1_000;
}
