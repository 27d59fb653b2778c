/** The English that the test reads pages in, and the words of Statuspage, as the documents list them. */

import type { State } from '../../../src/model/state.ts';

export const STATE_WORDS: Readonly<Record<State, string>> = {
  operational: 'Operational',
  degraded: 'Degraded',
  partial_outage: 'Partial outage',
  major_outage: 'Major outage',
  maintenance: 'Maintenance',
  paused: 'Paused',
  unknown: 'No data',
};

export const SENTENCES: Readonly<Record<State, string>> = {
  operational: 'All systems operational',
  degraded: 'Some systems are degraded',
  partial_outage: 'Partial outage',
  major_outage: 'Major outage',
  maintenance: 'Maintenance in progress',
  paused: 'Monitoring is paused',
  unknown: 'Current status unknown',
};

export const V2_STATES: Readonly<Record<State, string>> = {
  operational: 'operational',
  degraded: 'degraded_performance',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  maintenance: 'under_maintenance',
  paused: 'under_maintenance',
  unknown: 'degraded_performance',
};

/** Indicator and description of a page. */
export const V2_PAGE: Readonly<Record<State, readonly [string, string]>> = {
  operational: ['none', 'All Systems Operational'],
  degraded: ['minor', 'Partially Degraded Service'],
  partial_outage: ['major', 'Partial System Outage'],
  major_outage: ['critical', 'Major Service Outage'],
  maintenance: ['maintenance', 'Service Under Maintenance'],
  paused: ['maintenance', 'Checks Paused'],
  unknown: ['minor', 'Status Unknown'],
};

const STATUS_WORDS: Readonly<Record<string, string>> = { in_progress: 'In progress', postmortem: 'Postmortem' };

export function statusWord(status: string): string {
  return STATUS_WORDS[status] ?? status.slice(0, 1).toUpperCase() + status.slice(1);
}

export const IMPACT_WORDS: Readonly<Record<string, string>> = {
  'Minor impact': 'minor',
  'Major impact': 'major',
  'Critical impact': 'critical',
};

/** From the worst to the best. */
export const WORST_FIRST: readonly State[] = [
  'major_outage',
  'partial_outage',
  'degraded',
  'unknown',
  'maintenance',
  'operational',
  'paused',
];

/** The class of the mark of a day. */
export const DAY_LETTERS: Readonly<Record<string, State>> = {
  o: 'operational',
  d: 'degraded',
  p: 'partial_outage',
  m: 'major_outage',
  t: 'maintenance',
  s: 'paused',
  u: 'unknown',
};
