/** A mail server that keeps what it is given, and reads it the way mail programs do. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly to: string;
  /** By name in small letters, unfolded and decoded. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** Empty: it has none. */
  readonly html: string;
  readonly raw: string;
}

export interface MailSink {
  /** smtp:// address for the configuration. */
  readonly url: string;
  readonly mails: ReceivedMail[];
  readonly to: (address: string) => readonly ReceivedMail[];
  readonly close: () => Promise<void>;
}

export interface MailSinkInit {
  /** Default: any free one. */
  readonly port?: number;
  readonly onRcptTo?: SMTPServerOptions['onRcptTo'];
}

export async function startMailSink({ port = 0, onRcptTo }: MailSinkInit = {}): Promise<MailSink> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    maxClients: 200,
    ...(onRcptTo === undefined ? {} : { onRcptTo }),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push(readMail(Buffer.concat(chunks).toString('utf8'), session.envelope.rcptTo[0]?.address ?? ''));
        done();
      });
    },
  });
  // Clients that are killed leave their connections as they are.
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const { port: actual } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${actual}?ignoreTLS=true`,
    mails,
    to: (address) => mails.filter((mail) => mail.to === address),
    close: () => new Promise((done) => server.close(() => done())),
  };
}

function readMail(raw: string, to: string): ReceivedMail {
  const [head = '', body = ''] = splitOnce(raw, '\r\n\r\n');
  const headers = readHeaders(head);
  const boundary = /boundary="?([^";]+)"?/.exec(headers.get('content-type') ?? '')?.[1];
  if (boundary === undefined) return { to, headers, text: decoded(body, headers), html: '', raw };
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [partHead = '', partBody = ''] = splitOnce(part.replace(/^\r\n/, ''), '\r\n\r\n');
      const own = readHeaders(partHead);
      return { type: own.get('content-type') ?? '', text: decoded(partBody, own) };
    });
  const of = (type: string): string => parts.find((part) => part.type.startsWith(type))?.text ?? '';
  return { to, headers, text: of('text/plain'), html: of('text/html'), raw };
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const index = text.indexOf(separator);
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + separator.length)];
}

function readHeaders(head: string): ReadonlyMap<string, string> {
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  return new Map(
    lines.map((line) => {
      const [name, value] = splitOnce(line, ':');
      return [name.toLowerCase(), words(value.trim())];
    }),
  );
}

/** Encoded words (RFC 2047) as what they say. */
function words(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_whole, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('utf8')
        : quotedPrintable(text.replaceAll('_', ' ')),
    );
}

function decoded(body: string, headers: ReadonlyMap<string, string>): string {
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  return (encoding === 'quoted-printable' ? quotedPrintable(body) : body).replaceAll('\r\n', '\n');
}

function quotedPrintable(text: string): string {
  const plain = text.replace(/=\r?\n/g, '');
  return Buffer.from(
    plain.replace(/=([0-9A-F]{2})/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
}
