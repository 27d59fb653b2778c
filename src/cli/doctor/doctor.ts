import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreParts } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { releaseProblems } from '../../app/plan.ts';
import { type ProbeHooks, probeUpstream } from '../../app/probe.ts';
import type { Config } from '../../config/load.ts';
import { hasOperators } from '../../config/rules.ts';
import { WRITTEN_ID } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import { releaseFolders } from '../../publish/releases/folders.ts';
import { counted } from '../../schema/counted.ts';
import { TOKEN_LENGTH_MIN } from '../../schema/secret.ts';
import type { Upstream } from '../../sync/upstream.ts';
import { loadConfig, type Options, openQuietly, openToRead, print } from '../common.ts';
import { allDone, createProgress, type Progress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { clockFinding, type Finding, fault, findingLines, ok, SKEW_WARN_MS, skipped, warning } from './finding.ts';
import { providerFindings } from './identity-provider.ts';
import { folderFindings, permissionFinding, versionFindings } from './machine.ts';
import {
  certificateFinding,
  databaseServerFindings,
  domainFinding,
  isLoopback,
  proxyFinding,
  smtpFinding,
} from './network.ts';

/** Looks for common problems and prints remedies; without `network`, only on this machine. Changes and sends nothing. */
export async function doctor(options: Options & { readonly network: boolean }): Promise<number> {
  const config = loadConfig(options.config);
  using progress = createProgress(options.quiet ?? options.json ?? false);
  const findings = config === null ? await machineFindings() : await allFindings(config, options.network, progress);
  progress.end();
  const isOk = findings.every(({ result }) => result !== 'fault');
  const counts = (['fault', 'warning'] as const).flatMap((result) => {
    const count = findings.filter((finding) => finding.result === result).length;
    return count === 0 ? [] : [counted(count, `${result}s`)];
  });
  const sum = counts.length === 0 ? 'No problems found.' : `Found ${counts.join(' and ')}.`;
  const text = [...findings.flatMap(findingLines), '', sum].join('\n');
  return print(options, { ok: isOk, config: config?.file ?? null, findings }, text, isOk);
}

/** Without a configuration, checks only this machine. */
async function machineFindings(): Promise<Finding[]> {
  const words = 'no pharos.yaml in this folder; create one with `pharos init`, or use --config FILE';
  return [
    ...versionFindings(),
    proxyFinding(process.env),
    ...(await folderFindings(process.cwd(), false)),
    skipped('configuration', words),
  ];
}

async function allFindings(config: Config, hasNetwork: boolean, progress: Progress): Promise<Finding[]> {
  const found = [
    ...versionFindings(),
    proxyFinding(process.env),
    ...settingFindings(config, now()),
    ...(await folderFindings(config.data, config.store === undefined)),
    permissionFinding(config.data),
    ...releaseProblems(releaseFolders(config.data)).map(({ slug, message }) =>
      warning(`page ${slug}`, message, 'If it happens again, check the disk and its free space.'),
    ),
    ...(config.store !== undefined && !hasNetwork ? [skipped('database', 'not checked without the network')] : []),
  ];
  const faults = new Set(found.filter(({ result }) => result === 'fault').map(({ name }) => name));
  // A full disk causes other failures, so it comes first.
  const isFullDisk = ({ name, result }: Finding): boolean => name === 'disk space' && result === 'fault';
  const here = found.toSorted((a, b) => Number(isFullDisk(b)) - Number(isFullDisk(a)));
  const isSound = faults.isDisjointFrom(new Set(['database', 'data folder', 'disk space']));
  return hasNetwork ? [...here, ...(await networkFindings(config, isSound, progress))] : here;
}

/** @param isSound whether the data folder may be opened: a damaged database is not touched */
async function networkFindings(config: Config, isSound: boolean, progress: Progress): Promise<Finding[]> {
  const { store } = config;
  const server = store === undefined ? null : await databaseServerFindings(store.url.reveal(), now);
  const hasDatabase = isSound && (server === null ? existsSync(join(config.data, 'pharos.db')) : server.isCurrent);
  const tempFolder = hasDatabase ? null : mkdtempSync(join(tmpdir(), 'pharos-doctor-'));
  const pharos =
    tempFolder === null
      ? await openToRead(config)
      : await openQuietly({ ...config, data: tempFolder, store: undefined });
  try {
    const { pages } = (await pharos.readSite(now())).resolved;
    const siteHost = new URL(config.site.url).hostname;
    const domains = pages.flatMap(({ definition }) => definition.customDomain ?? []);
    const needsMail = pages.some(({ definition }) => definition.access === 'email-domain');
    const { asking, waiting } = upstreamProgress(progress, now, (count, total) => `${count} of ${total} checks done`);
    const times = [...(await pharos.store.upstreamTimes()).values()];
    const latest = Math.max(0, ...times.map(({ monitorsAt }) => monitorsAt ?? 0));
    const checks: readonly Promise<Finding | readonly Finding[]>[] = [
      certificateFinding(config.site.url, now()),
      smtpFinding(config, needsMail),
      ...domains.map((domain) => domainFinding(domain, siteHost)),
      providerFindings(config, { now, proxy: pharos.proxy, pages }),
      ...pharos.live
        .upstreams()
        .filter(({ id }) => id !== WRITTEN_ID)
        .map((upstream) => upstreamFindings(pharos, upstream, waiting)),
    ];
    const found = await allDone(checks, asking);
    return [...(server?.findings ?? []), recordFinding(latest - now()), ...found.flat()];
  } finally {
    await pharos[Symbol.asyncDispose]();
    if (tempFolder !== null) rmSync(tempFolder, { recursive: true, force: true });
  }
}

const NTP = 'Let NTP set this machine’s clock (timedatectl set-ntp true)';

async function upstreamFindings(pharos: StoreParts, upstream: Upstream, onWait: NonNullable<ProbeHooks['onWait']>) {
  const { isOk, code, summary, warnings, clockSkewMs } = await probeUpstream(pharos, upstream, { onWait });
  const name = `upstream ${upstream.id}`;
  const remedy = `${REMEDIES[code ?? ''] ?? 'See the message.'} See ${code} in docs/troubleshooting.md.`;
  const notes = warnings.map((text) => warning(name, text, 'See docs/upstreams for what this kind needs.'));
  const answered = notes.length === 0 ? [ok(name, summary)] : notes;
  const clockRemedy = `${NTP}; if it is correct, the upstream’s clock is wrong.`;
  return [
    ...(isOk ? answered : [fault(name, `${code}: ${summary}`, remedy)]),
    clockFinding(upstream.id, clockSkewMs, clockRemedy),
  ];
}

const REMEDIES: Readonly<Record<string, string>> = {
  UPSTREAM_UNREACHABLE: 'Check its address, DNS, firewalls and HTTP_PROXY.',
  UPSTREAM_FAILED: 'The upstream itself is failing. Contact its operator.',
  UPSTREAM_REFUSED: 'Check the key and its permissions.',
  UPSTREAM_LIMITED: 'Wait. If it persists, set limits or a longer schedule.',
  UPSTREAM_SHAPE: 'Check that the address points to the API, not to a login page in front of it.',
  CONFIG_INVALID: 'Check its address and headers in the configuration.',
};

/** @param aheadMs how far the latest recorded answer is ahead of the clock */
function recordFinding(aheadMs: number): Finding {
  if (aheadMs <= SKEW_WARN_MS) return ok('clock', 'not behind what is recorded');
  const words = `answers were recorded ${Math.round(aheadMs / 1_000)} s in the future, so this machine’s clock was set back`;
  return warning('clock', words, `${NTP}. The next sync removes what was recorded for the future.`);
}

export function settingFindings(config: Config, now: EpochMs): Finding[] {
  return [tokenFinding(config), ...hookFindings(config), ...proxyFindings(config), ...securityFindings(config, now)];
}

const NEW_TOKEN = 'Create one: openssl rand -base64 32';

function tokenFinding({ operators }: Config): Finding {
  const name = 'operator token';
  if (!hasOperators({ operators })) {
    const words = 'not set: no rebuilds over HTTP and no operators’ page';
    return warning(name, words, `${NEW_TOKEN}, and set operators.token.`);
  }
  if (operators.token === undefined || isLong(operators.token)) return ok(name, 'long enough');
  return warning(name, `shorter than ${TOKEN_LENGTH_MIN} characters, so it is easy to guess`, `${NEW_TOKEN}.`);
}

function hookFindings({ upstreams }: Config): Finding[] {
  const words = `a secret is shorter than ${TOKEN_LENGTH_MIN} characters`;
  return upstreams
    .filter(({ hook }) => hook !== null && !hook.secrets.every(isLong))
    .map(({ id }) => warning(`hook of ${id}`, words, NEW_TOKEN));
}

const SET_HOPS = 'Set server.trustedProxyHops to the number of proxies that add to X-Forwarded-For, usually 1.';

/** Pharos itself serves plain HTTP, so https requires a proxy. */
function proxyFindings({ site, server, pages }: Config): Finding[] {
  const hops = server.trustedProxyHops;
  const limited = pages.filter(({ allow_ips: ranges }) => ranges !== undefined).map(({ slug }) => slug);
  if (limited.length > 0 && hops === 0 && isLoopback(server.host)) {
    const words = `${limited.join(', ')}: allow_ips lets nobody in from another machine, because visitors can only come by a proxy and server.trustedProxyHops is 0`;
    return [warning('proxy', words, SET_HOPS)];
  }
  const url = new URL(site.url);
  if (url.protocol !== 'https:' || isLoopback(url.hostname)) return [];
  if (hops > 0) return [ok('proxy', `${hops} trusted`)];
  const words =
    'site.url is https, so there must be a proxy in front, but server.trustedProxyHops is 0. All visitors share one sign-in limit';
  return [warning('proxy', words, SET_HOPS)];
}

/** An expired security.txt is published, but nobody trusts it. */
function securityFindings({ site: { security } }: Config, now: EpochMs): Finding[] {
  if (security === undefined) return [];
  const name = 'security.txt';
  const day = security.expires.slice(0, 10);
  if (Date.parse(security.expires) > now) return [ok(name, `valid until ${day}`)];
  return [warning(name, `expired on ${day}`, 'Set site.security.expires to a later date.')];
}

function isLong(secret: { readonly reveal: () => string }): boolean {
  return secret.reveal().length >= TOKEN_LENGTH_MIN;
}
