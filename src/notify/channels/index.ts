/** The kinds of channels that are reached by HTTP. Email is the one that is not: `email.ts`. */

import type { ChannelKindName } from '../../config/notifications.ts';
import type { ChannelKind } from './channel.ts';
import { discord } from './discord.ts';
import { googleChat } from './google-chat.ts';
import { grafanaOncall } from './grafana-oncall.ts';
import { msTeams } from './ms-teams.ts';
import { ntfy } from './ntfy.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { slack } from './slack.ts';
import { sms } from './sms.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';
import { whatsapp } from './whatsapp.ts';

export type HttpKindName = Exclude<ChannelKindName, 'email'>;

export const HTTP_KINDS: { readonly [K in HttpKindName]: ChannelKind<K> } = {
  discord,
  slack,
  pagerduty,
  opsgenie,
  webhook,
  telegram,
  sms,
  whatsapp,
  google_chat: googleChat,
  grafana_oncall: grafanaOncall,
  ntfy,
  ms_teams: msTeams,
};
