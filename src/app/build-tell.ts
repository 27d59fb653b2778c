/** Third of the four builders: notifications to subscribers and channels. Nothing is sent yet. */

import { createDeliverer, listRecipients } from '../notify/deliver.ts';
import type { ServeParts } from './build-serve.ts';
import type { StoreParts } from './build-store.ts';
import { now, sleep } from './clock.ts';
import { createChannels } from './notify/channels.ts';
import { createNotices } from './notify/notices.ts';

export type TellParts = ReturnType<typeof buildTell>;

export function buildTell(
  base: StoreParts,
  serving: ServeParts,
  options: Pick<Parameters<typeof createNotices>[2], 'printsMail' | 'isSending'>,
) {
  const { live, closing, http, store, proxy } = base;
  const deliverer = createDeliverer({ sendMail: live.sendMail, now, proxy });
  closing.defer(deliverer.close);
  const channels = createChannels({ config: live.config, upstreams: live.upstreams, http, store, now, sleep });
  const notices = createNotices(base, serving, {
    ...options,
    knowChannels: async () => void (await channels.known()),
    channels: () =>
      channels.latest().map((channel) => ({
        ...channel,
        recipients: listRecipients(channel),
        deliver: (notice, recipient) => deliverer.deliver(channel, notice, recipient),
      })),
  });
  closing.defer(notices.close);
  return { notices, printsMail: options.printsMail };
}
