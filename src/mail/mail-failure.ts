/** What a failure to send a mail means: about this message or recipient, or about the mail server. */

/** Commands whose answer is about one recipient or one message. */
const OF_MESSAGE: ReadonlySet<unknown> = new Set(['RCPT TO', 'DATA']);
/** The server is closing down. */
const CLOSING = 421;

type MailFailure =
  | { readonly outcome: 'postponed'; readonly reason: string; readonly afterMs: null }
  | { readonly outcome: 'rejected'; readonly reason: string }
  | { readonly outcome: 'unreachable'; readonly reason: string };

/** The reason never has the words of the mail server, which like to repeat the recipient. */
export function mailFailure(error: unknown): MailFailure {
  const { code, responseCode, command } = error as Readonly<Record<string, unknown>>;
  if (typeof responseCode !== 'number') {
    const fact = typeof code === 'string' ? ` (${code})` : '';
    return { outcome: 'unreachable', reason: `can’t reach the mail server${fact}; check access.smtp` };
  }
  if (responseCode !== CLOSING && OF_MESSAGE.has(command)) {
    const reason = `the mail server answered ${responseCode} for this recipient`;
    return responseCode >= 500 ? { outcome: 'rejected', reason } : { outcome: 'postponed', reason, afterMs: null };
  }
  const remedy = command === 'MAIL FROM' ? 'check access.from' : 'check access.smtp';
  return { outcome: 'unreachable', reason: `the mail server answered ${responseCode}; ${remedy}` };
}
