/** One try of any check, within its time. Never throws: what went wrong is in what it returns. */

import type { Check, DnsCheck } from '../sync/connectors/check.ts';
import { expectation, holds } from './assertions.ts';
import { createResolver, openConnection, orAborted } from './connect.ts';
import { tryHttp } from './http.ts';
import { CheckFault, createMeter, type Meter, type Try, type TryDeps, wordsOfFault } from './measure.ts';

export async function tryCheck(check: Check, deps: TryDeps): Promise<Try> {
  const meter = createMeter();
  const deadline = new AbortController();
  const stop = (): void => deadline.abort();
  deps.signal.addEventListener('abort', stop, { once: true });
  if (deps.signal.aborted) stop();
  const timer = setTimeout(() => deadline.abort(), check.timeout);
  const bounded = { ...deps, signal: deadline.signal };
  const ended = (fault: string | null, hasAnswered: boolean): Try => ({
    ...{ fault, hasAnswered: hasAnswered || meter.hasAnswered },
    phases: meter.phases(),
    certificateEndsAt: meter.certificateEndsAt,
  });
  try {
    await orAborted(tryKind(check, bounded, meter), deadline.signal);
    return ended(null, true);
  } catch (error) {
    if (deadline.signal.aborted) return ended(meter.timeoutWords(check.timeout), false);
    const { fault, hasAnswered } = wordsOfFault(error);
    return ended(fault, hasAnswered);
  } finally {
    clearTimeout(timer);
    deps.signal.removeEventListener('abort', stop);
    // Ends what a failure left open.
    deadline.abort();
  }
}

async function tryKind(check: Check, deps: TryDeps, meter: Meter): Promise<void> {
  switch (check.type) {
    case 'http':
      return tryHttp(check, deps, meter);
    case 'tcp': {
      const socket = await openConnection(
        { ...hostAndPort(check.uri), ipVersion: check.ip_version, isTls: false },
        deps,
        meter,
      );
      socket.destroy();
      return;
    }
    case 'dns':
      return tryDns(check, deps, meter);
  }
}

/** Of `host:port` and `[address]:port`. */
function hostAndPort(uri: string): { readonly host: string; readonly port: number } {
  const colon = uri.lastIndexOf(':');
  return { host: uri.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(uri.slice(colon + 1)) };
}

type RecordKind = DnsCheck['record_assertions'][number]['record'];

/** Of several records of a kind, `eq` and `contains` need one that does, `neq` and `not_contains` that none does otherwise. */
async function tryDns(check: DnsCheck, deps: TryDeps, meter: Meter): Promise<void> {
  const resolver = createResolver(deps.resolver, deps.signal);
  const find = (record: RecordKind): Promise<readonly (readonly string[])[]> =>
    meter.time('name', () => recordsOf(resolver, check.uri, record));
  if (check.record_assertions.length === 0) {
    const records = check.ip_version === 6 ? [] : await find('A');
    if (records.length === 0 && (check.ip_version === 4 || (await find('AAAA')).length === 0))
      throw new CheckFault('it has no address');
    return;
  }
  const kinds = new Set(check.record_assertions.map(({ record }) => record));
  const found = new Map<RecordKind, readonly (readonly string[])[]>();
  for (const kind of kinds) found.set(kind, await find(kind));
  for (const { record, comparator, target } of check.record_assertions) {
    const records = found.get(record) ?? [];
    const wanted = record === 'TXT' ? target : normal(target);
    const meets = (one: string): boolean => holds(one, comparator, wanted);
    const isMet =
      comparator === 'eq' || comparator === 'contains'
        ? records.some((words) => words.some(meets))
        : records.every((words) => words.every(meets));
    if (!isMet) throw new CheckFault(expectation(`a record ${record}`, comparator, target));
  }
}

/** Names in DNS have no case, and may end with a dot. */
function normal(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
}

/** Each record in the words that it may be compared with; empty: the name exists and has none. */
async function recordsOf(
  resolver: ReturnType<typeof createResolver>,
  name: string,
  record: RecordKind,
): Promise<readonly (readonly string[])[]> {
  try {
    switch (record) {
      case 'MX':
        return (await resolver.resolveMx(name)).map(({ exchange, priority }) => [
          normal(exchange),
          `${priority} ${normal(exchange)}`,
        ]);
      case 'TXT':
        return (await resolver.resolveTxt(name)).map((chunks) => [chunks.join('')]);
      case 'A':
        return (await resolver.resolve4(name)).map((address) => [address]);
      case 'AAAA':
        return (await resolver.resolve6(name)).map((address) => [normal(address)]);
      case 'CNAME':
        return (await resolver.resolveCname(name)).map((target) => [normal(target)]);
    }
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENODATA') return [];
    throw error;
  }
}

/** The host that a check asks, for what concerns all checks of it. */
export function hostOf(check: Check): string {
  return check.type === 'http' ? new URL(check.url).host : check.uri.toLowerCase();
}
