/** The page of the operators: how each part does, what happened, and what can be done about it. In English, like the command line. */

import { type EpochMs, HOUR_MS, MINUTE_MS, type State } from '../model/index.ts';
import { type Format, formatOf, type TimeView } from './format.ts';
import type { CircuitFacts, OpsFacts, PageFacts, RunFacts, UpstreamFacts } from './ops-facts.ts';
import { plainShellOf, type ShellView } from './shell.ts';

export interface OpsView {
  readonly shell: ShellView;
  readonly heading: string;
  readonly sentence: string;
  /** What the last button did; null: none was pressed. */
  readonly notice: string | null;
  /** What needs a look, worst first; empty when all is well. */
  readonly attention: readonly string[];
  /** Goes with every form. */
  readonly formToken: string;
  /** Whether pulls and rebuilds can be asked for. */
  readonly canRun: boolean;
  readonly asOf: TimeView;
  readonly version: string;
  readonly upstreams: readonly UpstreamRow[];
  readonly runs: readonly RunRow[];
  readonly pages: readonly PageRow[];
  /** Pages that are not listed. */
  readonly pagesHidden: number;
  readonly exports: readonly { readonly id: string; readonly counts: string; readonly error: string | null }[];
  readonly mail: string;
  readonly audit: readonly AuditRow[];
  readonly signIns: readonly { readonly page: string; readonly counts: string }[];
}

export interface UpstreamRow {
  readonly id: string;
  readonly kind: string;
  readonly state: State;
  readonly heard: TimeView | null;
  readonly age: string;
  readonly quota: string;
  readonly circuit: string;
  readonly error: { readonly at: TimeView; readonly code: string; readonly message: string } | null;
}

export interface RunRow {
  readonly id: string;
  readonly trigger: string;
  readonly started: TimeView | null;
  readonly duration: string;
  readonly state: State;
  readonly outcome: string;
}

export interface PageRow {
  readonly slug: string;
  readonly title: string;
  readonly href: string;
  readonly gate: string;
  readonly state: State;
  readonly release: string;
  readonly asOf: TimeView | null;
  readonly size: string;
  readonly others: readonly { readonly number: number; readonly text: string }[];
}

export interface AuditRow {
  readonly at: TimeView;
  readonly who: string;
  readonly what: string;
  readonly from: string;
  readonly outcome: string;
}

/** A site of a thousand pages is looked through by address, not on one page. */
const PAGES_SHOWN = 100;

/** `notice`: what the last button did. */
export function opsView(
  facts: OpsFacts,
  { formToken, notice }: { readonly formToken: string; readonly notice: string | null },
): OpsView {
  const format = formatOf('en', facts.timezone);
  const attention = attentionOf(facts);
  const title = `Operators · ${facts.siteName}`;
  return {
    shell: {
      ...plainShellOf({ locale: 'en', title, siteTitle: facts.siteName, base: '../' }),
      state: attention.length === 0 ? 'operational' : 'degraded',
    },
    heading: 'Operators',
    sentence: sentenceOf(facts, attention.length),
    notice,
    attention,
    formToken,
    canRun: facts.canRun,
    asOf: format.timeWithZone(facts.now),
    version: facts.version,
    upstreams: facts.upstreams.map((upstream) => upstreamRow(upstream, facts.now, format)),
    runs: facts.runs.map((run) => runRow(run, facts.now, format)),
    pages: facts.pages.slice(0, PAGES_SHOWN).map((page) => pageRow(page, format)),
    pagesHidden: Math.max(0, facts.pages.length - PAGES_SHOWN),
    exports: facts.exports.map(({ id, queued, sent, rejected, lastError }) => ({
      id,
      counts: `${format.number(queued)} queued, ${format.number(sent)} sent, ${format.number(rejected)} rejected`,
      error: lastError,
    })),
    mail: mailWords(facts),
    audit: facts.audit.map(({ at, actor, action, subject, client, outcome }) => ({
      at: format.time(at),
      who: actor,
      what: subject === null ? action : `${action} ${subject}`,
      from: client ?? 'this machine',
      outcome: outcome ?? 'under way',
    })),
    signIns: facts.signIns.map(({ page, signedIn, refused, limited }) => ({
      page: page === '' ? 'no such page' : page,
      counts: `${format.number(signedIn)} signed in, ${format.number(refused)} refused, ${format.number(limited)} told to wait`,
    })),
  };
}

function sentenceOf({ upstreams, pages }: OpsFacts, needed: number): string {
  if (needed > 0) return needed === 1 ? 'One thing needs a look.' : `${needed} things need a look.`;
  const published = pages.length === 1 ? 'the page is published' : `${pages.length} pages are published`;
  const fresh = upstreams.length === 1 ? 'the upstream is fresh' : `${upstreams.length} upstreams are fresh`;
  return `All is well: ${fresh}, ${published}.`;
}

