import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import type { Channel } from '../../src/config/notifications.ts';
import { createSmtpMailer } from '../../src/mail/mailer.ts';
import {
  createDeliverer,
  type DeliverDeps,
  HTTP_KINDS,
  type HttpKindName,
  listRecipients,
  requestsFor,
} from '../../src/notify/deliver.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { PROGRAMS, type SeenRequest, signatureFaults } from '../helpers/channel-shapes.ts';
import { AT, channelOf, noticeOf, SIGNING_SECRET } from '../helpers/channels.ts';
import { type RawServer, reply, startRawServer } from '../helpers/raw-server.ts';

const VALID = { from: new Date(Date.UTC(2020, 0, 1)), to: new Date(Date.UTC(2120, 0, 1)) };
const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function delivererOf(deps: Partial<DeliverDeps> = {}) {
  const deliverer = createDeliverer({
    sendMail: () => Promise.reject(new Error('no mail here')),
    now: () => AT,
    ...deps,
  });
  ending.push(deliverer.close);
  return deliverer;
}

type Handle = (request: SeenRequest, response: ServerResponse) => void;

/** A server on loopback: its origin, and what was asked of it. */
async function serve(handle: Handle, tls?: { readonly cert: string; readonly key: string }) {
  const seen: SeenRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = request.headers as Record<string, string>;
    const one = { method: request.method ?? '', path: request.url ?? '', headers, body: String(Buffer.concat(chunks)) };
    seen.push(one);
    handle(one, response);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ending.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, port, seen };
}

async function serveRaw(respond: Parameters<typeof startRawServer>[0]): Promise<RawServer> {
  const server = await startRawServer(respond);
  ending.push(server.close);
  return server;
}

const LOOPBACK: Partial<Channel> = { allow_private_hosts: ['127.0.0.1'] };
const plainly =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): Handle =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

describe('each channel, against a server that refuses what its program does not document', () => {
  const program =
    (kind: HttpKindName): Handle =>
    (request, response) => {
      const faults = [
        ...PROGRAMS[kind].faults(request),
        ...(kind === 'webhook' ? signatureFaults(request, SIGNING_SECRET, AT) : []),
      ];
      const { status, body } = PROGRAMS[kind].answer;
      if (faults.length > 0) response.writeHead(400).end(faults.join('; '));
      else response.writeHead(status).end(body);
    };
  /** The host of these is fixed: what would be sent there goes to the server of the test. */
  const FIXED: readonly HttpKindName[] = ['pagerduty', 'opsgenie', 'telegram'];
  const kinds = Object.keys(HTTP_KINDS) as HttpKindName[];

  it.each(kinds.filter((kind) => !FIXED.includes(kind)))('%s is taken', async (kind) => {
    const server = await serve(program(kind));
    const channel = channelOf(kind, server.origin, LOOPBACK);
    const isOnCall = kind === 'grafana_oncall';
    for (const event of ['incident_opened', 'incident_resolved', 'maintenance_announced'] as const)
      expect(await delivererOf().deliver(channel, noticeOf({ event }))).toEqual({ outcome: 'delivered' });
    expect(server.seen).toHaveLength(isOnCall ? 2 : 3);
  });

  it.each(FIXED)('%s is taken', async (kind) => {
    const server = await serve(program(kind));
    const { isTaken } = HTTP_KINDS[kind];
    for (const event of ['incident_opened', 'incident_updated', 'incident_resolved'] as const) {
      for (const asked of requestsFor({ ...channelOf(kind, server.origin), kind }, noticeOf({ event }), AT)) {
        const { pathname, search } = new URL(asked.url);
        const answer = await fetch(`${server.origin}${pathname}${search}`, { ...asked });
        expect(isTaken({ status: answer.status, body: await answer.text() })).toBe(true);
      }
    }
    expect(server.seen).toHaveLength(kind === 'opsgenie' ? 6 : 3);
  });

  it.each(kinds)('%s is not taken in by any page that answers 200', (kind) => {
    const { isTaken } = HTTP_KINDS[kind];
    const isAnybody = ['webhook', 'sms', 'whatsapp', 'discord', 'grafana_oncall', 'ms_teams'].includes(kind);
    expect(isTaken({ status: 200, body: '<!doctype html><title>Welcome</title>' })).toBe(isAnybody);
  });

  it('says what a program answered, without the secrets in it', async () => {
    const server = await serve((request, response) =>
      response.writeHead(400).end(`no such token: ${request.headers['authorization']}\n\u001b[31m${'x'.repeat(500)}`),
    );
    const delivery = await delivererOf().deliver(channelOf('ntfy', server.origin, LOOPBACK), noticeOf());
    expect(delivery).toMatchObject({ outcome: 'rejected' });
    const { reason } = delivery as { reason: string };
    expect(reason).toContain('status 400: no such token: Bearer ***');
    expect(reason).not.toMatch(/tk_token|\u001b/);
    expect(reason.length).toBeLessThan(250);
  });

  it('says no part of a secret where what it says is cut', async () => {
    for (let length = 170; length < 200; length += 1) {
      const server = await serve((request, response) =>
        response.writeHead(400).end(`${'x'.repeat(length)}${request.headers['authorization']}`),
      );
      const delivery = await delivererOf().deliver(channelOf('ntfy', server.origin, LOOPBACK), noticeOf());
      expect((delivery as { reason: string }).reason).not.toContain('tk');
    }
  });
});

