/** Email to addresses of the operator's, through the mail server that sign-in mails take. */

import { hash } from 'node:crypto';
import type { ChannelSettings } from '../../config/notifications.ts';
import type { Notice } from '../notice.ts';
import { messageOf, plainTextOf } from './message.ts';
import { shorten } from './shorten.ts';

/** One mail to one address. */
interface ChannelMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for the same notice and recipient, with its angle brackets. */
  readonly messageId: string;
  /** What the mails of one incident have in common, so that programs show them as a thread; with angle brackets. */
  readonly references: readonly string[];
}

/** Sends one mail; throws when it could not be handed over. */
export type SendChannelMail = (mail: ChannelMail) => Promise<void>;

const SUBJECT_MAX = 160;
const TEXT_MAX = 20_000;

/** One mail for each recipient, who does not learn of the others. The subject names no component. */
export function mailsOf({ email }: ChannelSettings<'email'>, notice: Notice): readonly ChannelMail[] {
  const message = messageOf(notice);
  const host = URL.parse(notice.page.url ?? '')?.hostname || 'pharos.invalid';
  const idOf = (...parts: readonly string[]): string =>
    `<${hash('sha256', JSON.stringify(parts)).slice(0, 40)}@${host}>`;
  return email.map((to) => ({
    to,
    subject: shorten(`[${message.page}] ${message.headline}`, SUBJECT_MAX),
    text: shorten(plainTextOf(message), TEXT_MAX),
    messageId: idOf(notice.id, to),
    references: [idOf(notice.subject.id)],
  }));
}