function attentionOf(facts: OpsFacts): string[] {
  const stale = facts.upstreams.filter((upstream) => upstream.isStale);
  const unpublished = facts.pages.filter((page) => page.release === null);
  return [
    ...facts.problems.map(({ slug, message }) => `Page ${slug}: ${message}.`),
    ...unpublished.map(({ slug }) => `Page ${slug} is not published yet.`),
    ...stale.map(({ id, heardAt }) =>
      heardAt === null
        ? `Upstream ${id} has never answered.`
        : `Upstream ${id} is stale; its components show as unknown.`,
    ),
    ...facts.upstreams
      .filter(({ circuit, isStale }) => !isStale && circuit.kind === 'open' && circuit.why !== 'waiting')
      .map(({ id }) => `Upstream ${id} is being left alone.`),
    ...facts.exports
      .filter(({ rejected, lastError }) => rejected > 0 || lastError !== null)
      .map(({ id }) => `Export ${id} has events that were not taken.`),
    ...(facts.mail.isNeeded && !facts.mail.isConfigured
      ? ['A page asks for e-mail addresses, but access.smtp and access.from are not configured.']
      : []),
  ];
}

function upstreamRow(upstream: UpstreamFacts, now: EpochMs, format: Format): UpstreamRow {
  const { id, kind, heardAt, intervalMs, quota, circuit, lastError, monitorsTotal } = upstream;
  const asked = `asked every ${format.duration(intervalMs)}`;
  const monitors = monitorsTotal === null ? '' : `, ${format.number(monitorsTotal)} monitors`;
  return {
    id,
    kind,
    state: upstream.isStale ? 'unknown' : circuit.kind === 'closed' ? 'operational' : 'degraded',
    heard: heardAt === null ? null : format.time(heardAt),
    age: heardAt === null ? `never answered, ${asked}` : `${ageOf(now - heardAt, format)} old, ${asked}${monitors}`,
    quota:
      quota.length === 0
        ? 'no limit'
        : quota
            .map(
              ({ left, max, lengthMs }) =>
                `${format.number(left)} of ${format.number(max)} left ${windowWords(lengthMs)}`,
            )
            .join(', '),
    circuit: circuitWords(circuit, format),
    error: lastError === null ? null : { ...lastError, at: format.time(lastError.at) },
  };
}

function ageOf(ms: number, format: Format): string {
  return format.duration(Math.max(0, ms));
}

function windowWords(lengthMs: number): string {
  return lengthMs >= HOUR_MS ? 'this hour' : lengthMs >= MINUTE_MS ? 'this minute' : 'now';
}

function circuitWords(circuit: CircuitFacts, format: Format): string {
  if (circuit.kind === 'closed') return 'Asked as scheduled';
  if (circuit.kind !== 'open') return 'The next request decides whether it is asked again';
  const until = format.clock(circuit.until).text;
  return {
    failing: `Left alone until ${until}: it failed several times in a row`,
    refused: `Left alone until ${until} or until its options change: it refused the key`,
    waiting: `Left alone until ${until}: it told us to wait`,
  }[circuit.why];
}

function runRow(
  { id, trigger, startedAt, endedAt, hasFailed, outcome }: RunFacts,
  now: EpochMs,
  format: Format,
): RunRow {
  const isOver = startedAt !== null && endedAt !== null;
  return {
    id,
    trigger,
    started: startedAt === null ? null : format.time(startedAt),
    duration:
      startedAt === null
        ? '–'
        : isOver
          ? lengthWords(endedAt - startedAt, format)
          : `${ageOf(now - startedAt, format)} so far`,
    state: isOver ? (hasFailed ? 'degraded' : 'operational') : 'maintenance',
    outcome: startedAt === null ? 'waits for its turn' : isOver ? outcome : 'under way',
  };
}

function lengthWords(ms: number, format: Format): string {
  return ms < 10_000 ? `${format.number(ms)} ms` : format.duration(ms);
}

const GATES: Readonly<Record<PageFacts['access'], string>> = {
  public: 'public',
  password: 'password',
  'email-domain': 'e-mail domain',
};

function pageRow({ slug, title, url, access, release, others }: PageFacts, format: Format): PageRow {
  return {
    slug,
    title,
    href: url,
    gate: GATES[access],
    state: release === null ? 'unknown' : 'operational',
    release: release === null ? 'not published' : `release ${release.number}`,
    asOf: release === null ? null : format.time(release.asOf),
    size:
      release === null ? '' : `${format.number(release.filesTotal)} files, ${sizeWords(release.bytesTotal, format)}`,
    others: others.map(({ number, asOf }) => ({ number, text: `${number}, as of ${format.time(asOf).text}` })),
  };
}

function sizeWords(bytes: number, format: Format): string {
  return bytes < 1_000_000
    ? `${format.number(Math.ceil(bytes / 1_000))} kB`
    : `${format.number(Math.ceil(bytes / 100_000) / 10)} MB`;
}

function mailWords({ mail }: OpsFacts): string {
  if (!mail.isNeeded) return 'No page asks for e-mail addresses.';
  if (!mail.isConfigured) return 'No mail server is configured: nobody can be sent a link.';
  return mail.waiting === 0
    ? 'No mail waits.'
    : `${mail.waiting} ${mail.waiting === 1 ? 'mail waits' : 'mails wait'} to be taken by the mail server.`;
}
