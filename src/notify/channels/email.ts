/** Email to addresses of the operator's, through the mail server that sign-in mails take. */

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

/** The mail for one recipient, who does not learn of the others; null: the address is not configured any more. */
export function mailTo(recipient: string, { email }: ChannelSettings<'email'>, notice: Notice): Mail | null {
  const to = email.find((address) => recipientId(address) === recipient);
  if (to === undefined) return null;
  const message = describeNotice(notice);
  const host = URL.parse(notice.page.url ?? '')?.hostname || 'pharos.invalid';
  const messageId = (...parts: readonly string[]): string =>
    `<${hash('sha256', JSON.stringify(parts)).slice(0, 40)}@${host}>`;
  return {
    to,
    // Names no component: subjects are shown on locked screens.
    subject: shorten(`[${message.page}] ${message.headline}`, SUBJECT_MAX),
    text: shorten(writePlainText(message), TEXT_MAX),
    // The same for the same notice and recipient.
    messageId: messageId(notice.id, to),
    // What the mails of one incident have in common, so that programs show them as a thread.
    references: [messageId(notice.subject.id)],
  };
}
