/** Opsgenie, Alert API: an incident creates an alert by its alias, updates become notes of it, and its end closes it. */

import { type ChannelKind, postJson } from './channel.ts';
import { alertOf, messageOf, plainTextOf } from './message.ts';
import { shorten } from './shorten.ts';
import { subjectKey } from './subject-key.ts';

const HOSTS = { us: 'api.opsgenie.com', eu: 'api.eu.opsgenie.com' } as const;
const PRIORITIES = { none: 'P5', minor: 'P4', major: 'P2', critical: 'P1' } as const;
/** Documented limits of the fields. */
const MESSAGE_MAX = 130;
const ALIAS_MAX = 512;
const DESCRIPTION_MAX = 15_000;
const NOTE_MAX = 25_000;
const ENTITY_MAX = 512;
const SOURCE_MAX = 100;

export const opsgenie: ChannelKind<'opsgenie'> = {
  kind: 'opsgenie',
  request: ({ api_key: key, region }, notice) => {
    const alert = alertOf(notice);
    if (alert === null) return null;
    const message = messageOf(notice);
    const alerts = `https://${HOSTS[region]}/v2/alerts`;
    const alias = subjectKey(notice, ALIAS_MAX);
    const headers = { authorization: `GenieKey ${key.reveal()}` };
    const source = shorten(`Pharos: ${message.page}`, SOURCE_MAX);
    const common = { source, note: shorten(plainTextOf(message), NOTE_MAX) };
    if (alert === 'over')
      return postJson(`${alerts}/${encodeURIComponent(alias)}/close?identifierType=alias`, common, headers);
    return postJson(
      alerts,
      {
        ...common,
        message: shorten(message.headline, MESSAGE_MAX),
        alias,
        description: shorten(plainTextOf(message), DESCRIPTION_MAX),
        entity: shorten(message.names.length === 1 ? (message.names[0] ?? '') : message.page, ENTITY_MAX),
        priority: PRIORITIES[notice.subject.impact ?? 'major'],
      },
      headers,
    );
  },
  isTaken: ({ status }) => status === 202,
};
