/** What people wrote: maintenance windows and reports about disturbances. */

import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../model/time.ts';

export interface WorldMaintenance {
  readonly id: number;
  readonly title: string;
  readonly message: string;
  readonly serviceIds: readonly number[];
  readonly from: EpochMs;
  readonly to: EpochMs;
}

const REPORT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const;
type ReportStatus = (typeof REPORT_STATUSES)[number];

/** What people wrote about one disturbance. */
export interface WorldReport {
  readonly id: number;
  readonly title: string;
  readonly serviceIds: readonly number[];
  readonly impact: 'degraded_performance' | 'partial_outage' | 'major_outage';
  /** Oldest first; the last one says how it stands. */
  readonly updates: readonly [WorldUpdate, ...WorldUpdate[]];
}

interface WorldUpdate {
  readonly id: number;
  readonly status: ReportStatus;
  readonly at: EpochMs;
  readonly message: string;
}

/** Maintenance windows: two past (the first overlaps an outage), one running unless calm, one ahead. By id. */
export function worldMaintenances(startedAt: EpochMs, isCalm: boolean): readonly WorldMaintenance[] {
  const at = (offsetMs: number): EpochMs => toEpochMs(startedAt + offsetMs);
  const all: readonly WorldMaintenance[] = [
    {
      id: 1,
      title: 'Message broker upgrade',
      message: 'Orders are queued and delivered afterwards.',
      serviceIds: [5],
      from: at(-33 * DAY_MS - 30 * MINUTE_MS),
      to: at(-33 * DAY_MS + 45 * MINUTE_MS),
    },
    {
      id: 2,
      title: 'New front end',
      message: 'No impact expected.',
      serviceIds: [1],
      from: at(-15 * DAY_MS),
      to: at(-15 * DAY_MS + HOUR_MS),
    },
    {
      id: 3,
      title: 'Mail relay migration',
      message: 'Receipts may arrive late.',
      serviceIds: [7],
      from: at(-20 * MINUTE_MS),
      to: at(70 * MINUTE_MS),
    },
    {
      id: 4,
      title: 'Certificate rotation',
      message: 'Each service is interrupted for a few seconds.',
      serviceIds: [1, 2],
      from: at(DAY_MS),
      to: at(DAY_MS + 2 * HOUR_MS),
    },
  ];
  return isCalm ? all.filter(({ id }) => id !== 3) : all;
}

/** What people wrote, oldest first by id. Only what was written up to `now` counts; `world.at` cuts it. */
export function writeReports(startedAt: EpochMs, isCalm: boolean): readonly WorldReport[] {
  const at = (offsetMs: number): EpochMs => toEpochMs(startedAt + offsetMs);
  const long = -62 * DAY_MS;
  const search = -6 * DAY_MS;
  const reports: WorldReport[] = [
    {
      id: 1,
      title: 'Orders are delayed',
      serviceIds: [2, 4],
      impact: 'major_outage',
      updates: [
        {
          id: 1,
          status: 'investigating',
          at: at(long + 6 * MINUTE_MS),
          message: 'Orders cannot be saved. Customers see *Something went wrong* after the last step. Carts are kept.',
        },
        {
          id: 2,
          status: 'identified',
          at: at(long + 50 * MINUTE_MS),
          message:
            'The primary of the order database lost its disk, and **both replicas were behind**. We are restoring:\n\n' +
            '1. the midnight snapshot,\n2. the order log since then,\n3. orders queued by partners.\n\nThis takes about five hours.',
        },
        {
          id: 3,
          status: 'monitoring',
          at: at(long + 6 * HOUR_MS),
          message:
            'The shop runs on a **restored** copy. Recent orders may appear twice for a while. Nobody is charged twice.',
        },
        {
          id: 4,
          status: 'resolved',
          at: at(long + 8 * HOUR_MS),
          message:
            'All orders are in place.\n\n## What we are changing\n\n- We are alerted when a replica is more than a minute behind.\n' +
            '- We practise a restore every month, with `pg_verifybackup` before it.\n\nRead [the full postmortem](https://www.acme.example/blog/orders)',
        },
      ],
    },
    {
      id: 2,
      title: 'Search returns no results',
      serviceIds: [6],
      impact: 'partial_outage',
      updates: [
        {
          id: 5,
          status: 'investigating',
          at: at(search + 4 * MINUTE_MS),
          message: 'Most searches return no results. Browsing by category is not affected.',
        },
        {
          id: 6,
          status: 'resolved',
          at: at(search + 36 * MINUTE_MS),
          message:
            'Search works again. A deployment rebuilt the index from an empty product list. Deployments now stop if the list is empty.',
        },
      ],
    },
  ];
  if (isCalm) return reports;
  const open: WorldReport = {
    id: 3,
    title: 'Search is slow',
    serviceIds: [6],
    impact: 'degraded_performance',
    updates: [
      {
        id: 7,
        status: 'investigating',
        at: at(-35 * MINUTE_MS),
        message: 'Searches take up to **eight seconds**. Results are correct.',
      },
      {
        id: 8,
        status: 'identified',
        at: at(-10 * MINUTE_MS),
        message:
          'One of six shards is being rebuilt after a disk failure, and the others carry its load. We expect this to take half an hour.\n\n' +
          'In the meantime, you can [browse by category](https://www.acme.example/categories).',
      },
      {
        id: 9,
        status: 'resolved',
        at: at(26 * MINUTE_MS),
        message: 'The shard is back, and searches are fast again.',
      },
    ],
  };
  return [...reports, open];
}

/** Reports as they stood at an instant: without what was written later. */
export function reportsUntil(reports: readonly WorldReport[], at: EpochMs): readonly WorldReport[] {
  return reports.flatMap((report) => {
    const [first, ...later] = report.updates.filter((update) => update.at <= at);
    return first === undefined ? [] : [{ ...report, updates: [first, ...later] as const }];
  });
}
