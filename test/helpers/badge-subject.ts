/** A page's figures with defaults, so that a test names only what it is about. */

import { LOOKS } from '../../src/looks/states.ts';
import { STATES, type State } from '../../src/model/state.ts';
import { DAY_MS, toEpochMs } from '../../src/model/time.ts';
import type { BadgeSubject } from '../../src/views/badges/badge-subjects.ts';

/** 2026-11-21T09:13:00Z. */
export const NOW = toEpochMs(1_795_252_380_000);

export function badgeSubject(changes: Partial<BadgeSubject> = {}): BadgeSubject {
  return {
    name: 'Acme',
    state: 'operational',
    isStale: false,
    uptime: { '24h': 1, '7d': 0.99994, '30d': 0.99871, '90d': 0.9998765, '365d': null },
    responseTime: { averageMs: 141.2, p95Ms: 388 },
    responseSeries: Array.from({ length: 48 }, (_, index) => 140 + 60 * Math.sin(index / 4) + (index % 5) * 9),
    days: Array.from({ length: 90 }, (_, index) => LOOKS[dayState(index)].letter).join(''),
    openIncidents: 0,
    incidents30d: 2,
    lastIncidentEndedAt: toEpochMs(NOW - 12.4 * DAY_MS),
    nextMaintenanceAt: toEpochMs(NOW + 3 * DAY_MS),
    timezone: 'UTC',
    now: NOW,
    ...changes,
  };
}

/** Mostly well, with every state once in a while. */
function dayState(index: number): State {
  if (index < 12) return 'unknown';
  return index % 11 === 5 ? (STATES[Math.floor(index / 11) % STATES.length] ?? 'unknown') : 'operational';
}
