/** Where things are, relative to the root of their status page: the one place that knows the paths of the contract. */

/**
 * An id as one segment of a path that is safe in folders, addresses and object stores. What is plain stays as it is;
 * every other character becomes `~` and its code, so that two ids never share a segment and none climbs out.
 */
export function pathSegment(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9._-]/gu, (character) => `~${(character.codePointAt(0) ?? 0).toString(16)}~`);
  return plain.replace(/^\.+/, (dots) => '~2e~'.repeat(dots.length));
}

export const HOME_PATH = '';
export const HISTORY_PATH = 'history/';
export const UPTIME_PATH = 'uptime/';
export const REPORTS_PATH = 'reports/';
export const BADGES_PATH = 'badges/';
export const EMBED_PATH = 'embed/';
export const MANIFEST_PATH = 'site.webmanifest';
/** Answered by the server only. */
export const SUBSCRIBE_PATH = 'subscribe/';
/** Answered by the server from memory; a file on static hosts. */
export const NOW_JSON_PATH = 'api/now.json';

/** @param month  `2026-11` */
export function historyPath(month: string): string {
  return `history/${month}/`;
}

/** @param month  `2026-11` */
export function reportPath(month: string): string {
  return `reports/${month}/`;
}

export function incidentPath(slug: string): string {
  return `incidents/${pathSegment(slug)}/`;
}

export function maintenancePath(slug: string): string {
  return `maintenance/${pathSegment(slug)}/`;
}

export function componentPath(id: string): string {
  return `components/${pathSegment(id)}/`;
}

export function groupPath(id: string): string {
  return `groups/${pathSegment(id)}/`;
}
