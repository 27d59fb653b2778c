import { now, sleep } from '../../app/clock.ts';
import { type ChannelOff, createChannels } from '../../app/notify/channels.ts';
import { singleRunner } from '../../app/single-runner.ts';
import type { Channel, ChannelKindName } from '../../config/notifications.ts';
import type { EpochMs } from '../../model/time.ts';
import { proxySettings } from '../../network/proxy.ts';
import { createDeliverer, listRecipients } from '../../notify/deliver.ts';
import type { Notice, NoticeEvent } from '../../notify/news.ts';
import type { Handover } from '../../outbox/outbox.ts';
import { type Options, revokeKey } from '../../sync/connectors/uptime-service/calls.ts';
import { type CommonOptions, openQuietly, print, requireConfig, unknownName } from '../common.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { paint, plain } from '../terminal/table.ts';

/** Kinds that open an alert, which must be closed again. */
const ON_CALL: ReadonlySet<ChannelKindName> = new Set(['pagerduty', 'opsgenie', 'grafana_oncall']);

/** Sends a test notice to a channel and prints the result. */
export async function notifyTest(id: string, options: CommonOptions): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openQuietly(config);
  const { channels, off } = await createChannels({ ...pharos, ...pharos.live, now, sleep }).known();
  const channel = channels.find((candidate) => candidate.id === id);
  if (channel === undefined) return refuse(id, channels, off, options);
  const deliverer = createDeliverer({ sendMail: pharos.live.sendMail, now, proxy: proxySettings(process.env) });
  using progress = createProgress(options.json ?? false);
  try {
    progress.doing(`sending a test message to ${id}`);
    const events: readonly NoticeEvent[] = ON_CALL.has(channel.kind)
      ? ['incident_opened', 'incident_resolved']
      : ['incident_opened'];
    const at = now();
    let handover: Handover = { outcome: 'delivered' };
    for (const event of events) {
      const notice = testNotice(event, { channel, url: config.site.url, at });
      for (const recipient of listRecipients(channel)) {
        const one = await deliverer.deliver(channel, notice, recipient);
        if (one.outcome !== 'delivered') handover = one;
      }
      if (handover.outcome !== 'delivered') break;
    }
    progress.end();
    const isDone = handover.outcome === 'delivered';
    const text = isDone
      ? `${paint('good', '✓')} ${id}: the ${channel.kind} channel accepted a test message.`
      : `${paint('bad', '✗')} ${id}: the ${channel.kind} channel did not accept a test message: ${plain(explainHandover(handover))}`;
    print(options, { ok: isDone, channel: id, kind: channel.kind, ...handover }, text);
    return isDone ? EXIT_DONE : EXIT_FAILED;
  } finally {
    await deliverer.close();
  }
}

function explainHandover(handover: Handover): string {
  return 'reason' in handover ? handover.reason : '';
}

function refuse(id: string, channels: readonly Channel[], off: readonly ChannelOff[], options: CommonOptions): number {
  const known = off.find((candidate) => candidate.id === id);
  if (known === undefined) {
    const ids = [...channels, ...off].map((channel) => channel.id);
    if (ids.length > 0) throw unknownName('channel', id, ids);
    throw new UsageError(`There is no channel "${id}", because none is configured. See docs/notifications.md.`);
  }
  print(
    options,
    { ok: false, channel: id, kind: known.kind, outcome: 'off', reason: known.reason },
    `${paint('bad', '✗')} ${id} is off: ${plain(known.reason)}`,
  );
  return EXIT_FAILED;
}

/** The notice is in English, whatever the language of the page, because the person who runs the command reads it. */
function testNotice(
  event: NoticeEvent,
  { channel, url, at }: { readonly channel: Channel; readonly url: string; readonly at: EpochMs },
): Notice {
  const slug = channel.pages?.[0] ?? 'test';
  const isOver = event === 'incident_resolved';
  return {
    id: `test-${channel.id}-${at}-${event}`,
    event,
    page: { slug, title: 'Pharos', url, language: channel.locale ?? 'en' },
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

interface RevokeOptions {
  readonly config?: string;
  readonly upstream: string;
}

/** Revokes an access key of an uptime service. */
export async function keysRevoke(keyId: string, options: RevokeOptions): Promise<number> {
  const config = requireConfig(options.config);
  const entry = config.upstreams.find((upstream) => upstream.id === options.upstream);
  if (entry === undefined)
    throw unknownName(
      'upstream',
      options.upstream,
      config.upstreams.map(({ id }) => id),
    );
  if (entry.kind !== 'uptime-service')
    throw new UsageError(`${entry.id} is a ${entry.kind} upstream. Only an uptime-service has keys to revoke.`);
  using progress = createProgress(false);
  await using pharos = await openQuietly(config);
  const upstream = pharos.live.upstreams().find((candidate) => candidate.id === entry.id);
  if (upstream === undefined) throw new TypeError(`${entry.id} is not bound`);
  const onWait = upstreamProgress(progress, now).waiting;
  progress.doing(`contacting ${entry.id}`);
  const runner = singleRunner({ http: pharos.http, store: pharos.store, now, sleep, onWait }, upstream);
  // The options were parsed with the schema of this kind.
  const outcome = await runner.run(revokeKey(entry.options as Options, keyId));
  progress.end();
  process.stdout.write(`${outcome}\n`);
  return EXIT_DONE;
}
