/**
 * The one way out for HTTP: decides through which proxy, with which certificates and limits. Only here are dispatchers of
 * undici made.
 */

import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch } from 'undici';
import { NO_PROXY, type ProxySettings } from './proxy.ts';

export type { Dispatcher } from 'undici';

interface DispatcherOptions {
  readonly connectMs: number;
  /** From the request sent to the last header. */
  readonly headersMs: number;
  /** Without a byte of the body. */
  readonly idleMs: number;
  /** Sockets to one origin. */
  readonly connectionsMax: number;
  /** Whether each request has a connection of its own: none fails because the other side closed one that had been idle. */
  readonly isEachAlone?: boolean;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string | undefined;
  /** How names are looked up where no proxy does it. */
  readonly lookup?: LookupFunction | undefined;
  /** Default: none. */
  readonly proxy?: ProxySettings | undefined;
}

/** Keeps connections open until it is closed or destroyed, unless each request is alone on its own. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { connectMs, headersMs, idleMs, connectionsMax, ca, lookup, proxy = NO_PROXY, isEachAlone = false } = options;
  // The environment cannot turn certificate checks off.
  const tls = { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) } as const;
  const limits = {
    // Everything here was tried against HTTP/1.1 only.
    allowH2: false,
    connect: { timeout: connectMs, ...tls, ...(lookup === undefined ? {} : { lookup }) },
    connections: connectionsMax,
    // undici's word for connections that end with their request is 0.
    pipelining: isEachAlone ? 0 : 1,
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
  };
  if (proxy.http === '' && proxy.https === '') return new Agent(limits);
  return new EnvHttpProxyAgent({
    ...limits,
    connectTimeout: connectMs,
    requestTls: { ...tls, timeout: connectMs },
    // Whose certificate a proxy has is the machine's matter (NODE_EXTRA_CA_CERTS), not an upstream's.
    proxyTls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', timeout: connectMs },
    // Given here, so that nothing else of the environment is read.
    httpProxy: proxy.http,
    httpsProxy: proxy.https,
    noProxy: proxy.direct,
  });
}

/** `fetch` on this way out, for libraries that bring requests of their own. */
export function createFetch(dispatcher: Dispatcher): (url: string, init: object) => Promise<Response> {
  return async (url, init) => (await fetch(url, { ...init, dispatcher })) as unknown as Response;
}
