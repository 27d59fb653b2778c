/** What the configuration would say of one answer, so that it can be given again at once. */

import { stringify } from 'yaml';
import { parseConfig } from '../../config/load.ts';
import { isStatusError } from '../../errors.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';

/** A configuration in which nothing else is wrong. */
const SITE = { url: 'https://status.example.com', name: 'Status' };

/** Of a key of `site`. @returns a sentence; null: it can be used */
export function faultOfSite(key: 'name' | 'url', answer: string): string | null {
  return faultAt(`site.${key}`, { site: { ...SITE, [key]: answer } });
}

/** Of a key of an upstream, among those that were answered before. @returns a sentence; null: it can be used */
export function faultOfUpstream(key: string, upstream: Readonly<Record<string, unknown>>): string | null {
  return faultAt(`upstreams[0].${key}`, { site: SITE, upstreams: [upstream] });
}

function faultAt(path: string, config: object): string | null {
  try {
    parseConfig({ text: stringify(config), file: null, folder: process.cwd() }, CONNECTORS, {});
    return null;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const found = error.issues.find((issue) => issue.path === path || issue.path.startsWith(`${path}.`));
    // There is no file yet, so the line says nothing.
    return found === undefined ? null : sentence(found.message.replace(/ \(line \d+\)$/, ''));
  }
}

function sentence(words: string): string {
  const end = /[.?]$/.test(words) ? '' : '.';
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${end}`;
}
