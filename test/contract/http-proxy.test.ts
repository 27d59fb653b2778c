import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { proxySettings, proxyText } from '../../src/network/proxy.ts';
import { createS3Client } from '../../src/publish/targets/s3-client.ts';
import { Secret } from '../../src/schema/secret.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import { createHttp, type HttpOptions } from '../../src/sync/http/http.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { faultOf } from '../helpers/fault-of.ts';
import { type ForwardProxy, startForwardProxy } from '../helpers/forward-proxy.ts';
import { type RawServer, reply, startRawServer } from '../helpers/raw-server.ts';

const VALID = { from: new Date(Date.UTC(2020, 0, 1)), to: new Date(Date.UTC(2120, 0, 1)) };
/** A name that nobody knows but the proxy. */
const HOST = 'upstream.invalid';

const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function proxy(options?: Parameters<typeof startForwardProxy>[0]): Promise<ForwardProxy> {
  const started = await startForwardProxy(options);
  closing.push(started.close);
  return started;
}

async function server(tls?: {
  readonly cert: string;
  readonly key: string;
}): Promise<RawServer & { readonly port: string }> {
  const started = await startRawServer((socket) => socket.write(reply('{"a":1}')), tls);
  closing.push(started.close);
  return Object.assign(started, { port: new URL(started.origin).port });
}

async function ask(url: string, options: HttpOptions, ca?: string) {
  const http = createHttp(options);
  closing.push(http.close);
  return http.request(
    { method: 'GET', url, headers: { 'x-api-key': 'CANARY' } },
    { now: () => toEpochMs(0), ...(ca === undefined ? {} : { ca }) },
  );
}

describe('requests where HTTP_PROXY or HTTPS_PROXY is set', () => {
  it('go out through the proxy, http and https, and the certificate of the target is still checked', async () => {
    const certificate = makeCertificate(HOST, VALID);
    const [gate, plain, secure] = [await proxy(), await server(), await server(certificate)];
    const settings = proxySettings({ HTTP_PROXY: gate.url, HTTPS_PROXY: gate.url });
    expect((await ask(`http://${HOST}:${plain.port}/a`, { proxy: settings })).payload).toEqual({ a: 1 });
    const secret = `https://${HOST}:${secure.port}/b`;
    expect((await ask(secret, { proxy: settings }, certificate.cert)).payload).toEqual({ a: 1 });
    expect(gate.asked).toEqual([`GET http://${HOST}:${plain.port}/a`, `CONNECT ${HOST}:${secure.port}`]);
    const fault = await faultOf(ask(secret, { proxy: settings }));
    expect([fault.code, fault.context['fault']]).toEqual(['UPSTREAM_UNREACHABLE', 'tls']);
    expect(secure.requests).toHaveLength(1);
  });

  it('sign in at the proxy with the user and password of its address, which reach nobody else', async () => {
    const certificate = makeCertificate(HOST, VALID);
    const [gate, plain, secure] = [await proxy({ login: 'me:p w' }), await server(), await server(certificate)];
    const settings = proxySettings({ http_proxy: gate.url.replace('//', '//me:p%20w@') });
    await ask(`http://${HOST}:${plain.port}/`, { proxy: settings });
    await ask(`https://${HOST}:${secure.port}/`, { proxy: settings }, certificate.cert);
    for (const { requests } of [plain, secure]) {
      expect(requests).toHaveLength(1);
      expect(Object.keys(requests[0]?.headers ?? {})).not.toContain('proxy-authorization');
    }
    expect(proxyText(settings)).not.toContain('p%20w');
  });

  it('name the proxy when it refuses', async () => {
    const gate = await proxy({ login: 'me:right' });
    const settings = proxySettings({ HTTPS_PROXY: gate.url.replace('//', '//me:CANARY@') });
    const fault = await faultOf(ask(`https://${HOST}:1/`, { proxy: settings }));
    expect(fault.message).toContain('the proxy refused to connect (status 407)');
    expect(fault.message).not.toContain('CANARY');
  });

  it('go directly to hosts of NO_PROXY, and always to this machine', async () => {
    const [gate, plain] = [await proxy(), await server()];
    await ask(`http://127.0.0.1:${plain.port}/`, { proxy: proxySettings({ HTTP_PROXY: gate.url }) });
    const listed = proxySettings({ HTTP_PROXY: gate.url, NO_PROXY: `other.invalid, .invalid` });
    expect((await faultOf(ask(`http://${HOST}:${plain.port}/`, { proxy: listed }))).context['fault']).toBe('name');
    expect(gate.asked).toEqual([]);
    expect(plain.requests).toHaveLength(1);
  });

  it('to an address that an upstream named go to no private network, neither by number nor by name', async () => {
    const [gate, plain] = [await proxy(), await server()];
    const settings = proxySettings({ HTTP_PROXY: gate.url });
    for (const host of ['10.0.0.1', '[::1]', 'localhost'])
      expect(
        (await faultOf(ask(`http://${host}:${plain.port}/`, { proxy: settings, isPublicOnly: true }))).context['fault'],
      ).toBe('address');
    expect(gate.asked).toEqual([]);
  });

  it('to a bucket go the same way, with certificates of its own', async () => {
    const certificate = makeCertificate(HOST, VALID);
    const [gate, secure] = [await proxy(), await server(certificate)];
    const client = createS3Client(
      {
        setting: 'output.s3',
        endpoint: `https://${HOST}:${secure.port}`,
        bucket: 'pages',
        region: 'us-east-1',
        addressing: 'path',
        accessKeyId: new Secret('AKID'),
        secretAccessKey: new Secret('key'),
        ca: certificate.cert,
      },
      { now: () => toEpochMs(0), random: () => 0, proxy: proxySettings({ HTTPS_PROXY: gate.url }) },
    );
    closing.push(client.close);
    expect((await client.request({ method: 'GET', key: 'x' })).status).toBe(200);
    expect(gate.asked).toEqual([`CONNECT ${HOST}:${secure.port}`]);
  });
});

