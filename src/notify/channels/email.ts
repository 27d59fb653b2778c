/** Email to the operator's own addresses, through `access.smtp`. */

import { hash } from 'node:crypto';
import type { ChannelSettings } from '../../config/notifications.ts';
import type { Mail } from '../../mail/mail.ts';
import { shorten } from '../../shorten.ts';
import type { Notice } from '../notice.ts';
import { describeNotice, writePlainText } from './message.ts';

const SUBJECT_MAX = 160;
const TEXT_MAX = 20_000;

/** Ids of the recipients in the outbox, which holds no addresses. */
export function emailRecipients({ email }: ChannelSettings<'email'>): readonly string[] {
  return [...new Set(email.map(recipientId))];
}

function recipientId(address: string): string {
  return hash('sha256', address).slice(0, 32);
}

/** The mail for one recipient, who doesn't see the others; null: the address is no longer configured. */
export function mailTo(recipient: string, { email }: ChannelSettings<'email'>, notice: Notice): Mail | null {
  const to = email.find((address) => recipientId(address) === recipient);
  if (to === undefined) return null;
  const message = describeNotice(notice);
  const host = URL.parse(notice.page.url ?? '')?.hostname || 'pharos.invalid';
  const messageId = (...parts: readonly string[]): string =>
    `<${hash('sha256', JSON.stringify(parts)).slice(0, 40)}@${host}>`;
  return {
    to,
    // Without components, because subjects appear on lock screens.
    subject: shorten(`[${message.page}] ${message.headline}`, SUBJECT_MAX),
    text: shorten(writePlainText(message), TEXT_MAX),
    // The same for the same notice and recipient.
    messageId: messageId(notice.id, to),
    // The same for all mails of one incident, so that they are shown as a thread.
    references: [messageId(notice.subject.id)],
  };
}
