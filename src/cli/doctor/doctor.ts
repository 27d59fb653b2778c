import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreParts } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { releaseProblems } from '../../app/plan.ts';
import { type ProbeHooks, type ProbeRow, probeUpstream } from '../../app/probe.ts';
import type { Config } from '../../config/load.ts';
import { hasOperators } from '../../config/rules.ts';
import { WRITTEN_ID } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import { releaseFolders } from '../../publish/releases/folders.ts';
import { counted } from '../../schema/counted.ts';
import type { Upstream } from '../../sync/upstream.ts';
import { type CommonOptions, loadConfig, openQuietly, openToRead, print } from '../common.ts';
import { EXIT_DONE, EXIT_FAILED } from '../terminal/exit.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { type Finding, fault, findingLines, ok, skipped, warning } from './finding.ts';
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

interface DoctorOptions extends CommonOptions {
  /** False: contact nothing outside this machine. */
  readonly network: boolean;
}

const isFullDisk = ({ name, result }: Finding): boolean => name === 'disk space' && result === 'fault';

/** If a clock is further off, times on pages look wrong. */
const SKEW_WARN_MS = 5_000;

/** Looks for common problems and prints remedies. It doesn't change, send or publish anything. */
export async function doctor(options: DoctorOptions): Promise<number> {
  const config = loadConfig(options.config);
  if (config === null) return machineOnly(options);
  using progress = createProgress(options.quiet ?? options.json ?? false);
  const found = [
    ...versionFindings(),
    proxyFinding(process.env),
    ...settingFindings(config, now()),
    ...(await folderFindings(config.data, config.store === undefined)),
    permissionFinding(config.data),
    ...releaseProblems(releaseFolders(config.data)).map(({ slug, message }) =>
      warning(`page ${slug}`, message, 'If it happens again, check the disk and its free space.'),
    ),
    ...(config.store !== undefined && !options.network ? [skipped('database', 'not checked without the network')] : []),
  ];
  // A full disk causes other failures, so it comes first.
  const here = found.toSorted((a, b) => Number(isFullDisk(b)) - Number(isFullDisk(a)));
  const isSound = !here.some(
    ({ name, result }) => result === 'fault' && ['database', 'data folder', 'disk space'].includes(name),
  );
  const around = options.network ? await networkFindings(config, isSound, progress) : [];
  progress.end();
  const findings = [...here, ...around];
  const isOk = findings.every(({ result }) => result !== 'fault');
  print(options, { ok: isOk, config: config.file, findings }, findingsText(findings));
  return isOk ? EXIT_DONE : EXIT_FAILED;
}

/** Without a configuration, checks only this machine. */
async function machineOnly(options: DoctorOptions): Promise<number> {
  const findings = [
    ...versionFindings(),
    proxyFinding(process.env),
    ...(await folderFindings(process.cwd(), false)),
    skipped('configuration', 'no pharos.yaml in this folder; create one with `pharos init`, or use --config FILE'),
  ];
  const isOk = findings.every(({ result }) => result !== 'fault');
  print(options, { ok: isOk, config: null, findings }, findingsText(findings));
  return isOk ? EXIT_DONE : EXIT_FAILED;
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
    const latest = Math.max(
      0,
      ...[...(await pharos.store.upstreamTimes()).values()].map((times) => times.monitorsAt ?? 0),
    );
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
    let done = 0;
    asking(done, checks.length);
    const found = await Promise.all(
      checks.map(async (check) => {
        const findings = await check;
        done += 1;
        asking(done, checks.length);
        return findings;
      }),
    );
    return [...(server?.findings ?? []), clockFinding(latest - now()), ...found.flat()];
  } finally {
    await pharos[Symbol.asyncDispose]();
    if (tempFolder !== null) rmSync(tempFolder, { recursive: true, force: true });
  }
}

async function upstreamFindings(
  pharos: StoreParts,
  upstream: Upstream,
  onWait: NonNullable<ProbeHooks['onWait']>,
): Promise<Finding[]> {
  const row = await probeUpstream(pharos, upstream, { onWait });
  const name = `upstream ${row.upstream}`;
  if (!row.isOk) return [fault(name, `${row.code}: ${row.summary}`, chooseRemedy(row)), ...clockFindings(row)];
  const notes = row.warnings.map((text) => warning(name, text, 'See docs/upstreams for what this kind needs.'));
  return [notes.length === 0 ? ok(name, row.summary) : notes, ...clockFindings(row)].flat();
}

const REMEDIES: Readonly<Record<string, string>> = {
  UPSTREAM_UNREACHABLE: 'Check its address, DNS, firewalls and HTTP_PROXY.',
  UPSTREAM_FAILED: 'The upstream itself is failing. Contact its operator.',
  UPSTREAM_REFUSED: 'Check the key and its permissions.',
  UPSTREAM_LIMITED: 'Wait. If it persists, set limits or a longer schedule.',
  UPSTREAM_SHAPE: 'Check that the address points to the API, not to a login page in front of it.',
  CONFIG_INVALID: 'Check its address and headers in the configuration.',
};

