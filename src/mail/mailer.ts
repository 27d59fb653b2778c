/** Sends mails by SMTP, or prints them in the sandbox. */

import type { Transporter } from 'nodemailer';
import { SECOND_MS } from '../model/time.ts';
import type { Mail, SendMail } from './mail.ts';

interface SmtpOptions {
  /** smtp:// or smtps://, with user and password. */
  readonly url: string;
  /** Address of the sender. */
  readonly from: string;
}

/** Shorter than a claim in the outbox. */
const CONNECT_MS = 10 * SECOND_MS;
const SILENCE_MS = 15 * SECOND_MS;
const timeouts = (ms: number) => ({ connectionTimeout: ms, greetingTimeout: ms, dnsTimeout: ms, logger: false });
const TRANSPORT = {
  ...timeouts(CONNECT_MS),
  socketTimeout: SILENCE_MS,
  disableFileAccess: true,
  disableUrlAccess: true,
} as const;

/** Loaded with the first mail, because it is large and many sites send none. */
type Library = typeof import('nodemailer')['default'];
const library = async (): Promise<Library> => (await import('nodemailer')).default;

/** Sends through a mail server. The recipient is passed on as a bare address, which is never parsed. */
export function createSmtpMailer({ url, from }: SmtpOptions): SendMail {
  let transport: Promise<Transporter> | undefined;
  return async (mail) => {
    transport ??= library().then(({ createTransport }) => createTransport({ url, ...TRANSPORT }));
    await (await transport).sendMail(toMessage(mail, from));
  };
}

export type MailPool = ReturnType<typeof createSmtpPool>;

/** The same over connections that stay open, for many mails. */
export function createSmtpPool({ url, from, size }: SmtpOptions & { readonly size: number }) {
  let transport: Promise<Transporter> | undefined;
  return {
    send: async (mail: Mail): Promise<void> => {
      transport ??= library().then(({ createTransport }) =>
        createTransport({ url, ...TRANSPORT, pool: true, maxConnections: size }),
      );
      await (await transport).sendMail(toMessage(mail, from));
    },
    close: () => void transport?.then((opened) => opened.close()),
  };
}

function toMessage({ to, subject, text, html, messageId, references = [], headers = {} }: Mail, from: string) {
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: bareAddress(from), to: [to] },
    subject,
    text,
    ...(html === undefined ? {} : { html }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(references.length === 0 ? {} : { references: [...references], inReplyTo: references.at(-1) ?? '' }),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All', ...headers },
  };
}

/** Prints mails instead of sending them. */
export function createPrintingMailer(print: (text: string) => void): SendMail {
  return async ({ to, subject, text }) => print(`To: ${to}\nSubject: ${subject}\n\n${text}`);
}

/** The bare address in `Name <address>`. */
function bareAddress(from: string): string {
  return /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from.trim();
}

/** Connects and signs in to the mail server without sending anything. Rejects with its error. */
export async function verifySmtp(url: string): Promise<void> {
  const { createTransport } = await library();
  const transport = createTransport({ url, ...timeouts(CONNECT_MS / 2), socketTimeout: CONNECT_MS / 2 });
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}
