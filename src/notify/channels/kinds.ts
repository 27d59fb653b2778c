/** The kinds of channels that are reached by HTTP. The other one is `email.ts`. */

import type { ChannelKindName } from '../../config/notifications.ts';
import type { ChannelKind } from './channel.ts';
import { discord, googleChat, msTeams, slack, telegram } from './chats.ts';
import { grafanaOncall, opsgenie, pagerduty } from './on-call.ts';
import { ntfy, sms, whatsapp } from './phones.ts';
import { webhook } from './webhook.ts';

export type HttpKindName = Exclude<ChannelKindName, 'email'>;

export const HTTP_KINDS: { readonly [K in HttpKindName]: ChannelKind<K> } = {
  ...{ discord, slack, pagerduty, opsgenie, webhook, telegram, sms, whatsapp, ntfy },
  google_chat: googleChat,
  grafana_oncall: grafanaOncall,
  ms_teams: msTeams,
};
