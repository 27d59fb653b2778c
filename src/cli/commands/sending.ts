/** Commands that send to other systems: exports, test messages, and the revocation of keys. */

import type { StoreParts } from '../../app/build-store.ts';
import { now, sleep } from '../../app/clock.ts';
import { createChannels } from '../../app/notify/channels.ts';
import { singleRunner } from '../../app/probe.ts';
import type { Channel } from '../../config/notifications.ts';
import {
  countEvents,
  type DeliveryDeps,
  type DeliveryReport,
  deliver,
  EVENT_STATES,
  lastExportError,
  listEvents,
  newEvents,
  retryParked,
} from '../../exports/deliver.ts';
import type { EpochMs } from '../../model/time.ts';
import { proxySettings } from '../../network/proxy.ts';
import { createDeliverer, isOnCall, listRecipients, mailTo } from '../../notify/deliver.ts';
import type { Notice, NoticeEvent } from '../../notify/news.ts';
import type { Handover } from '../../outbox/outbox.ts';
import { counted } from '../../schema/counted.ts';
import { revokeKey, type Options as ServiceOptions } from '../../sync/connectors/uptime-service/calls.ts';
import {
  type Options,
  openQuietly,
  openToRead,
  print,
  requireConfig,
  requireUpstream,
  unknownName,
} from '../common.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { allDone, createProgress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { mark, plain, table } from '../terminal/table.ts';

const EVENTS_SHOWN = 50;

/** Lists queued, sent, rejected and parked events, and sends them on request. */
export async function exportsCommand(options: Options<never, 'send' | 'retry' | 'dryRun'>): Promise<number> {
  const config = requireConfig(options.config);
  const isReading = options.send !== true && options.retry !== true;
  await using pharos = await (isReading ? openToRead(config) : openQuietly(config));
  if (options.dryRun === true) return await dryRun(pharos, options);
  const { database } = pharos.store;
  if (options.retry === true) for (const { id } of config.exports) await retryParked(database, id);
  const sent = options.send === true ? await send(pharos, options.json ?? false) : [];
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
    events.map(({ state, event, incident, reason }) => [
      id,
      state,
      ...[event['employee_id'], event['starts_at'], event['hours']].map(String),
      incident,
      reason ?? '',
    ]),
  );
  const lines = listed.map(
    ({ export: id, counts, lastError }) =>
      `${id}: ${EVENT_STATES.map((state) => `${counts[state]} ${state}`).join(', ')}${lastError === null ? '' : `; ${lastError}`}`,
  );
  const head = ['export', 'state', 'employee', 'starts', 'hours', 'incident', 'reason'];
  if (rows.length > 0) lines.push('', table(head, rows));
  const text = config.exports.length === 0 ? 'No exports are configured.' : lines.join('\n');
  const hasFailed = sent.some(({ error }) => error !== null);
  return print(options, { exports: listed, sent }, text, !hasFailed);
}

async function send(pharos: StoreParts, isQuiet: boolean): Promise<readonly DeliveryReport[]> {
  using progress = createProgress(isQuiet);
  return await deliverAll(pharos, (done, total) => progress.doing(`sent ${done} of ${counted(total, 'exports')}`));
}

