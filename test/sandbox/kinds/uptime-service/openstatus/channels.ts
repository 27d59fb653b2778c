/** `NotificationService` of the real uptime service: where it sends its own alerts, secrets and all. */

import { json, type Reply } from '../../../exchange.ts';
import { type CallContext, found, isReply, list, type Message, paged } from './connect-calls.ts';

const CHANNEL = { name: 'Notification', reason: 'NOTIFICATION_NOT_FOUND', header: 'error-notification-id' } as const;

interface Channel {
  readonly id: number;
  readonly message: Message;
  /** Only told of a channel by itself. */
  readonly more: Message;
}

function channels({ world, pagePassword }: CallContext): readonly Channel[] {
  const monitorIds = world.services.slice(0, 2).map(({ id }) => String(id));
  return [
    {
      id: 1,
      message: { id: '1', name: 'On call', provider: 'NOTIFICATION_PROVIDER_WEBHOOK' },
      more: {
        data: {
          webhook: { endpoint: 'https://hooks.acme.example/x', headers: [{ key: 'x-secret', value: pagePassword }] },
        },
        monitorIds,
      },
    },
    {
      id: 2,
      message: { id: '2', name: 'Everybody', provider: 'NOTIFICATION_PROVIDER_EMAIL' },
      more: { data: { email: { email: 'all@acme.example' } } },
    },
  ];
}

export function listNotifications(message: Readonly<Message>, context: CallContext): Reply {
  const all = channels(context);
  return paged(message, all, (page, total) => ({
    ...list(
      'notifications',
      page.map((channel) => channel.message),
    ),
    ...total,
  }));
}

export function getNotification(message: Readonly<Message>, context: CallContext): Reply {
  const channel = found(message, channels(context), CHANNEL);
  return isReply(channel) ? channel : json(200, { notification: { ...channel.message, ...channel.more } });
}
