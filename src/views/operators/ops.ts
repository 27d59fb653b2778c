/** The page of the operators: how each part does, what happened, and what can be done about it. In English, like the command line. */

import { type EpochMs, HOUR_MS, MINUTE_MS, type State } from '../../model/index.ts';
import { buildPlainShell } from '../frame/shell.ts';
import { type Format, formatIn, type TimeView } from '../text/format.ts';
import type { CircuitFacts, OpsFacts, OpsPageFacts, RunFacts, UpstreamFacts } from './ops-facts.ts';

// The runs on the operators' page: those that say the same one after the other are one row.

const RUNS_SHOWN = 20;

type Words = Readonly<ReturnType<typeof createWords>>;

/** Newest first. */
function runRows(runs: readonly RunFacts[], words: Words) {
  const groups: RunFacts[][] = [];
  for (const run of runs) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && saysTheSame(group[0], run)) group.push(run);
    else groups.push([run]);
  }
  return groups.slice(0, RUNS_SHOWN).flatMap((group) => group.slice(0, 1).map((last) => runRow(last, group, words)));
}

/** Whether two that ended differ in nothing but when they were. */
function saysTheSame(a: RunFacts, b: RunFacts): boolean {
  const isOver = a.endedAt !== null && b.endedAt !== null;
  return isOver && a.trigger === b.trigger && a.hasFailed === b.hasFailed && a.outcome === b.outcome;
}

function runRow(
  { id, trigger, startedAt, endedAt, hasFailed, outcome }: RunFacts,
  group: readonly RunFacts[],
  { now, format, moment }: Words,
) {
  const isOver = startedAt !== null && endedAt !== null;
  const firstAt = group.at(-1)?.startedAt ?? null;
  const state: State = !isOver ? 'maintenance' : hasFailed ? 'degraded' : 'operational';
  return {
    id,
    trigger,
    started: startedAt === null ? null : moment(startedAt),
    duration:
      startedAt === null
        ? '–'
        : isOver
          ? lengthWords(endedAt - startedAt, format)
          : `${format.duration(Math.max(0, now - startedAt))} so far`,
    state,
    outcome: startedAt === null ? 'queued' : isOver ? outcome : 'in progress',
    // `5 times since 13:40:00`, of runs that say the same.
    times: group.length === 1 || firstAt === null ? null : `${group.length} times since ${moment(firstAt).text}`,
  };
}

function lengthWords(ms: number, format: Format): string {
  return ms < 10_000 ? `${format.number(ms)} ms` : format.duration(ms);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function createWords(now: EpochMs, timeZone: string) {
  const format = formatIn('en', timeZone);
  const parts = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZone } as const;
  const clock = clocks.getOrInsertComputed(timeZone, () => new Intl.DateTimeFormat('en', parts));
  /** An instant as operators read it: `13:42:05` today, `Nov 20, 13:42` before, in the zone of the site. */
  const moment = (at: EpochMs): TimeView => {
    const earlier = format.plain.timeInYear(at);
    return format.isSameDay(at, now) ? { iso: earlier.iso, text: clock.format(at) } : earlier;
  };
  return { now, format, moment };
}

/** What each field says is in the function that makes it. */
export type OpsView = ReturnType<typeof opsView>;

/** More than these are counted, not named. */
const NAMED_MAX = 5;
/** A report keeps so many notes of each kind; with fewer in all none was cut. */
const NOTES_CUT_AT = 20;

