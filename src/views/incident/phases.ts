/** How far an incident or a maintenance has come: the statuses it went through, and those it has before it. */

import type { EpochMs, IncidentStatus, PageIncident } from '../../model/index.ts';
import type { PageFrame } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import type { TimeView } from '../text/format.ts';
import { statusWord } from '../words/state-words.ts';

export interface PhaseView {
  readonly word: string;
  /** When it was reached; null: it is still to come. */
  readonly at: TimeView | null;
  /** How long after the beginning, as `+12 min`; empty at the beginning and where it is still to come. */
  readonly after: string;
  readonly isCurrent: boolean;
}

const USUAL: readonly IncidentStatus[] = ['investigating', 'identified', 'monitoring', 'resolved'];

/** Each status once, by when it was reached first. Of one that goes on, those that usually follow; none where there is no line. */
export function listPhases(
  { words, format }: ViewContext<PageFrame>,
  { updates, startedAt, status }: PageIncident,
  isOpen: boolean,
): PhaseView[] {
  const reached = new Map<string, EpochMs>();
  for (const update of updates) if (update.status !== null) reached.getOrInsert(update.status, update.at);
  const coming = isOpen ? USUAL.slice(USUAL.indexOf(status) + 1).filter((one) => !reached.has(one)) : [];
  const phases = [
    ...[...reached].map(([one, at]) => ({
      word: statusWord(one, words),
      at: format.timeInYear(at),
      after: at - startedAt < 60_000 ? '' : `+${format.duration(at - startedAt)}`,
      isCurrent: one === status,
    })),
    ...coming.map((one) => ({ word: statusWord(one, words), at: null, after: '', isCurrent: false })),
  ];
  return phases.length > 1 ? phases : [];
}
