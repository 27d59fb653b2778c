/** One try of any check, within its time. Never throws: what went wrong is in what it returns. */

import type { promises as dns } from 'node:dns';
import { addAbortListener } from 'node:events';
import type { Check, DnsCheck } from '../sync/connectors/check.ts';
import { createResolver, openConnection, orAborted } from './connect.ts';
import { tryHttp } from './http.ts';
import {
  CheckFault,
  createMeter,
  expectation,
  holds,
  type Meter,
  type Try,
  type TryDeps,
  wordsOfFault,
} from './measure.ts';

export async function tryCheck(check: Check, deps: TryDeps): Promise<Try> {
  const meter = createMeter();
  const deadline = new AbortController();
  using _ = addAbortListener(deps.signal, () => deadline.abort());
  const timer = setTimeout(() => deadline.abort(), check.timeout);
  const ended = (fault: string | null, hasAnswered: boolean): Try => ({
    ...{ fault, hasAnswered: hasAnswered || meter.hasAnswered },
    phases: meter.phases(),
    certificateEndsAt: meter.certificateEndsAt,
  });
  try {
    await orAborted(tryKind(check, { ...deps, signal: deadline.signal }, meter), deadline.signal);
    return ended(null, true);
  } catch (error) {
    if (deadline.signal.aborted) return ended(meter.timeoutWords(check.timeout), false);
    const { fault, hasAnswered } = wordsOfFault(error);
    return ended(fault, hasAnswered);
  } finally {
    clearTimeout(timer);
    // Ends what a failure left open.
    deadline.abort();
  }
}

async function tryKind(check: Check, deps: TryDeps, meter: Meter): Promise<void> {
  switch (check.type) {
    case 'http':
      return tryHttp(check, deps, meter);
    case 'tcp': {
      const target = { ...hostAndPort(check.uri), ipVersion: check.ip_version, isTls: false };
      (await openConnection(target, deps, meter)).destroy();
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
/** Each record in the words that it may be compared with. */
type Records = readonly (readonly string[])[];

/** Of several records of a kind, `eq` and `contains` need one that does, `neq` and `not_contains` that none does otherwise. */
async function tryDns(check: DnsCheck, deps: TryDeps, meter: Meter): Promise<void> {
  const resolver = createResolver(deps.resolver, deps.signal);
  const find = (record: RecordKind): Promise<Records> =>
    meter.time('name', () => recordsOf(resolver, check.uri, record));
  if (check.record_assertions.length === 0) {
    const records = check.ip_version === 6 ? [] : await find('A');
    if (records.length === 0 && (check.ip_version === 4 || (await find('AAAA')).length === 0))
      throw new CheckFault('it has no address');
    return;
  }
  const found = new Map<RecordKind, Records>();
  for (const { record } of check.record_assertions) if (!found.has(record)) found.set(record, await find(record));
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

/** Empty: the name exists and has none. */
async function recordsOf(resolver: dns.Resolver, name: string, record: RecordKind): Promise<Records> {
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
