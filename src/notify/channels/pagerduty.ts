/** PagerDuty, Events API v2: an incident triggers an alert, its updates go to the same one, and its end resolves it. */

import { toIso } from '../../model/time.ts';
import { type ChannelKind, jsonIn, postJson } from './channel.ts';
import { alertOf, messageOf } from './message.ts';
import { shorten } from './shorten.ts';
import { subjectKey } from './subject-key.ts';

const HOSTS = { us: 'events.pagerduty.com', eu: 'events.eu.pagerduty.com' } as const;
const SEVERITIES = { none: 'info', minor: 'warning', major: 'error', critical: 'critical' } as const;
/** Documented limits of the fields. */
const SUMMARY_MAX = 1_024;
const KEY_MAX = 255;
/** Well below the 512 kB of an event. */
const TEXT_MAX = 10_000;

export const pagerduty: ChannelKind<'pagerduty'> = {
  kind: 'pagerduty',
  request: ({ integration_key: key, region }, notice) => {
    const alert = alertOf(notice);
    if (alert === null) return null;
    const { headline, text, facts, names, page, url, linkText } = messageOf(notice);
    const event = {
      routing_key: key.reveal(),
      event_action: alert === 'over' ? 'resolve' : 'trigger',
      dedup_key: subjectKey(notice, KEY_MAX),
    };
    if (alert === 'over') return postJson(`https://${HOSTS[region]}/v2/enqueue`, event);
    return postJson(`https://${HOSTS[region]}/v2/enqueue`, {
      ...event,
      client: 'Pharos',
      ...(url === null ? {} : { client_url: url, links: [{ href: url, text: shorten(linkText, SUMMARY_MAX) }] }),
      payload: {
        summary: shorten(headline, SUMMARY_MAX),
        source: shorten(page, SUMMARY_MAX) || notice.page.slug,
        severity: SEVERITIES[notice.subject.impact ?? 'major'],
        timestamp: toIso(notice.subject.startedAt),
        group: notice.page.slug,
        custom_details: { update: shorten(text, TEXT_MAX), facts, components: names },
      },
    });
  },
  isTaken: (answer) => answer.status === 202 && jsonIn(answer)?.['status'] === 'success',
};