/** `notice`: what the last button did. */
export function opsView(
  facts: OpsFacts,
  init: { readonly formToken: string; readonly notice: string | null; readonly canAct?: boolean },
) {
  const { formToken, notice, canAct = true } = init;
  const words = createWords(facts.now, facts.timezone);
  const { format, moment } = words;
  const count = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, value]) => `${format.number(value)} ${name}`)
      .join(', ');
  const attention = listAttention(facts);
  const title = `Operators · ${facts.siteName}`;
  const state: State = attention.length === 0 ? 'operational' : 'degraded';
  return {
    shell: { ...buildPlainShell({ locale: 'en', title, siteTitle: facts.siteName, base: '../' }), state },
    heading: 'Operators',
    sentence: summarise(facts, attention.length),
    notice,
    attention,
    formToken,
    canRun: facts.canRun && canAct,
    idle: canAct
      ? 'This process only serves pages. It does not sync or publish.'
      : 'Your role sees this page and changes nothing.',
    asOf: format.zoned.time(facts.now),
    version: facts.version,
    upstreams: facts.upstreams.map((upstream) => upstreamRow(upstream, words)),
    runs: runRows(facts.runs, words),
    pages: facts.pages.map((page) => pageRow(page, words)),
    pagesHidden: facts.pagesTotal - facts.pages.length,
    exports: facts.exports.map(({ id, queued, sent, rejected, parked, lastError: error }) => ({
      ...{ id, error, counts: count({ queued, sent, rejected, parked }) },
    })),
    notices: facts.notices.map(({ channel: id, queued: waiting, sent, rejected, parked, lastError: error }) => ({
      ...{ id, error, counts: count({ waiting, sent, rejected, undeliverable: parked }) },
    })),
    subscribers: facts.subscribers.map(({ page, active, paused, pending }) => ({
      ...{ page, counts: count({ subscribed: active, paused, 'not confirmed': pending }) },
    })),
    mail: mailWords(facts),
    audit: facts.audit.map(({ at, actor, action, subject, client, outcome }) => ({
      at: moment(at),
      who: actor,
      what: subject === null ? action : `${action} ${subject}`,
      from: client ?? 'this machine',
      outcome: outcome ?? 'in progress',
    })),
    signIns: facts.signIns.map(({ page, signedIn, refused, limited }) => ({
      page: page === '' ? 'no such page' : page,
      counts: count({ 'signed in': signedIn, refused, 'rate-limited': limited }),
    })),
  };
}

function summarise({ upstreams, pagesTotal }: OpsFacts, needed: number): string {
  if (needed > 0) return needed === 1 ? '1 thing needs attention.' : `${needed} things need attention.`;
  const published = pagesTotal === 1 ? 'the page is published' : `${pagesTotal} pages are published`;
  const fresh = upstreams.length === 1 ? 'the upstream is up to date' : `${upstreams.length} upstreams are up to date`;
  return `All good: ${fresh}, ${published}.`;
}

export function holdRemedy(slug: string): string {
  return `To end the hold, run pharos rollback ${slug} --release.`;
}

function listAttention(facts: OpsFacts): string[] {
  const stale = facts.upstreams.filter((upstream) => upstream.isStale);
  const unpublished = facts.pages.filter((page) => page.release === null);
  return [
    ...facts.problems.map(({ slug, message }) => `Page ${slug}: ${message.replace(/\.$/, '')}.`),
    ...(facts.unpublishedTotal > NAMED_MAX
      ? [`${facts.unpublishedTotal} pages are not published yet.`]
      : unpublished.map(({ slug }) => `Page ${slug} is not published yet.`)),
    ...facts.heldPages.map(({ slug, release }) => `Page ${slug} is on hold at release ${release}. ${holdRemedy(slug)}`),
    ...stale.map(({ id, heardAt }) =>
      heardAt === null
        ? `Upstream ${id} has never answered.`
        : `Upstream ${id} is stale; its components show as unknown.`,
    ),
    ...facts.upstreams
      .filter(({ circuit, isStale }) => !isStale && circuit.kind === 'open' && circuit.why !== 'waiting')
      .map(({ id }) => `Upstream ${id} is in back-off (circuit open).`),
    ...facts.exports
      .filter(({ rejected, parked, lastError }) => rejected > 0 || parked > 0 || lastError !== null)
      .map(
        ({ id, rejected, parked, lastError }) =>
          `Export ${id}: ${rejected} rejected, ${parked} parked.${lastError === null ? '' : ` Last error: ${lastError}`}`,
      ),
    ...facts.notices
      .filter(({ parked }) => parked > 0)
      .map(({ channel }) => `Messages via ${channel} could not be delivered for five days and will not be sent.`),
    ...facts.notices
      .filter(({ queued, lastError }) => queued > 0 && lastError !== null)
      .map(({ channel, lastError }) => `Messages via ${channel} are waiting: ${lastError}`),
    ...facts.targets.map(({ place, message }) => `Output ${place} is not up to date: ${message}`),
    ...(facts.mail.isNeeded && !facts.mail.isConfigured
      ? ['A page uses email sign-in, but access.smtp and access.from are not configured.']
      : []),
  ];
}

