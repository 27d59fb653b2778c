/** Nothing about a past day changes without a correction in the page's log. */

import { committedDays } from '../../src/transparency/entries.ts';
import type { Published } from './publish-world.ts';

interface UptimeJson {
  readonly utc_days: readonly string[];
  readonly components: readonly {
    readonly id: string;
    readonly utc: readonly { readonly days: readonly number[]; readonly [figures: string]: unknown }[];
  }[];
}

/** What differs between what a page says of days that are over, what its log says of them, and what it said before. */
export function differencesOfPast(now: Published, before: Published | null): string[] {
  const found: string[] = [];
  const committed = committedDays(now.log, (fault) => found.push(fault));
  const said = pastOf(now);
  for (const [place, figures] of said) {
    const signed = committed.get(place)?.figures ?? null;
    if (signed !== figures) found.push(`uptime.json: ${place} is ${figures}, and the log has ${signed}`);
  }
  if (before === null) return found;
  const since = now.log.slice(before.log.length);
  const corrected = new Set(
    since.flatMap((entry) =>
      entry.kind === 'corrections' ? entry.corrections.map(({ component, day }) => `${component} ${day}`) : [],
    ),
  );
  const firsts = new Map<string, string>();
  for (const place of committedDays(before.log).keys()) {
    const [component = '', day = ''] = place.split(' ');
    if (day < (firsts.get(component) ?? '~')) firsts.set(component, day);
  }
  for (const [place, was] of pastOf(before)) {
    const is = said.get(place);
    const [component = '', day = ''] = place.split(' ');
    // Of days before the first that it knew of, the page had said nothing.
    const isFirst = was === null && day < (firsts.get(component) ?? '~');
    if (is !== undefined && is !== was && !isFirst && !corrected.has(place))
      found.push(`uptime.json: ${place} was ${was} and is ${is} without a correction`);
  }
  return found;
}

type Past = ReadonlyMap<string, string | null>;

/** What is published is compared with what comes after it, and then with what came before. */
const pasts = new WeakMap<Published, Past>();
const pastOf = (published: Published): Past => pasts.getOrInsertComputed(published, readPast);

/** Figures of each component and closed day; `null`: nothing is known of it. */
function readPast({ files }: Published): Past {
  const { utc_days, components } = JSON.parse(files.get('api/uptime.json') ?? '') as UptimeJson;
  return new Map(
    components.flatMap(({ id, utc }) => {
      const byDay = new Map<number, string>();
      for (const { days, ...figures } of utc) {
        const text = JSON.stringify(figures);
        for (const at of days) byDay.set(at, text);
      }
      return utc_days.map((day, at): [string, string | null] => [`${id} ${day}`, byDay.get(at) ?? null]);
    }),
  );
}