async function dryRun(pharos: StoreParts, options: Options): Promise<number> {
  const deps = deliveryDeps(pharos);
  const { exports } = pharos.live.config();
  const pending = await Promise.all(
    exports.map(async (one) => ({ export: one.id, events: await newEvents(one, deps) })),
  );
  const rows = pending.flatMap(({ export: id, events }) =>
    events.map(({ employee_id, starts_at, ends_at, hours, payload }) => [
      ...[id, String(employee_id), starts_at, ends_at, String(hours)],
      payload['title'] ?? '',
    ]),
  );
  const head = ['export', 'employee', 'starts', 'ends', 'hours', 'incident'];
  return print(options, { dryRun: pending }, rows.length === 0 ? 'Nothing would be queued.' : table(head, rows));
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

/** Queues and sends for every export. Failures are part of its report. `tell` gets the number of finished exports. */
export async function deliverAll(pharos: StoreParts, tell: (done: number, total: number) => void = () => undefined) {
  const deps = deliveryDeps(pharos);
  const { exports } = pharos.live.config();
  return allDone(
    exports.map((one) => deliver(one, deps)),
    tell,
  );
}

/** Sends a test notice to a channel and prints the result. */
export async function notifyTest(id: string, options: Options): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openQuietly(config);
  const { channels, off } = await createChannels({ ...pharos, ...pharos.live, now, sleep }).known();
  const channel = channels.find((candidate) => candidate.id === id);
  if (channel === undefined) {
    const known = off.find((candidate) => candidate.id === id);
    const ids = [...channels, ...off].map((one) => one.id);
    if (known === undefined && ids.length > 0) throw unknownName('channel', id, ids);
    if (known === undefined)
      throw new UsageError(`There is no channel "${id}", because none is configured. See docs/notifications.md.`);
    const { kind, reason } = known;
    const text = `${mark('bad')} ${id} is off: ${plain(reason)}`;
    return print(options, { ok: false, channel: id, kind, outcome: 'off', reason }, text, false);
  }
  const deliverer = createDeliverer({ sendMail: pharos.live.sendMail, now, proxy: proxySettings(process.env) });
  using progress = createProgress(options.json ?? false);
  try {
    progress.doing(`sending a test message to ${id}`);
    const events: NoticeEvent[] = ['incident_opened', ...(isOnCall(channel) ? ['incident_resolved' as const] : [])];
    const at = now();
    let handover: Handover = { outcome: 'delivered' };
    const [recipients, reasons] = [listRecipients(channel), [] as string[]];
    for (const event of events) {
      const notice = testNotice(event, channel, config.site.url, at);
      for (const recipient of recipients) {
        const one = await deliverer.deliver(channel, notice, recipient);
        if (one.outcome === 'delivered') continue;
        const to = channel.kind === 'email' ? `${mailTo(recipient, channel.settings, notice)?.to}: ` : '';
        if ('reason' in one) reasons.push(`${recipients.length > 1 ? to : ''}${one.reason}`);
        handover = 'reason' in one ? { ...one, reason: reasons.join('; ') } : one;
      }
      if (handover.outcome !== 'delivered') break;
    }
    progress.end();
    const isDone = handover.outcome === 'delivered';
    const text = isDone
      ? `${mark('good')} ${id}: the ${channel.kind} channel accepted a test message.`
      : `${mark('bad')} ${id}: the ${channel.kind} channel did not accept a test message: ${plain('reason' in handover ? handover.reason : '')}`;
    return print(options, { ok: isDone, channel: id, kind: channel.kind, ...handover }, text, isDone);
  } finally {
    await deliverer.close();
  }
}

/** The notice is in English, whatever the language of the page, because the person who runs the command reads it. */
function testNotice(event: NoticeEvent, channel: Channel, url: string, at: EpochMs): Notice {
  const isOver = event === 'incident_resolved';
  return {
    id: `test-${channel.id}-${at}-${event}`,
    event,
    page: { slug: channel.pages?.[0] ?? 'test', title: 'Pharos', url, language: channel.locale ?? 'en' },
    subject: {
      id: `test-${channel.id}-${at}`,
      title: 'Test message',
      url,
      impact: 'none',
      status: isOver ? 'resolved' : 'investigating',
      startedAt: at,
      endsAt: isOver ? at : null,
    },
    components: [],
    text: `This is a test of the notification channel ${channel.id}. Nothing is wrong.`,
    at,
  };
}

/** Revokes an access key of an uptime service. */
export async function keysRevoke(keyId: string, options: Options & { readonly upstream: string }): Promise<number> {
  const config = requireConfig(options.config);
  const entry = requireUpstream(config, options.upstream);
  if (entry.kind !== 'uptime-service')
    throw new UsageError(`${entry.id} is a ${entry.kind} upstream. Only an uptime-service has keys to revoke.`);
  using progress = createProgress(false);
  await using pharos = await openQuietly(config);
  const upstream = pharos.live.upstreams().find(({ id }) => id === entry.id);
  if (upstream === undefined) throw new TypeError(`${entry.id} is not bound`);
  const onWait = upstreamProgress(progress, now).waiting;
  progress.doing(`contacting ${entry.id}`);
  const runner = singleRunner({ http: pharos.http, store: pharos.store, now, sleep, onWait }, upstream);
  // The options were parsed with the schema of this kind.
  const outcome = await runner.run(revokeKey(entry.options as ServiceOptions, keyId));
  progress.end();
  process.stdout.write(`${outcome}\n`);
  return EXIT_DONE;
}
