/** Writes feeds as Atom, RSS and JSON Feed, and calendars as iCalendar (RFC 5545). The same view gives the same text. */

import { Feed, type Item } from 'feed';
import ical, { escape as escapeCalendarText, ICalCalendarMethod, ICalEventTransparency } from 'ical-generator';
import type { CalendarView, FeedItemView, FeedView } from '../../views/feeds/feeds.ts';
import { jsonText } from '../../views/json/state-json.ts';
import { cleanMarkup, cleanText } from '../../views/text/plain-text.ts';
import { safeHtmlOfMarkdown, textOfHtml } from '../../views/text/safe-html.ts';

/** An Atom 1.0 feed. */
export function atomText(view: FeedView): string {
  return titlesAsText(buildFeed(view, (item) => ({ content: contentHtml(item) })).atom1());
}

/** An RSS 2.0 feed. The text of an item is its description, which every reader shows. */
export function rssText(view: FeedView): string {
  return titlesAsText(buildFeed(view, (item) => ({ description: contentHtml(item) })).rss2());
}

/** A JSON Feed 1.1. Its titles are plain text, so they aren't escaped. */
export function jsonFeedText(view: FeedView): string {
  return jsonText({
    version: 'https://jsonfeed.org/version/1.1',
    title: view.title,
    home_page_url: view.pageUrl,
    feed_url: view.jsonUrl ?? undefined,
    ...(view.description === '' ? {} : { description: view.description }),
    language: view.language,
    authors: [{ name: view.author, url: view.pageUrl }],
    items: view.items.map((item) => ({
      id: item.id,
      url: item.url,
      title: item.title,
      content_html: contentHtml(item),
      summary: summaryText(item),
      date_published: item.publishedAt,
      date_modified: item.updatedAt,
      tags: listTags(item),
    })),
  });
}

/**
 * The library calls the titles of items HTML and pastes them into CDATA sections. They are plain text, escaped once
 * (`itemHead`), so that readers which show a title as it stands show `R&D` too.
 */
function titlesAsText(xml: string): string {
  return xml.replaceAll(/<title(?: type="html")?><!\[CDATA\[([^<>]*)\]\]><\/title>/g, '<title>$1</title>');
}

function buildFeed(view: FeedView, wordsOf: (item: FeedItemView) => Pick<Item, 'content' | 'description'>): Feed {
  const feed = new Feed({
    id: view.id,
    title: view.title,
    description: view.description,
    language: view.language,
    link: view.pageUrl,
    feedLinks: { atom: view.atomUrl, rss: view.rssUrl },
    updated: new Date(view.updatedAt),
    author: { name: view.author, link: view.pageUrl },
    generator: 'Pharos',
  });
  for (const item of view.items) feed.addItem({ ...itemHead(item), ...wordsOf(item) });
  return feed;
}

function itemHead(item: FeedItemView): Item {
  return {
    id: item.id,
    link: item.url,
    title: cleanMarkup(item.title),
    date: new Date(item.updatedAt),
    published: new Date(item.publishedAt),
    category: listTags(item).map((tag) => ({ name: tag, term: tag })),
  };
}

/** The text of the newest update, without markup. */
function summaryText({ updates, title }: FeedItemView): string {
  const [newest] = updates;
  const words = newest === undefined || newest.body.trim() === '' ? title : textOfHtml(safeHtmlOfMarkdown(newest.body));
  return newest === undefined ? words : `${newest.statusText}: ${words}`;
}

/** Rendering Markdown is expensive, and three formats have the same text. */
const contents = new WeakMap<FeedItemView, string>();

function contentHtml(item: FeedItemView): string {
  return contents.getOrInsertComputed(item, makeContent);
}

/** Its updates, newest first, each with its status and instant. Cleaned last, since Markdown can name any character. */
function makeContent({ updates, components, windowText }: FeedItemView): string {
  const lines = [windowText, components.join(', ')].filter((line) => line !== '');
  const texts = updates.map(
    ({ at, atText, statusText, body }) =>
      `<p><strong>${cleanMarkup(statusText)}</strong> · <time datetime="${at}">${cleanMarkup(atText)}</time></p>\n` +
      safeHtmlOfMarkdown(body),
  );
  const content = [...lines.map((line) => `<p>${cleanMarkup(line)}</p>\n`), ...texts].join('');
  return cleanText(content).replaceAll(']]>', ']]&gt;');
}

function listTags({ kind, status, impact }: FeedItemView): string[] {
  return impact === null ? [kind, status] : [kind, status, impact];
}

/** How often calendar programs should refresh. */
const CALENDAR_TTL_SECONDS = 3_600;

/** RFC 5545 requires at least one component, so a calendar without events contains its time zone. */
const UTC_COMPONENT = [
  'BEGIN:VTIMEZONE',
  'TZID:Etc/UTC',
  'BEGIN:STANDARD',
  'DTSTART:19700101T000000',
  'TZOFFSETFROM:+0000',
  'TZOFFSETTO:+0000',
  'END:STANDARD',
  'END:VTIMEZONE',
].join('\r\n');

/** An iCalendar. The library escapes the texts of events, but not the calendar's name and description. */
export function calendarText(view: CalendarView): string {
  const calendar = ical({
    prodId: '//Pharos//Maintenance//EN',
    name: escapeCalendarText(view.name, false),
    description: escapeCalendarText(view.description, false),
    method: ICalCalendarMethod.PUBLISH,
    url: view.pageUrl,
    source: view.calendarUrl,
    ttl: CALENDAR_TTL_SECONDS,
  });
  for (const event of view.events) {
    calendar.createEvent({
      id: event.uid,
      sequence: event.sequence,
      stamp: new Date(event.changedAt),
      lastModified: new Date(event.changedAt),
      start: new Date(event.startsAt),
      end: new Date(event.endsAt),
      summary: event.title,
      description: event.text,
      url: event.url,
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  const text = calendar.toString();
  return `${view.events.length > 0 ? text : text.replace(/END:VCALENDAR$/, `${UTC_COMPONENT}\r\n$&`)}\r\n`;
}

/** Rows as CSV (RFC 4180). By hand, because there are only two rules, and the third, against formulas, is ours. */
export function csvText(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

/** An apostrophe keeps spreadsheets from interpreting a cell as a formula. */
function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[\s]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
