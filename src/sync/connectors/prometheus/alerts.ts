/** Alerts of an Alertmanager as incidents of the monitors that the configuration names them for. */

import {
  type Incident,
  type IncidentImpact,
  type MonitorId,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { EpochMs } from '../../../model/time.ts';
import { parseItems, uniqueById } from '../items.ts';
import { unknownWord } from '../wire.ts';
import { type Alert, AlertSchema } from './schema.ts';

/** Muted alerts are not shown. */
const SUPPRESSED = 'suppressed';
export const ALERT_STATES = ['active', 'unprocessed', SUPPRESSED] as const;

/** As rules usually call them; another word has some impact. */
const IMPACTS: Readonly<Record<string, IncidentImpact>> = {
  critical: 'critical',
  page: 'critical',
  error: 'major',
  major: 'major',
  warning: 'minor',
  info: 'none',
  none: 'none',
};

/** Which alerts are about a monitor: labels that they must have. */
interface AlertRule {
  readonly id: string;
  readonly selectors: readonly Readonly<Record<string, string>>[];
}

interface AlertsOptions {
  readonly upstreamId: string;
  readonly rules: readonly AlertRule[];
  readonly now: EpochMs;
  /** What is known of those that were open, by id there. */
  readonly open: ReadonlyMap<string, Incident>;
}

/**
 * The alerts that concern a monitor, sorted by id; one that was open and is not among them any more is over as of now, unless
 * it may be among those that cannot be read (`isSure` false). Never throws.
 */
export function projectAlerts(
  items: readonly unknown[],
  { upstreamId, rules, now, open }: AlertsOptions,
): { incidents: Incident[]; problems: Problem[]; isSure: boolean } {
  const { items: alerts, problems } = parseItems(AlertSchema, items, 'alerts');
  const words: Problem[] = [];
  const firing = alerts.flatMap((alert, index): Incident[] => {
    const { state } = alert.status;
    if (!ALERT_STATES.some((word) => word === state)) words.push(unknownWord(`alerts[${index}].status.state`, state));
    const id = `${upstreamId}/${idOf(alert)}`;
    const monitors = monitorsOf(alert, rules, upstreamId);
    const isMuted = state === SUPPRESSED && !open.has(idOf(alert));
    return monitors.length === 0 || isMuted ? [] : [incidentOf(alert, { id, monitors })];
  });
  const unique = uniqueById(firing);
  const listed = new Set(alerts.filter((alert) => monitorsOf(alert, rules, upstreamId).length > 0).map(idOf));
  const isSure = problems.length === 0;
  const ended = [...open]
    .filter(([id]) => isSure && !listed.has(id))
    .map(([id, known]) => endedAt({ ...known, id: `${upstreamId}/${id}` }, now));
  return {
    incidents: uniqueById([...unique.items, ...ended]).items,
    problems: [...problems, ...words, ...unique.problems],
    isSure,
  };
}

/** The same labels fire again and again; each time is a story of its own. */
function idOf({ fingerprint, startsAt }: Alert): string {
  return `alert/${fingerprint}/${startsAt}`;
}

function monitorsOf({ labels }: Alert, rules: readonly AlertRule[], upstreamId: string): MonitorId[] {
  const isMatch = (wanted: Readonly<Record<string, string>>): boolean =>
    Object.entries(wanted).every(([label, value]) => (labels[label] ?? '') === value);
  return rules.filter(({ selectors }) => selectors.some(isMatch)).map(({ id }) => toMonitorId(upstreamId, id));
}

function incidentOf(
  { startsAt, labels, annotations }: Alert,
  { id, monitors }: { readonly id: string; readonly monitors: readonly MonitorId[] },
): Incident {
  const severity = (labels['severity'] ?? '').toLowerCase();
  return {
    id,
    title: (annotations.summary ?? labels['alertname'] ?? 'Alert').slice(0, 500),
    status: 'investigating',
    impact: (Object.hasOwn(IMPACTS, severity) ? IMPACTS[severity] : undefined) ?? 'minor',
    startedAt: startsAt,
    endedAt: null,
    monitors,
    components: [],
    pages: null,
    affectedState: null,
    isOutage: false,
    updates: [
      {
        id: 'firing',
        at: startsAt,
        status: 'investigating',
        body: annotations.description ?? annotations.message ?? '',
      },
    ],
  };
}

function endedAt(known: Incident, now: EpochMs): Incident {
  return {
    ...known,
    status: 'resolved',
    endedAt: now,
    updates: [...known.updates, { id: 'resolved', at: now, status: 'resolved', body: '' }],
  };
}
