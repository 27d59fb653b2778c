import type { StoreParts } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { type DeliveryDeps, type DeliveryReport, deliver, newEvents } from '../../exports/deliver.ts';
import { countEvents, EVENT_STATES, lastExportError, listEvents, retryParked } from '../../exports/event-queue.ts';
import { counted } from '../../schema/counted.ts';
import { type CommonOptions, openQuietly, openToRead, print, requireConfig } from '../common.ts';
import { EXIT_DONE, EXIT_FAILED } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';

interface ExportsOptions extends CommonOptions {
  /** Queue and send everything that is due. */
  readonly send?: boolean;
  /** Queue parked events again before sending. */
  readonly retry?: boolean;
  /** Show what would be queued, and change nothing. */
  readonly dryRun?: boolean;
}

const EVENTS_SHOWN = 50;

/** Lists queued, sent, rejected and parked events, and sends them on request. */
export async function exportsCommand(options: ExportsOptions): Promise<number> {
  const config = requireConfig(options.config);
  const isReading = options.send !== true && options.retry !== true;
  await using pharos = await (isReading ? openToRead(config) : openQuietly(config));
  if (options.dryRun === true) return await dryRun(pharos, options);
  const { database } = pharos.store;
  if (options.retry === true) for (const { id } of config.exports) await retryParked(database, id);
  const reports = options.send === true ? await send(pharos, options.json ?? false) : [];
  const listed = await Promise.all(
    config.exports.map(async ({ id }) => ({
      export: id,
      counts: await countEvents(database, id),
      lastError: await lastExportError(database, id),
      events: (await listEvents(database, id, EVENTS_SHOWN)).map(({ document, ...event }) => ({
        ...event,
        event: JSON.parse(document) as Record<string, unknown>,
      })),
    })),
  );
  const rows = listed.flatMap(({ export: id, events }) =>
    events.map((event) => [
      id,
      event.state,
      String(event.event['employee_id']),
      String(event.event['starts_at']),
      String(event.event['hours']),
      event.incident,
      event.reason ?? '',
    ]),
  );
  const summaries = listed.map(
    ({ export: id, counts, lastError }) =>
      `${id}: ${EVENT_STATES.map((state) => `${counts[state]} ${state}`).join(', ')}${lastError === null ? '' : `; ${lastError}`}`,
  );
  const text =
    config.exports.length === 0
      ? 'No exports are configured.'
      : [
          ...summaries,
          ...(rows.length === 0
            ? []
            : ['', table(['export', 'state', 'employee', 'starts', 'hours', 'incident', 'reason'], rows)]),
        ].join('\n');
  print(options, { exports: listed, sent: reports }, text);
  return reports.some((report) => report.error !== null) ? EXIT_FAILED : EXIT_DONE;
}

async function send(pharos: StoreParts, isQuiet: boolean): Promise<readonly DeliveryReport[]> {
  using progress = createProgress(isQuiet);
  const tell = (done: number, total: number): void => progress.doing(`sent ${done} of ${counted(total, 'exports')}`);
  tell(0, pharos.live.config().exports.length);
  return await deliverAll(pharos, tell);
}

async function dryRun(pharos: StoreParts, options: ExportsOptions): Promise<number> {
  const deps = deliveryDeps(pharos);
  const pending = await Promise.all(
    pharos.live
      .config()
      .exports.map(async (options) => ({ export: options.id, events: await newEvents(options, deps) })),
  );
  const rows = pending.flatMap(({ export: id, events }) =>
    events.map((event) => [
      id,
      String(event.employee_id),
      event.starts_at,
      event.ends_at,
      String(event.hours),
      event.payload['title'] ?? '',
    ]),
  );
  print(
    options,
    { dryRun: pending },
    rows.length === 0
      ? 'Nothing would be queued.'
      : table(['export', 'employee', 'starts', 'ends', 'hours', 'incident'], rows),
  );
  return EXIT_DONE;
}

/** The dependencies of an export. */
function deliveryDeps({ store, http }: StoreParts): DeliveryDeps {
  return {
    database: store.database,
    incidents: async (from) => (await store.incidents(from)).filter(({ isOverride }) => isOverride !== true),
    post: async ({ url, headers, body, accepts }) => {
      const question = { method: 'POST', url, headers, body, acceptStatuses: accepts, reads: 'text' } as const;
      const { status, payload } = await http.request(question, { now });
      return { status, text: String(payload) };
    },
    now,
    random: Math.random,
  };
}

/**
 * Queues and sends for every export. Failures are part of its report.
 *
 * @param onDone  called with the number of finished exports
 */
export async function deliverAll(
  pharos: StoreParts,
  onDone?: (done: number, total: number) => void,
): Promise<readonly DeliveryReport[]> {
  const deps = deliveryDeps(pharos);
  const { exports } = pharos.live.config();
  let done = 0;
  return Promise.all(
    exports.map(async (options) => {
      const report = await deliver(options, deps);
      done += 1;
      onDone?.(done, exports.length);
      return report;
    }),
  );
}
