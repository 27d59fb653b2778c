/** Third of the four builders: notifications to subscribers and channels. Nothing is sent yet. */

import { createDeliverer, listRecipients } from '../notify/deliver.ts';
import type { ServeParts } from './build-serve.ts';
import type { StoreParts } from './build-store.ts';
import { now, sleep } from './clock.ts';
import { createChannels } from './notify/channels.ts';
import { createNotices } from './notify/notices.ts';

interface TellOptions {
  /** Prints mails instead of sending them. */
  readonly printsMail: boolean;
  /** False: other nodes send what is queued. */
  readonly isSending: boolean;
}

export type TellParts = ReturnType<typeof buildTell>;

export function buildTell(base: StoreParts, serving: ServeParts, { printsMail, isSending }: TellOptions) {
  const { live, database, key, log, closing, http, store } = base;
  const { access, keeper, draw, metrics } = serving;
  const deliverer = createDeliverer({ sendMail: live.sendMail, now, proxy: base.proxy });
  closing.defer(deliverer.close);
  const channels = createChannels({ config: live.config, upstreams: live.upstreams, http, store, now, sleep });
  const notices = createNotices({
    ...{
      database,
      key,
      now,
      log,
      config: live.config,
      access,
      page: keeper.page,
      pageKept: keeper.pageKept,
      printsMail,
      isSending,
      giveWay: base.publishing.shown.giveWay,
    },
    knowChannels: async () => void (await channels.known()),
    channels: () =>
      channels.latest().map((channel) => ({
        ...channel,
        recipients: listRecipients(channel),
        deliver: (notice, recipient) => deliverer.deliver(channel, notice, recipient),
      })),
    render: (view) => draw('subscribe', view),
    onResult: metrics.noticesSettled,
  });
  closing.defer(notices.close);
  return { notices, printsMail };
}
