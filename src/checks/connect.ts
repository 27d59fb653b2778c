/** Names and connections of checks, part by part, so that each is timed. No name waits in the thread pool of the process. */

import { promises as dns, type LookupAddress } from 'node:dns';
import { addAbortListener } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import pLimit from 'p-limit';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import type { Meter, TryDeps } from './measure.ts';

/** c-ares asks again after this, twice. */
const NAME_TIMEOUT_MS = 2_500;
/** The system's own lookups block a thread each, of the four that files need as well. */
const inThread = pLimit(2);
/** Where asking the system may help: search domains, and machines without a name server. */
const SYSTEM_MAY_KNOW: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/** A resolver of its own, so that it can be cancelled and follows changes of the system's name servers. */
export function createResolver(servers: readonly string[], signal: AbortSignal): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: NAME_TIMEOUT_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  return resolver;
}

/** Rejects when `signal` is aborted, whatever becomes of the task. */
export async function orAborted<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  using _ = addAbortListener(signal, () => reject(signal.reason));
  return await Promise.race([task, promise]);
}

type IpVersion = 4 | 6 | undefined;

/** Addresses of a host; of both versions of IP, unless one is asked for. */
async function lookUp(
  host: string,
  ipVersion: IpVersion,
  { resolver: servers, signal }: TryDeps,
): Promise<readonly LookupAddress[]> {
  const version = net.isIP(host);
  if (version !== 0) return [{ address: host, family: version }];
  const askSystem = (): Promise<LookupAddress[]> =>
    inThread(() => dns.lookup(host, { all: true, family: ipVersion ?? 0 }));
  if (servers.length === 0 && (!host.includes('.') || isInHostsFile(host))) return askSystem();
  const resolver = createResolver(servers, signal);
  const asked = await Promise.allSettled([
    ipVersion === 6 ? [] : resolver.resolve4(host),
    ipVersion === 4 ? [] : resolver.resolve6(host),
  ]);
  const found = asked.flatMap((one, index) =>
    one.status === 'fulfilled' ? one.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
  );
  if (found.length > 0) return found;
  const errors = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as { readonly code?: unknown }] : []));
  if (servers.length === 0 && errors.every(({ code }) => SYSTEM_MAY_KNOW.has(code))) return askSystem();
  throw errors.find(({ code }) => code !== 'ENODATA') ?? errors[0] ?? Object.assign(new Error(), { code: 'ENODATA' });
}

function isInHostsFile(host: string): boolean {
  try {
    return readFileSync('/etc/hosts', 'utf8').split(/\s+/).includes(host);
  } catch {
    return false;
  }
}

/**
 * An open connection, encrypted if so asked. Each part is timed, and ends when the signal does.
 *
 * @param destination  its host without brackets
 */
export async function openConnection(
  { host, port, ipVersion, isTls }: { host: string; port: number; ipVersion: IpVersion; isTls: boolean },
  deps: TryDeps,
  meter: Meter,
): Promise<net.Socket> {
  const addresses =
    net.isIP(host) === 0
      ? await meter.time('name', () => orAborted(lookUp(host, ipVersion, deps), deps.signal))
      : await lookUp(host, ipVersion, deps);
  const socket = net.connect({
    ...{ host, port, noDelay: true },
    lookup: (_host, { all }, done) => {
      const [first] = addresses;
      if (all === true) done(null, [...addresses]);
      else done(null, first?.address ?? '', first?.family ?? 4);
    },
  });
  try {
    await meter.time('connect', () => untilOpen(socket, 'connect', deps.signal));
    if (!isTls) return socket;
    const secure = tls.connect({
      ...{ socket, host, rejectUnauthorized: true, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] },
      ...(net.isIP(host) === 0 ? { servername: host } : {}),
      ...(deps.ca === null ? {} : { ca: deps.ca }),
    });
    await meter.time('tls', () => untilOpen(secure, 'secureConnect', deps.signal));
    meter.certificateEndsAt = endOfCertificate(secure);
    return secure;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Later errors belong to whoever uses the socket; before, there may be nobody. */
async function untilOpen(socket: net.Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const close = (): void => reject(Object.assign(new Error(), { code: 'ECONNRESET' }));
  socket.on('error', () => undefined);
  socket.once('error', reject).once('close', close).once(event, resolve);
  try {
    await orAborted(promise, signal);
  } finally {
    socket.off('error', reject).off('close', close);
  }
}

function endOfCertificate(socket: tls.TLSSocket): EpochMs | null {
  const at = Date.parse(socket.getPeerCertificate().valid_to ?? '');
  return Number.isNaN(at) ? null : toEpochMs(at);
}
