import { createServer } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { createHttp, type Http, type HttpOptions } from '../../src/sync/http/http.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { faultOf } from '../helpers/fault-of.ts';
import { type RawServer, reply, startRawServer } from '../helpers/raw-server.ts';

const VALID = { from: new Date(Date.UTC(2020, 0, 1)), to: new Date(Date.UTC(2120, 0, 1)) };
const PAST = { from: new Date(Date.UTC(2000, 0, 1)), to: new Date(Date.UTC(2001, 0, 1)) };
const OK = reply('{"a":1}');

let servers: RawServer[] = [];
let clients: Http[] = [];

afterEach(async () => {
  for (const client of clients) await client.close();
  for (const server of servers) await server.close();
  servers = [];
  clients = [];
});

async function ask(tls: TlsOptions, options: HttpOptions) {
  const server = await startRawServer((socket) => socket.write(OK), tls);
  servers.push(server);
  const http = createHttp(options);
  clients.push(http);
  const answer = http.request(
    { method: 'GET', url: `${server.origin}/status?key=CANARY`, headers: { 'x-api-key': 'CANARY' } },
    { now: () => toEpochMs(0) },
  );
  return { answer, server };
}

it('a certificate of a trusted issuer, for this host and of today, is taken', async () => {
  const certificate = makeCertificate('127.0.0.1', VALID);
  const { answer } = await ask(certificate, { ca: certificate.cert });
  expect((await answer).payload).toEqual({ a: 1 });
});

it('self-signed, expired, not yet valid or for another host: refused before a request leaves', async () => {
  const bad = {
    selfSigned: { certificate: makeCertificate('127.0.0.1', VALID), isTrusted: false },
    expired: { certificate: makeCertificate('127.0.0.1', PAST), isTrusted: true },
    early: {
      certificate: makeCertificate('127.0.0.1', { from: new Date(Date.UTC(2110, 0, 1)), to: VALID.to }),
      isTrusted: true,
    },
    otherHost: { certificate: makeCertificate('status.example.com', VALID), isTrusted: true },
  };
  for (const { certificate, isTrusted } of Object.values(bad)) {
    const { answer, server } = await ask(certificate, isTrusted ? { ca: certificate.cert } : {});
    const fault = await faultOf(answer);
    expect(fault.code).toBe('UPSTREAM_UNREACHABLE');
    expect(fault.context['fault']).toBe('tls');
    expect(fault.message).not.toContain('CANARY');
    expect(server.requests).toHaveLength(0);
  }
});

it('the environment cannot turn the check off', async () => {
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  try {
    const { answer, server } = await ask(makeCertificate('127.0.0.1', VALID), {});
    expect((await faultOf(answer)).context['fault']).toBe('tls');
    expect(server.requests).toHaveLength(0);
  } finally {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
  }
});

it('TLS 1.1 and older are refused', async () => {
  const certificate = makeCertificate('127.0.0.1', VALID);
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const { answer, server } = await ask({ ...certificate, ...old }, { ca: certificate.cert });
  expect((await faultOf(answer)).context['fault']).toBe('tls');
  expect(server.requests).toHaveLength(0);
});

it('a redirect from https to http is not followed', async () => {
  const certificate = makeCertificate('127.0.0.1', VALID);
  const plain = await startRawServer((socket) => socket.write(OK));
  const server = await startRawServer(
    (socket) => socket.write(reply('', { status: 302, fields: { location: `${plain.origin}/status` } })),
    certificate,
  );
  servers.push(plain, server);
  const http = createHttp({ ca: certificate.cert });
  clients.push(http);
  const fault = await faultOf(
    http.request({ method: 'GET', url: server.origin, headers: {} }, { now: () => toEpochMs(0) }),
  );
  expect(fault.code).toBe('UPSTREAM_REFUSED');
  expect(plain.requests).toHaveLength(0);
});

it('a handshake that never ends is given up when a connection should have been there', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const http = createHttp({ limits: { connectMs: 200 } });
  const startedAt = performance.now();
  const fault = await faultOf(
    http.request(
      { method: 'GET', url: `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, headers: {} },
      { now: () => toEpochMs(0) },
    ),
  );
  expect(fault.context['fault']).toBe('timeout');
  expect(performance.now() - startedAt).toBeLessThan(3000);
  await http.close();
  silent.close();
});
