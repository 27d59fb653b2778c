/** Channels and notices for tests. */

import { CHANNEL_SETTINGS, type Channel, type ChannelKindName } from '../../src/config/notifications.ts';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import type { Notice } from '../../src/notify/news.ts';

export const AT: EpochMs = toEpochMs(Date.UTC(2026, 10, 21, 9, 30));
export const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Settings as they stand in the configuration; `origin` is where requests go, of kinds for which that can be chosen. */
export function settingsAt(origin: string): Readonly<Record<ChannelKindName, Readonly<Record<string, unknown>>>> {
  const gateway = {
    phone_number: '+4930123456',
    gateway: `${origin}/send`,
    gateway_headers: { 'X-Key': 'gateway-key' },
  };
  return {
    discord: { webhook_url: `${origin}/api/webhooks/1/key` },
    email: { email: ['ops@example.com', 'desk@example.com'] },
    slack: { webhook_url: `${origin}/services/T0/B0/key` },
    pagerduty: { integration_key: '0123456789abcdef0123456789abcdef' },
    opsgenie: { api_key: 'genie-key', region: 'eu' },
    webhook: { endpoint: `${origin}/hook`, headers: { 'X-Token': 'hook-token' }, secrets: [SIGNING_SECRET] },
    telegram: { chat_id: -1001234567890, bot_token: '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11' },
    sms: gateway,
    whatsapp: gateway,
    google_chat: { webhook_url: `${origin}/v1/spaces/S/messages?key=k&token=t` },
    grafana_oncall: { webhook_url: `${origin}/integrations/v1/formatted_webhook/key/` },
    ntfy: { topic: 'status', server_url: origin, token: 'tk_token' },
    ms_teams: { webhook_url: `${origin}/workflows/1/triggers/manual/paths/invoke?api-version=1&sig=key` },
  };
}

export function channelOf<K extends ChannelKindName>(kind: K, origin: string, more: Partial<Channel> = {}): Channel {
  const settings = CHANNEL_SETTINGS[kind].parse(settingsAt(origin)[kind]);
  return { id: kind, kind, settings, allow_private_hosts: [], ...more } as Channel;
}

export function noticeOf(changes: Partial<Notice> = {}): Notice {
  return {
    id: 'n-1',
    event: 'incident_opened',
    page: { slug: 'acme', title: 'Acme', url: 'https://status.example.com/acme/', language: 'en' },
    subject: {
      id: 'edge/incident-4',
      title: 'Errors at the API',
      url: 'https://status.example.com/acme/incidents/4/',
      impact: 'major',
      status: 'investigating',
      startedAt: AT,
      endsAt: null,
    },
    components: ['API', 'Checkout'],
    text: 'We are looking into it.\nMore at https://status.example.com/acme/.',
    at: AT,
    ...changes,
  };
}

/** A notice in which every text of others is `text`. */
export function noticeSaying(text: string, changes: Partial<Notice> = {}): Notice {
  const notice = noticeOf(changes);
  return {
    ...notice,
    page: { ...notice.page, title: text },
    subject: { ...notice.subject, title: text },
    components: [text, 'API'],
    text,
  };
}