function upstreamRow(upstream: UpstreamFacts, { now, format, moment }: Words) {
  const { id, kind, heardAt, intervalMs, quota, circuit, lastError, monitorsTotal, notes, places } = upstream;
  const state: State = upstream.isStale ? 'unknown' : circuit.kind === 'closed' ? 'operational' : 'degraded';
  const asked = `synced every ${format.duration(intervalMs)}`;
  const monitors = monitorsTotal === null ? '' : `, ${format.number(monitorsTotal)} monitors`;
  return {
    id,
    kind,
    state,
    heard: heardAt === null ? null : moment(heardAt),
    age:
      heardAt === null
        ? `never answered, ${asked}`
        : `${format.duration(Math.max(0, now - heardAt))} old, ${asked}${monitors}`,
    quota:
      quota.length === 0
        ? 'no limit'
        : quota
            .map(
              ({ left, max, lengthMs }) =>
                `${format.number(left)} of ${format.number(max)} left ${windowWords(lengthMs)}`,
            )
            .join(', '),
    circuit: circuitWords(circuit, moment),
    places: places.length === 0 ? null : places.map(({ place, at }) => `${place} (${moment(at).text})`).join(', '),
    error: lastError === null ? null : { ...lastError, at: moment(lastError.at) },
    notes: notes.length === 0 ? null : { title: notesTitle(notes.length), items: notes },
  };
}

function notesTitle(count: number): string {
  if (count === 1) return '1 note from the last pass';
  return count < NOTES_CUT_AT ? `${count} notes from the last pass` : `At least ${count} notes from the last pass`;
}

function windowWords(lengthMs: number): string {
  return lengthMs >= HOUR_MS ? 'this hour' : lengthMs >= MINUTE_MS ? 'this minute' : 'now';
}

function circuitWords(circuit: CircuitFacts, moment: Words['moment']): string {
  if (circuit.kind === 'closed') return 'Queried on schedule';
  if (circuit.kind !== 'open') return 'Circuit half-open: the next request decides';
  const until = moment(circuit.until).text;
  return {
    failing: `Back-off until ${until}: it failed several times in a row`,
    refused: `Back-off until ${until} or until its options change: it rejected the key`,
    waiting: `Back-off until ${until}: it asked us to wait`,
  }[circuit.why];
}

const GATES: Readonly<Record<OpsPageFacts['access'], string>> = {
  public: 'public',
  ip: 'address',
  password: 'password',
  'email-domain': 'email domain',
  oidc: 'single sign-on',
};

function pageRow({ slug, title, url, access, release, others }: OpsPageFacts, { format, moment }: Words) {
  const state: State = release === null ? 'unknown' : 'operational';
  return {
    slug,
    title,
    href: url,
    gate: GATES[access],
    state,
    release: release === null ? 'not published' : `release ${release.number}`,
    asOf: release === null ? null : moment(release.asOf),
    size:
      release === null ? '' : `${format.number(release.filesTotal)} files, ${sizeWords(release.bytesTotal, format)}`,
    others: others.map(({ number, asOf }) => ({ number, text: `${number}, of ${moment(asOf).text}` })),
  };
}

function sizeWords(bytes: number, format: Format): string {
  return bytes < 1_000_000
    ? `${format.number(Math.ceil(bytes / 1_000))} kB`
    : `${format.number(Math.ceil(bytes / 100_000) / 10)} MB`;
}

function mailWords({ mail }: OpsFacts): string {
  if (!mail.isNeeded) return 'No page uses email sign-in.';
  if (!mail.isConfigured) return 'No mail server is configured, so sign-in links can’t be sent.';
  if (mail.isPrinted) return 'Sign-in emails are printed in the terminal, not sent.';
  return mail.waiting === 0
    ? 'No email is waiting.'
    : `${mail.waiting} ${mail.waiting === 1 ? 'email is' : 'emails are'} waiting for the mail server.`;
}
