/** On-call services: PagerDuty, Opsgenie and Grafana OnCall. An incident opens an alert, and its end closes it. */

import { toIso } from '../../model/time.ts';
import { shorten } from '../../shorten.ts';
import { type ChannelKind, type ChannelKinds, readField, sendJson } from './channel.ts';
import { alertState, describeNotice, subjectKey, writePlainText } from './message.ts';

const PAGERDUTY_HOSTS = { us: 'events.pagerduty.com', eu: 'events.eu.pagerduty.com' } as const;
const PAGERDUTY_SEVERITIES = { none: 'info', minor: 'warning', major: 'error', critical: 'critical' } as const;
/** Documented limits of the fields; the text is well below the 512 kB of an event. */
const PAGERDUTY = { summary: 1_024, key: 255, text: 10_000 } as const;

/** Events API v2: an incident triggers an alert, its updates go to the same one, and its end resolves it. */
const pagerduty: ChannelKind<'pagerduty'> = {
  kind: 'pagerduty',
  requests: ({ integration_key: key, region }, notice) => {
    const alert = alertState(notice);
    if (alert === null) return [];
    const { headline, text, facts, names, page, url, title } = describeNotice(notice);
    const address = `https://${PAGERDUTY_HOSTS[region]}/v2/enqueue`;
    const event = {
      routing_key: key.reveal(),
      event_action: alert === 'over' ? 'resolve' : 'trigger',
      dedup_key: subjectKey(notice, PAGERDUTY.key),
    };
    if (alert === 'over') return [sendJson(address, event)];
    return [
      sendJson(address, {
        ...event,
        client: 'Pharos',
        ...(url === null ? {} : { client_url: url, links: [{ href: url, text: shorten(title, PAGERDUTY.summary) }] }),
        payload: {
          summary: shorten(headline, PAGERDUTY.summary),
          source: shorten(page, PAGERDUTY.summary) || notice.page.slug,
          severity: PAGERDUTY_SEVERITIES[notice.subject.impact ?? 'major'],
          timestamp: toIso(notice.subject.startedAt),
          group: notice.page.slug,
          custom_details: { update: shorten(text, PAGERDUTY.text), facts, components: names },
        },
      }),
    ];
  },
  isTaken: (answer) => answer.status === 202 && readField(answer, 'status') === 'success',
};

const OPSGENIE_HOSTS = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const;
const OPSGENIE_PRIORITIES = { none: 'P5', minor: 'P4', major: 'P2', critical: 'P1' } as const;
/** Documented limits of the fields, but for notes, which may be longer. */
const OPSGENIE = { message: 130, alias: 512, description: 15_000, note: 10_000, entity: 512, source: 100 } as const;

/** Alert API: an incident creates an alert by its alias, updates change it and become notes, and its end closes it. */
const opsgenie: ChannelKind<'opsgenie'> = {
  kind: 'opsgenie',
  requests: ({ api_key: key, region, server_url: server }, notice) => {
    const alert = alertState(notice);
    if (alert === null) return [];
    const message = describeNotice(notice);
    const base = server?.replace(/\/+$/, '') ?? OPSGENIE_HOSTS[region];
    const alias = subjectKey(notice, OPSGENIE.alias);
    const own = (action: string): string =>
      `${base}/v2/alerts/${encodeURIComponent(alias)}/${action}?identifierType=alias`;
    const headers = { authorization: `GenieKey ${key.reveal()}` };
    const source = shorten(`Pharos: ${message.page}`, OPSGENIE.source);
    const common = { source, note: shorten(writePlainText(message), OPSGENIE.note) };
    if (alert === 'over') return [sendJson(own('close'), common, headers)];
    const changing = {
      message: shorten(message.headline, OPSGENIE.message),
      description: shorten(writePlainText(message), OPSGENIE.description),
      priority: OPSGENIE_PRIORITIES[notice.subject.impact ?? 'major'],
    };
    const entity = shorten(message.names.length === 1 ? (message.names[0] ?? '') : message.page, OPSGENIE.entity);
    const create = sendJson(`${base}/v2/alerts`, { ...common, ...changing, alias, entity }, headers);
    // An alert that is open takes only the note of another with its alias. Jira Service Management can't change an alert.
    const canChange = notice.event === 'incident_updated' && !base.includes('/jsm/');
    return [
      create,
      ...Object.entries(canChange ? changing : {}).map(([field, value]) =>
        sendJson(own(field), { [field]: value }, headers, 'PUT'),
      ),
    ];
  },
  isTaken: ({ status }) => status === 202,
};

/** None is documented; these are those of others of its kind. */
const ONCALL = { title: 1_024, text: 15_000, key: 255 } as const;

/** A Formatted Webhook, whose alerts are grouped by their id and end with the state `ok`. */
const grafanaOncall: ChannelKind<'grafana_oncall'> = {
  kind: 'grafana_oncall',
  requests: ({ webhook_url: webhook }, notice) => {
    const alert = alertState(notice);
    if (alert === null) return [];
    const { headline, body, url } = describeNotice(notice);
    return [
      sendJson(webhook.reveal(), {
        alert_uid: subjectKey(notice, ONCALL.key),
        title: shorten(headline, ONCALL.title, escapeOncall),
        state: alert === 'over' ? 'ok' : 'alerting',
        message: shorten(body, ONCALL.text, escapeOncall),
        ...(url === null ? {} : { link_to_upstream_details: url }),
      }),
    ];
  },
  isTaken: ({ status }) => status === 200,
};

/**
 * Its templates show Markdown and pass HTML on to chats, and most of them show a backslash. So what begins a tag or a mention
 * is replaced, and what makes a masked link is taken apart; addresses stay as they are.
 */
function escapeOncall(text: string): string {
  return text
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/\](?=[([:])/g, '] ');
}

export const ON_CALL: ChannelKinds<'pagerduty' | 'opsgenie' | 'grafana_oncall'> = {
  pagerduty,
  opsgenie,
  grafana_oncall: grafanaOncall,
};
