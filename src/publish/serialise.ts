/** Views of feeds, calendars and tables as bytes. The same view gives the same text: no clock, no random ids. */

import { Feed, type Item } from 'feed';
import ical, { escape as escapeCalendarText, ICalCalendarMethod, ICalEventTransparency } from 'ical-generator';
import type { CalendarView } from '../views/calendar.ts';
import type { FeedItemView, FeedView } from '../views/feeds.ts';
import { escapeMarkup } from '../views/plain-text.ts';
import { safeHtmlOfMarkdown } from '../views/safe-html.ts';

/** Calendars are asked to come back this often. */
const CALENDAR_TTL_SECONDS = 3_600;

/** A view as JSON text that every parser takes: lone surrogates replaced, one line, a line feed at the end. */
export function jsonText(view: unknown): string {
  return `${JSON.stringify(view, (_key, value) => (typeof value === 'string' ? value.toWellFormed() : value))}\n`;
}

/** An Atom 1.0 feed. */
export function atomText(view: FeedView): string {
  return feedOf(view).atom1();
}

/** An RSS 2.0 feed. */
export function rssText(view: FeedView): string {
  return feedOf(view).rss2();
}

/** A JSON Feed 1.1. Titles are plain text there, so nothing in them is escaped. */
export function jsonFeedText(view: FeedView): string {
  return jsonText({
    version: 'https://jsonfeed.org/version/1.1',
    title: view.title,
    home_page_url: view.pageUrl,
    feed_url: view.jsonUrl,
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
      tags: tagsOf(item),
    })),
  });
}

/** The library pastes titles as HTML into CDATA sections, so they are escaped before; what it writes as text it escapes itself. */
function feedOf(view: FeedView): Feed {
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
  for (const item of view.items) feed.addItem(itemOf(item));
  return feed;
}

function itemOf(item: FeedItemView): Item {
  return {
    id: item.id,
    link: item.url,
    title: escapeMarkup(item.title),
    description: escapeMarkup(summaryText(item)),
    content: contentHtml(item),
    date: new Date(item.updatedAt),
    published: new Date(item.publishedAt),
    category: tagsOf(item).map((tag) => ({ name: tag, term: tag })),
  };
}

/** The newest word on it, in one line. */
function summaryText({ updates, status, title }: FeedItemView): string {
  const newest = updates[0]?.body.trim() ?? '';
  return `${wordsOf(status)}: ${newest === '' ? title : newest}`;
}

/** All updates, newest first, each with its status and instant. */
function contentHtml({ updates, components, kind, startsAt, endsAt }: FeedItemView): string {
  const about = components.length === 0 ? '' : `<p>${escapeMarkup(components.join(', '))}</p>\n`;
  const window =
    kind === 'maintenance' && endsAt !== null ? `<p>${timeHtml(startsAt)} – ${timeHtml(endsAt)}</p>\n` : '';
  const told = updates.map(
    ({ at, status, body }) =>
      `<p><strong>${escapeMarkup(wordsOf(status))}</strong> · ${timeHtml(at)}</p>\n${safeHtmlOfMarkdown(body)}`,
  );
  return about + window + told.join('');
}

function timeHtml(iso: string): string {
  return `<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

function tagsOf({ kind, status, impact }: FeedItemView): string[] {
  return impact === null ? [kind, status] : [kind, status, impact];
}

/** `in_progress` as `In progress`. */
function wordsOf(status: string): string {
  const words = status.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** An iCalendar. The library escapes what it knows as text, and pastes the calendar's own name and description. */
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
  return `${calendar.toString()}\r\n`;
}

/** Rows as CSV (RFC 4180, with line ends as there). */
export function csvText(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

/** What a spreadsheet would take for a formula, or for the end of its own cell, is made text by an apostrophe. */
function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[\s]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
