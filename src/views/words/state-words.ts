/** The words for states, statuses and impacts, in the language of the page. */

import type { IncidentImpact, IncidentStatus, MaintenanceStatus, State } from '../../model/index.ts';
import type { Words } from './index.ts';

type PlainKey = { [Key in keyof Words]: Words[Key] extends string ? Key : never }[keyof Words];

/** The word for a state, and the sentence at the top of a page in it. */
const STATE_KEYS: Readonly<Record<State, readonly [word: PlainKey, sentence: PlainKey]>> = {
  operational: ['stateOperational', 'bannerOperational'],
  degraded: ['stateDegraded', 'bannerDegraded'],
  partial_outage: ['statePartialOutage', 'bannerPartialOutage'],
  major_outage: ['stateMajorOutage', 'bannerMajorOutage'],
  maintenance: ['stateMaintenance', 'bannerMaintenance'],
  paused: ['statePaused', 'bannerPaused'],
  unknown: ['stateUnknown', 'bannerUnknown'],
};

/** The sentences that list components in trouble, `{names}`, by their state; worst first. */
export const TROUBLE_KEYS = [
  ['major_outage', 'bannerDown'],
  ['partial_outage', 'bannerPartlyDown'],
  ['degraded', 'bannerSlow'],
  ['unknown', 'bannerNotHeard'],
  ['maintenance', 'bannerInMaintenance'],
] as const satisfies readonly (readonly [State, PlainKey])[];

const STATUS_KEYS: Readonly<Record<IncidentStatus | MaintenanceStatus, PlainKey>> = {
  investigating: 'statusInvestigating',
  identified: 'statusIdentified',
  monitoring: 'statusMonitoring',
  resolved: 'statusResolved',
  postmortem: 'statusPostmortem',
  scheduled: 'statusScheduled',
  in_progress: 'statusInProgress',
  verifying: 'statusVerifying',
  completed: 'statusCompleted',
};

const IMPACT_KEYS: Readonly<Record<IncidentImpact, PlainKey>> = {
  none: 'impactNone',
  minor: 'impactMinor',
  major: 'impactMajor',
  critical: 'impactCritical',
};

export function stateWord(state: State, words: Words): string {
  return words[STATE_KEYS[state][0]];
}

/** The sentence at the top of a page. */
export function bannerSentence(state: State, words: Words): string {
  return words[STATE_KEYS[state][1]];
}

/** The word for an incident's or a maintenance's status; an update without one, or with one we do not know, is an "Update". */
export function statusWord(status: string | null, words: Words): string {
  return status !== null && status in STATUS_KEYS
    ? words[STATUS_KEYS[status as keyof typeof STATUS_KEYS]]
    : words.statusUpdate;
}

export function impactWord(impact: IncidentImpact, words: Words): string {
  return words[IMPACT_KEYS[impact]];
}