describe('an answer', () => {
  const outcome = async (handle: Handle, kind: HttpKindName = 'webhook') => {
    const server = await serve(handle);
    return delivererOf().deliver(channelOf(kind, server.origin, LOOPBACK), noticeOf());
  };

  it.each([
    [200, 'delivered'],
    [202, 'delivered'],
    [204, 'delivered'],
    [301, 'rejected'],
    [307, 'rejected'],
    [400, 'rejected'],
    [404, 'postponed'],
    [410, 'rejected'],
    [413, 'rejected'],
    [422, 'rejected'],
    [401, 'postponed'],
    [403, 'postponed'],
    [408, 'postponed'],
    [425, 'postponed'],
    [429, 'postponed'],
    [500, 'postponed'],
    [503, 'postponed'],
  ])('of %i is %s', async (status, expected) => {
    expect(await outcome(plainly(status))).toMatchObject({ outcome: expected });
  });

  it('of 404 is final for a chat, whose address is gone', async () => {
    expect(await outcome(plainly(404, 'no_service'), 'slack')).toMatchObject({ outcome: 'rejected' });
  });

  it.each([
    ['google_chat', { name: 'spaces/S/messages/1', text: '\u00e9'.repeat(9_000) }],
    ['ntfy', { id: 'abc', message: 'é'.repeat(9_000) }],
  ] as const)('of %s that is longer than what is read of it is taken', async (kind, body) => {
    // As some programs write it: six characters for one.
    const text = JSON.stringify(body).replace(
      /[^\0-\x7f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    expect(text.length).toBeGreaterThan(20_000);
    expect(await outcome(plainly(200, text), kind)).toEqual({ outcome: 'delivered' });
  });

  it('of Telegram that is cut is judged by its beginning, and a page of anybody is not taken for one', () => {
    const body = `{"ok":true,"result":{"message_id":7,"text":"${'\\u0416'.repeat(4_000)}`;
    expect(HTTP_KINDS.telegram.isTaken({ status: 200, body })).toBe(true);
    expect(HTTP_KINDS.telegram.isTaken({ status: 200, body: body.replace('true', 'false') })).toBe(false);
    expect(HTTP_KINDS.telegram.isTaken({ status: 200, body: `<p>${body}` })).toBe(false);
  });

  it('that sends elsewhere is not followed', async () => {
    const other = await serve(plainly(200));
    const delivery = await outcome(plainly(302, '', { location: `${other.origin}/hook` }));
    expect(delivery).toEqual({
      outcome: 'rejected',
      reason: 'status 302: redirects are not followed; enter the new address',
    });
    expect(other.seen).toEqual([]);
  });

  it('tells when to come again, in the header or in the body, an hour at most', async () => {
    const waits = [
      [plainly(429, '', { 'retry-after': '30' }), 30_000],
      [
        plainly(503, '', { 'retry-after': new Date(AT + 90_000).toUTCString(), date: new Date(AT).toUTCString() }),
        90_000,
      ],
      [plainly(429, '{"retry_after": 1.337, "global": false}'), 1_337],
      [plainly(429, '{"ok":false,"parameters":{"retry_after":17}}'), 17_000],
      [plainly(429, '{"retry_after": 999999}'), 3_600_000],
      [plainly(429, '', { 'retry-after': '999999' }), 3_600_000],
      [plainly(429, '{"retry_after": "soon"}'), null],
      [plainly(500, 'null'), null],
    ] as const;
    for (const [handle, afterMs] of waits)
      expect(await outcome(handle)).toMatchObject({ outcome: 'postponed', afterMs });
  });

  it('that is not how the program answers is not taken for one', async () => {
    expect(await outcome(plainly(200, '<html>Welcome</html>'), 'slack')).toEqual({
      outcome: 'rejected',
      reason: 'the response is not from slack; check the address (status 200: <html>Welcome</html>)',
    });
  });

  it('that never ends, or never comes, is given up', async () => {
    const limits = { totalMs: 300 };
    const silent = await serve(() => undefined);
    const [dripping] = [await serve((_request, response) => void response.writeHead(200).write('o'))];
    for (const [server, kind] of [
      [silent, 'slack'],
      [dripping, 'slack'],
    ] as const) {
      const delivery = await delivererOf({ limits }).deliver(channelOf(kind, server.origin, LOOPBACK), noticeOf());
      expect(delivery).toMatchObject({ outcome: 'postponed' });
    }
  });

  it('without end costs no more than is wanted of it', async () => {
    let written = 0;
    const server = await serve((_request, response) => {
      response.writeHead(500);
      const more = (): void => {
        while (!response.destroyed && written < 64 * 1024 * 1024) {
          written += 65_536;
          if (!response.write(Buffer.alloc(65_536, 'x'))) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    const delivery = await delivererOf().deliver(channelOf('webhook', server.origin, LOOPBACK), noticeOf());
    expect(delivery).toMatchObject({ outcome: 'postponed' });
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });

  it('that breaks off after its status is tried again where it decides', async () => {
    const head = reply('ok')
      .toString()
      .replace(/content-length: \d+/i, 'content-length: 100');
    const server = await serveRaw((socket) => socket.end(head.replace(/ok$/, 'o')));
    expect(await delivererOf().deliver(channelOf('slack', server.origin, LOOPBACK), noticeOf())).toMatchObject({
      outcome: 'postponed',
    });
  });
});

describe('an address', () => {
  it('that nobody listens at, or that is no host, is tried again', async () => {
    const server = await serve(plainly(200));
    const closed = await serveRaw((socket) => socket.destroy());
    await closed.close();
    const deliverer = delivererOf();
    expect(await deliverer.deliver(channelOf('webhook', closed.origin, LOOPBACK), noticeOf())).toEqual({
      outcome: 'postponed',
      reason: 'the connection was refused; check host and port',
      afterMs: null,
    });
    expect(await deliverer.deliver(channelOf('webhook', 'https://nowhere.invalid'), noticeOf())).toMatchObject({
      outcome: 'postponed',
      afterMs: null,
    });
    expect(server.seen).toEqual([]);
  });

  it('without TLS, or in a network that is not public, is not asked, however it is written', async () => {
    const certificate = makeCertificate('127.0.0.1', VALID);
    const server = await serve(plainly(200), certificate);
    const deliverer = delivererOf({ ca: certificate.cert });
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.0.0.1',
      'localhost',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[2001:0:7f00:1::1]',
      '[fd00:ec2::254]',
      '[fe80::1]',
      '[fec0::1]',
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '100.100.100.200',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '192.0.0.192',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
    ];
    for (const host of hosts) {
      const delivery = await deliverer.deliver(channelOf('webhook', `https://${host}:${server.port}`), noticeOf());
      expect([host, delivery]).toEqual([
        host,
        {
          outcome: 'postponed',
          reason: 'the address is not public; to send there, add its host to allow_private_hosts',
          afterMs: null,
        },
      ]);
    }
    expect(await deliverer.deliver(channelOf('webhook', 'http://status.example.com'), noticeOf())).toMatchObject({
      outcome: 'postponed',
      reason: 'the address is not https; change it, or add its host to allow_private_hosts',
    });
    expect(server.seen).toEqual([]);
  });

  it('that is allowed by its host is asked, with its certificate checked', async () => {
    const certificate = makeCertificate('127.0.0.1', VALID);
    const server = await serve(plainly(200), certificate);
    const channel = channelOf('webhook', server.origin, LOOPBACK);
    expect(await delivererOf({ ca: certificate.cert }).deliver(channel, noticeOf())).toEqual({ outcome: 'delivered' });
    expect(await delivererOf().deliver(channel, noticeOf())).toMatchObject({
      outcome: 'postponed',
      reason: expect.stringContaining('its certificate was rejected'),
    });
    const other = channelOf('webhook', server.origin, { allow_private_hosts: ['10.0.0.1', 'localhost'] });
    expect(await delivererOf({ ca: certificate.cert }).deliver(other, noticeOf())).toMatchObject({
      outcome: 'postponed',
    });
    expect(server.seen).toHaveLength(1);
  });
});

describe('email', () => {
  async function mailServer(refuses: (to: string) => number | null = () => null) {
    const mails: string[] = [];
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      logger: false,
      onRcptTo: ({ address }, _session, done) => {
        const code = refuses(address);
        done(code === null ? null : Object.assign(new Error(`no ${address}`), { responseCode: code }));
      },
      onData: (stream, _session, done) => {
        let mail = '';
        stream.on('data', (chunk) => (mail += String(chunk)));
        stream.on('end', () => {
          mails.push(mail);
          done();
        });
      },
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ending.push(() => new Promise<void>((done) => server.close(() => done())));
    const { port } = server.server.address() as AddressInfo;
    return { mails, sendMail: createSmtpMailer({ url: `smtp://127.0.0.1:${port}`, from: 'status@example.com' }) };
  }
  const channel = channelOf('email', '');

  const deliverAll = async (sendMail: DeliverDeps['sendMail']) => {
    const deliverer = delivererOf({ sendMail });
    return Promise.all(listRecipients(channel).map((recipient) => deliverer.deliver(channel, noticeOf(), recipient)));
  };

  it('reaches each recipient through a real mail server', async () => {
    const { mails, sendMail } = await mailServer();
    expect(await deliverAll(sendMail)).toEqual([{ outcome: 'delivered' }, { outcome: 'delivered' }]);
    expect(mails.map((mail) => /^To: (.*)\r$/m.exec(mail)?.[1]).toSorted()).toEqual([
      'desk@example.com',
      'ops@example.com',
    ]);
    expect(mails[0]).toContain('Subject: [Acme] Investigating: Errors at the API');
  });

  it('is judged for each recipient: refused for good, refused for now, or no mail server at all', async () => {
    const gone = await mailServer((to) => (to.startsWith('desk') ? 550 : null));
    const full = await mailServer((to) => (to.startsWith('desk') ? 452 : null));
    expect(await deliverAll(gone.sendMail)).toEqual([
      { outcome: 'delivered' },
      { outcome: 'rejected', reason: 'the mail server answered 550 for this recipient' },
    ]);
    expect(await deliverAll(full.sendMail)).toMatchObject([{ outcome: 'delivered' }, { outcome: 'postponed' }]);
    const nobody = createSmtpMailer({ url: 'smtp://127.0.0.1:1', from: 'status@example.com' });
    expect(await deliverAll(nobody)).toEqual(
      Array(2).fill({
        outcome: 'unreachable',
        reason: 'can’t reach the mail server (ESOCKET); check access.smtp',
      }),
    );
  });

  it('is not sent to an address that is not configured any more', async () => {
    const { mails, sendMail } = await mailServer();
    const [, removed = ''] = listRecipients(channel);
    const smaller = { ...channel, settings: { email: ['ops@example.com'] } } as Channel;
    expect(await delivererOf({ sendMail }).deliver(smaller, noticeOf(), removed)).toEqual({ outcome: 'dropped' });
    expect(mails).toEqual([]);
  });
});

it('a channel with a language speaks it on every page', async () => {
  const server = await serve(plainly(200, 'ok'));
  const channel = channelOf('slack', server.origin, { ...LOOPBACK, locale: 'de' });
  await delivererOf().deliver(channel, noticeOf());
  expect(JSON.parse(server.seen[0]?.body ?? '').blocks[0].text.text).not.toContain('Investigating');
});
