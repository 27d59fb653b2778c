/** The kinds of channels that are reached by HTTP. The other one is `email.ts`. */

import type { ChannelKindName } from '../../config/notifications.ts';
import type { ChannelKinds } from './channel.ts';
import { CHATS } from './chats.ts';
import { ON_CALL } from './on-call.ts';
import { PHONES } from './phones.ts';
import { webhook } from './webhook.ts';

export type HttpKindName = Exclude<ChannelKindName, 'email'>;

export const HTTP_KINDS: ChannelKinds<HttpKindName> = { ...CHATS, ...ON_CALL, ...PHONES, webhook };
