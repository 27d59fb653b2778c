/** Grafana OnCall: a Formatted Webhook, whose alerts are grouped by their id and end with the state `ok`. */

import { type ChannelKind, postJson } from './channel.ts';
import { alertOf, messageOf } from './message.ts';
import { shorten } from './shorten.ts';
import { subjectKey } from './subject-key.ts';

/** None is documented; these are those of others of its kind. */
const TITLE_MAX = 1_024;
const TEXT_MAX = 15_000;
const KEY_MAX = 255;

export const grafanaOncall: ChannelKind<'grafana_oncall'> = {
  kind: 'grafana_oncall',
  request: ({ webhook_url: webhook }, notice) => {
    const alert = alertOf(notice);
    if (alert === null) return null;
    const { headline, text, facts, url } = messageOf(notice);
    return postJson(webhook.reveal(), {
      alert_uid: subjectKey(notice, KEY_MAX),
      title: shorten(headline, TITLE_MAX, asText),
      state: alert === 'over' ? 'ok' : 'alerting',
      message: shorten([text, facts.join('\n')].filter((part) => part !== '').join('\n\n'), TEXT_MAX, asText),
      ...(url === null ? {} : { link_to_upstream_details: url }),
    });
  },
  isTaken: ({ status }) => status === 200,
};

/** Its templates show Markdown and pass HTML on to chats: neither begins without these. */
function asText(text: string): string {
  return text.replace(/[\\*_`[\]<>#|~]/g, (char) => (char === '<' ? '‹' : char === '>' ? '›' : `\\${char}`));
}