function chooseRemedy({ code }: ProbeRow): string {
  return `${REMEDIES[code ?? ''] ?? 'See the message.'} See ${code} in docs/troubleshooting.md.`;
}

function clockFindings({ upstream, clockSkewMs }: ProbeRow): Finding[] {
  const name = `clock against ${upstream}`;
  if (clockSkewMs === null) return [skipped(name, 'it doesn’t send the time')];
  const seconds = Math.round(Math.abs(clockSkewMs) / 1_000);
  if (Math.abs(clockSkewMs) <= SKEW_WARN_MS) return [ok(name, seconds === 0 ? 'in sync' : `${seconds} s apart`)];
  const words = `its clock is ${seconds} s ${clockSkewMs > 0 ? 'ahead of' : 'behind'} ours`;
  return [
    warning(
      name,
      words,
      'Let NTP set this machine’s clock (timedatectl set-ntp true); if it is correct, the upstream’s clock is wrong.',
    ),
  ];
}

/** @param aheadMs how far the latest recorded answer is ahead of the clock */
function clockFinding(aheadMs: number): Finding {
  const name = 'clock';
  if (aheadMs <= SKEW_WARN_MS) return ok(name, 'not behind what is recorded');
  return warning(
    name,
    `answers were recorded ${Math.round(aheadMs / 1_000)} s in the future, so this machine’s clock was set back`,
    'Let NTP set this machine’s clock (timedatectl set-ntp true). The next sync removes what was recorded for the future.',
  );
}

function findingsText(findings: readonly Finding[]): string {
  const found = (['fault', 'warning'] as const).flatMap((result) => {
    const count = findings.filter((finding) => finding.result === result).length;
    return count === 0 ? [] : [counted(count, `${result}s`)];
  });
  const sum = found.length === 0 ? 'No problems found.' : `Found ${found.join(' and ')}.`;
  return [...findings.flatMap(findingLines), '', sum].join('\n');
}

/** 128 bits in base64. */
const TOKEN_LENGTH_LEAST = 22;

export function settingFindings(config: Config, now: EpochMs): Finding[] {
  return [tokenFinding(config), ...hookFindings(config), ...proxyFindings(config), ...securityFindings(config, now)];
}

function tokenFinding({ operators }: Config): Finding {
  const name = 'operator token';
  const make = 'Create one: openssl rand -base64 32';
  if (!hasOperators({ operators }))
    return warning(name, 'not set: no rebuilds over HTTP and no operators’ page', `${make}, and set operators.token.`);
  return operators.token === undefined || isLong(operators.token)
    ? ok(name, 'long enough')
    : warning(name, `shorter than ${TOKEN_LENGTH_LEAST} characters, so it is easy to guess`, `${make}.`);
}

function hookFindings({ upstreams }: Config): Finding[] {
  return upstreams
    .filter(({ hook }) => hook !== null && !hook.secrets.every(isLong))
    .map(({ id }) =>
      warning(
        `hook of ${id}`,
        `a secret is shorter than ${TOKEN_LENGTH_LEAST} characters`,
        'Create one: openssl rand -base64 32',
      ),
    );
}

/** Pharos itself serves plain HTTP, so https requires a proxy. */
function proxyFindings({ site, server, pages }: Config): Finding[] {
  const limited = pages.filter(({ allow_ips: ranges }) => ranges !== undefined).map(({ slug }) => slug);
  if (limited.length > 0 && server.trustedProxyHops === 0 && isLoopback(server.host))
    return [
      warning(
        'proxy',
        `${limited.join(', ')}: allow_ips lets nobody in from another machine, because visitors can only come by a proxy and server.trustedProxyHops is 0`,
        'Set server.trustedProxyHops to the number of proxies that add to X-Forwarded-For, usually 1.',
      ),
    ];
  const url = new URL(site.url);
  if (url.protocol !== 'https:' || isLoopback(url.hostname)) return [];
  if (server.trustedProxyHops > 0) return [ok('proxy', `${server.trustedProxyHops} trusted`)];
  return [
    warning(
      'proxy',
      'site.url is https, so there must be a proxy in front, but server.trustedProxyHops is 0. All visitors share one sign-in limit',
      'Set server.trustedProxyHops to the number of proxies that add to X-Forwarded-For, usually 1.',
    ),
  ];
}

/** An expired security.txt is published, but nobody trusts it. */
function securityFindings({ site: { security } }: Config, now: EpochMs): Finding[] {
  if (security === undefined) return [];
  const name = 'security.txt';
  if (Date.parse(security.expires) > now) return [ok(name, `valid until ${security.expires.slice(0, 10)}`)];
  return [warning(name, `expired on ${security.expires.slice(0, 10)}`, 'Set site.security.expires to a later date.')];
}

function isLong(secret: { readonly reveal: () => string }): boolean {
  return secret.reveal().length >= TOKEN_LENGTH_LEAST;
}
