/** What badges say unless an operator chose other words. */

import type { State } from '../model/state.ts';

/** `{n}` stands for a number. */
export interface BadgeWords extends Readonly<Record<State, string>> {
  readonly stale: string;
  readonly open: string;
  readonly noneOpen: string;
  readonly ongoing: string;
  readonly noneRecorded: string;
  readonly days: string;
  readonly oneDay: string;
  readonly nonePlanned: string;
  readonly inProgress: string;
}

export const ENGLISH: BadgeWords = {
  operational: 'operational',
  degraded: 'degraded',
  partial_outage: 'partial outage',
  major_outage: 'major outage',
  maintenance: 'maintenance',
  paused: 'paused',
  unknown: 'unknown',
  stale: 'stale',
  open: '{n} open',
  noneOpen: 'none open',
  ongoing: 'ongoing',
  noneRecorded: 'none recorded',
  days: '{n} days',
  oneDay: '1 day',
  nonePlanned: 'none planned',
  inProgress: 'in progress',
};
