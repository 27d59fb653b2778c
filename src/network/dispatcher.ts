/**
 * Creates undici's dispatchers, with proxies, certificates and limits. All outgoing HTTP uses this module.
 */

import { isUtf8 } from 'node:buffer';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch } from 'undici';
import { NO_PROXY, type ProxySettings } from './proxy.ts';

export type { Dispatcher } from 'undici';

interface DispatcherOptions {
  readonly connectMs: number;
  /** From sending the request to the last header. */
  readonly headersMs: number;
  /** Longest pause between two chunks of the body. */
  readonly idleMs: number;
  /** Sockets to one origin. */
  readonly connectionsMax: number;
  /** True: a new connection for each request, so that none fails because the other side closed an idle one. */
  readonly isEachAlone?: boolean;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string | undefined;
  /** Resolves names, unless a proxy does. */
  readonly lookup?: LookupFunction | undefined;
  /** Default: none. */
  readonly proxy?: ProxySettings | undefined;
}

/** Creates a dispatcher. It keeps connections open until it is closed or destroyed, unless `isEachAlone` is set. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { connectMs, headersMs, idleMs, connectionsMax, ca, lookup, proxy = NO_PROXY, isEachAlone = false } = options;
  // The environment cannot turn certificate checks off.
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) } as const;
  const limits = {
    // Only HTTP/1.1 has been tested.
    allowH2: false,
    connect: { timeout: connectMs, ...tls, ...(lookup === undefined ? {} : { lookup }) },
    connections: connectionsMax,
    // 0 means that a connection ends with its request.
    pipelining: isEachAlone ? 0 : 1,
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
  };
  if (proxy.http === '' && proxy.https === '') return new Agent(limits);
  return new EnvHttpProxyAgent({
    ...limits,
    connectTimeout: connectMs,
    requestTls: { ...tls, timeout: connectMs },
    // Certificates of proxies are trusted by the machine (NODE_EXTRA_CA_CERTS), not by an upstream's setting.
    proxyTls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', timeout: connectMs },
    // Set explicitly, so that undici doesn't read the environment.
    httpProxy: proxy.http,
    httpsProxy: proxy.https,
    noProxy: proxy.direct,
  });
}

/** A `fetch` that uses the dispatcher, for libraries that send their own requests. */
export function createFetch(dispatcher: Dispatcher): (url: string, init: object) => Promise<Response> {
  return async (url, init) => (await fetch(url, { ...init, dispatcher })) as unknown as Response;
}

/** The value of a header as its sender wrote it: undici reads all as Latin-1, and most write UTF-8. */
export function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}