describe('the address of a proxy', () => {
  it('may lack its scheme, and in small letters goes first', () => {
    expect(proxySettings({ HTTP_PROXY: 'other:1', http_proxy: 'proxy.example.com:3128' }).http).toBe(
      'http://proxy.example.com:3128',
    );
    expect(proxySettings({ NO_PROXY: 'a' })).toEqual({ http: '', https: '', direct: '' });
  });

  it('is refused by its variable where it is none', () => {
    for (const HTTPS_PROXY of ['socks5://127.0.0.1:1080', 'http://'])
      expect(() => proxySettings({ HTTPS_PROXY })).toThrow(/HTTPS_PROXY: expected the address of an HTTP proxy/);
  });
});

describe('certificates of one’s own', () => {
  const load = (ca: string) =>
    parseConfig(
      {
        text: `site: { url: "https://x.example" }\nupstreams: [{ id: a, kind: server-monitor, baseUrl: "https://x.example", apiKey: "\${K}", ca: ${JSON.stringify(ca)} }]\n`,
        file: null,
        folder: '/',
      },
      CONNECTORS,
      { K: 'k', PEM: makeCertificate('x.example', VALID).cert },
    );

  it('belong to one upstream, in PEM', () => {
    expect(load('${PEM}').upstreams[0]?.ca).toMatch(/^-----BEGIN CERTIFICATE-----/);
    for (const wrong of ['./ca.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])
      expect(() => load(wrong)).toThrow(/upstreams\[0\]\.ca: expected certificates in PEM/);
  });

  it('are trusted for the requests that name them and for no others', async () => {
    const certificate = makeCertificate('127.0.0.1', VALID);
    const secure = await server(certificate);
    const http = createHttp();
    closing.push(http.close);
    const question = { method: 'GET', url: secure.origin, headers: {} } as const;
    const now = () => toEpochMs(0);
    expect((await http.request(question, { now, ca: certificate.cert })).payload).toEqual({ a: 1 });
    expect((await faultOf(http.request(question, { now }))).message).toContain('set ca on this upstream');
  });
});

describe('IPv6', () => {
  it.skipIf(!HAS_IPV6)(
    `is an address like any other${HAS_IPV6 ? '' : ' (skipped: this machine has none)'}`,
    async () => {
      const listening = createServer((_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":6}'),
      );
      await new Promise<void>((resolve) => listening.listen(0, '::1', resolve));
      closing.push(() => new Promise((done) => listening.close(done)));
      const { port } = listening.address() as AddressInfo;
      expect((await ask(`http://[::1]:${port}/`, {})).payload).toEqual({ a: 6 });
      expect(
        (await ask(`http://[::1]:${port}/`, { proxy: proxySettings({ HTTP_PROXY: 'http://127.0.0.1:9' }) })).payload,
      ).toEqual({ a: 6 });
    },
  );
});
