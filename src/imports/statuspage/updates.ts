/** Updates of an incident or a maintenance, and what they say of components. */

import { type EpochMs, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import type { IncidentPost, PostUpdate } from '../../sync/connectors/markdown/schema.ts';
import { quoted } from '../names.ts';
import { type Event, UpdateSchema } from './schema.ts';

/** The few elements of HTML that others write their updates with, as Markdown; everything else stays text. */

const RULES: readonly (readonly [RegExp, string])[] = [
  [/<br\s*\/?>\r?\n?/gi, '\n'],
  [/<p(?:\s[^<>]*)?>/gi, ''],
  [/<\/p>\s*/gi, '\n\n'],
  [/<(?:b|strong)>([^<>]*)<\/(?:b|strong)>/gi, '**$1**'],
  [/<(?:i|em)>([^<>]*)<\/(?:i|em)>/gi, '*$1*'],
  [/<code>([^<>`]*)<\/code>/gi, '`$1`'],
  [/<li(?:\s[^<>]*)?>/gi, '\n- '],
  [/<\/li>|<\/?[uo]l(?:\s[^<>]*)?>/gi, '\n'],
  [/<a\s[^<>]*?href="(https?:\/\/[^"<>\s()]*)"[^<>]*>([^<>[\]]*)<\/a>/gi, '[$2]($1)'],
];

/** Text with a little HTML in it as Markdown, in which markup means nothing. */
function toMarkdown(text: string): string {
  if (!/<\/?[a-z]/i.test(text)) return text;
  return RULES.reduce((words, [pattern, to]) => words.replace(pattern, to), text)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

type Declared = NonNullable<IncidentPost['impacts']>[number]['components'][string];

/** States of components, and what a post calls them. */
const STATES: Readonly<Record<string, Declared>> = {
  operational: 'operational',
  degraded_performance: 'degraded',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  full_outage: 'major_outage',
  under_maintenance: 'maintenance',
};

interface UpdatesContext {
  /** Slug of the page. */
  readonly page: string;
  /** Ours by theirs. */
  readonly ids: ReadonlyMap<string, string>;
  readonly tell: (message: string) => void;
  readonly lose: (message: string) => void;
}

interface ReadUpdates {
  /** Oldest first. */
  readonly updates: readonly PostUpdate[];
  readonly impacts: NonNullable<IncidentPost['impacts']>;
  /** Components that updates name, as they are called there. */
  readonly codes: ReadonlySet<string>;
}

/** The updates of an incident or a maintenance. */
export function readUpdates(
  event: Event,
  words: readonly PostUpdate['status'][],
  context: UpdatesContext,
): ReadUpdates {
  const { tell, lose, ids, page } = context;
  const codes = new Set<string>();
  const states: { at: EpochMs; components: Record<string, Declared> }[] = [];
  const updates = (event.incident_updates ?? []).flatMap((item): PostUpdate[] => {
    const parsed = check(UpdateSchema, item);
    if (!parsed.success) {
      lose(`an update is unreadable: ${faultText(parsed.faults[0])}`);
      return [];
    }
    const { status, body, created_at: createdAt, display_at: displayAt, affected_components: affected } = parsed.data;
    const at = displayAt ?? createdAt;
    const known = words.find((word) => word === status) ?? null;
    if (known === null) tell(`an update has the unknown status ${wordText(status)}; it was imported without a status`);
    const components: Record<string, Declared> = {};
    for (const { code, new_status: word } of affected ?? []) {
      codes.add(code);
      const id = ids.get(code);
      const state = typeof word === 'string' && Object.hasOwn(STATES, word) ? STATES[word] : undefined;
      if (state === undefined)
        tell(`an update sets a component to the unknown state ${wordText(word)}; that state was left out`);
      else if (id !== undefined) components[`${page}/${id}`] = state;
    }
    if (Object.keys(components).length > 0) states.push({ at, components });
    return [{ at, status: known, body: toMarkdown(body ?? '') }];
  });
  if (event.postmortem_body !== null && !updates.some((one) => one.status === 'postmortem')) {
    const at = event.postmortem_published_at ?? event.resolved_at;
    if (at == null) lose('its postmortem has no time');
    else updates.push({ at, status: 'postmortem', body: toMarkdown(event.postmortem_body) });
  }
  const byTime = Map.groupBy(states, ({ at }) => at);
  return {
    // Theirs stand newest first.
    updates: updates.toReversed().toSorted((a, b) => a.at - b.at),
    impacts: [...byTime]
      .toSorted(([a], [b]) => a - b)
      .map(([at, same]) => ({
        at: toIso(at),
        components: Object.assign({}, ...same.toReversed().map(({ components }) => components)) as Record<
          string,
          Declared
        >,
      })),
    codes,
  };
}

/** A word of theirs in a message. */
export function wordText(word: unknown): string {
  return typeof word === 'string' ? quoted(word) : typeof word;
}
