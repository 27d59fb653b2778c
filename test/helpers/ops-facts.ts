/** Facts for the operators' page: everything at once, some of it in trouble. */

import { toEpochMs } from '../../src/model/time.ts';
import type { OpsFacts } from '../../src/views/operators/ops-facts.ts';

export const OPS_NOW = toEpochMs(Date.parse('2026-11-21T09:30:00Z'));
const ago = (seconds: number) => toEpochMs(OPS_NOW - seconds * 1_000);

/** A site with a failing upstream, a waiting run, a page that can be rolled back, and a rejected export. */
export function opsFacts(overrides: Partial<OpsFacts> = {}): OpsFacts {
  return {
    now: OPS_NOW,
    version: '0.1.0',
    siteName: 'Acme',
    timezone: 'UTC',
    canRun: true,
    upstreams: [
      {
        id: 'edge',
        kind: 'server-monitor',
        heardAt: ago(12),
        intervalMs: 60_000,
        isStale: false,
        monitorsTotal: 12,
        quota: [
          { lengthMs: 75_000, max: 60, left: 57 },
          { lengthMs: 3_615_000, max: 1_000, left: 420 },
        ],
        circuit: { kind: 'closed' },
        places: [],
        lastError: null,
        notes: ['pages.1: left out: its own colours'],
      },
      {
        id: 'svc',
        kind: 'uptime-service',
        heardAt: ago(900),
        intervalMs: 60_000,
        isStale: true,
        monitorsTotal: null,
        quota: [],
        circuit: { kind: 'open', why: 'failing', until: ago(-240) },
        places: [],
        lastError: { at: ago(30), code: 'UPSTREAM_FAILED', message: 'svc answered 502' },
        notes: [],
      },
    ],
    runs: [
      { id: 'run-3', trigger: 'hook', startedAt: null, endedAt: null, hasFailed: false, outcome: '' },
      { id: 'run-2', trigger: 'rebuild', startedAt: ago(3), endedAt: null, hasFailed: false, outcome: '' },
      {
        id: 'run-1',
        trigger: 'schedule',
        startedAt: ago(40),
        endedAt: ago(39),
        hasFailed: true,
        outcome: 'svc failed',
      },
    ],
    pages: [
      {
        slug: 'acme',
        title: 'Acme <b>bold</b>',
        url: 'https://status.example.com/acme/',
        access: 'public',
        release: { number: 12, asOf: ago(60), filesTotal: 214, bytesTotal: 1_234_567 },
        others: [{ number: 11, asOf: ago(4_000) }],
      },
      {
        slug: 'staff',
        title: 'Staff',
        url: 'https://status.example.com/staff/',
        access: 'email-domain',
        release: null,
        others: [],
      },
    ],
    pagesTotal: 2,
    unpublishedTotal: 1,
    heldPages: [],
    problems: [{ slug: 'twice', message: 'two upstreams define this slug' }],
    exports: [{ id: 'payroll', queued: 2, sent: 40, rejected: 1, parked: 0, lastError: null }],
    targets: [],
    mail: { isNeeded: true, isConfigured: false, isPrinted: false, waiting: 0 },
    audit: [
      {
        at: ago(3),
        actor: 'operator',
        action: 'rebuild',
        subject: 'acme',
        client: 'q7Vw0bYxK1mN',
        outcome: null,
      },
    ],
    subscribers: [{ page: 'acme', active: 12, paused: 1, pending: 2 }],
    notices: [{ channel: 'email', queued: 0, sent: 30, rejected: 1, parked: 0, lastError: null }],
    signIns: [{ page: 'staff', signedIn: 4, refused: 1, limited: 0 }],
    ...overrides,
  };
}
