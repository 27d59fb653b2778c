/** Checks DNS, the site's certificate and the mail server. Without a network, these checks are skipped. */

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type PeerCertificate } from 'node:tls';
import { redact } from '../../app/log.ts';
import type { Config } from '../../config/load.ts';
import { messageOf } from '../../errors.ts';
import { verifySmtp } from '../../mail/mailer.ts';
import { DAY_MS, type EpochMs } from '../../model/time.ts';
import { proxySettings, proxyText } from '../../network/proxy.ts';
import { probePostgres } from '../../store/postgres/migrate.ts';
import { type Finding, fault, ok, SKEW_WARN_MS, skipped, warning } from './finding.ts';

const PATIENCE_MS = 4_000;
const CERTIFICATE_WARN_DAYS = 14;

/** The addresses of a host name, or the resolver's error code. */
async function resolveHost(host: string): Promise<readonly string[] | string> {
  try {
    const found = await Promise.race([lookup(host, { all: true }), wait(PATIENCE_MS, null, { ref: false })]);
    return found?.map(({ address }) => address) ?? 'ETIMEOUT';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code ?? messageOf(error));
  }
}

/** A custom domain should point to the same place as the site. */
export async function domainFinding(domain: string, siteHost: string): Promise<Finding> {
  const name = `DNS of ${domain}`;
  const [own, site] = await Promise.all([resolveHost(domain), resolveHost(siteHost)]);
  const remedy = `Make ${domain} a CNAME of ${siteHost}, or give it the same A and AAAA records.`;
  if (typeof own === 'string')
    return own === 'ENOTFOUND'
      ? fault(name, 'the name does not exist', remedy)
      : skipped(name, `the name server doesn’t respond (${own})`);
  if (typeof site === 'string') return skipped(name, `can’t look up ${siteHost} from here (${site})`);
  if (own.some((address) => site.includes(address))) return ok(name, `points to ${siteHost}`);
  return warning(name, `points to ${own.join(', ')}, the site to ${site.join(', ')}`, remedy);
}

export async function smtpFinding({ access, secrets }: Config, isNeeded: boolean): Promise<Finding> {
  const name = 'mail server';
  const { smtp, from } = access;
  if (smtp === undefined || from === undefined) {
    if (!isNeeded) return skipped(name, 'not configured, and no page needs one');
    const words = 'a page uses email sign-in, but no mail server is configured';
    return fault(name, words, 'Set access.smtp and access.from.');
  }
  try {
    await verifySmtp(smtp.reveal());
    return ok(name, 'connection and password accepted');
  } catch (error) {
    const { code } = error as { readonly code?: string };
    const remedy =
      code === 'EAUTH'
        ? 'Check user and password in access.smtp; some providers need an app password.'
        : 'Check host and port in access.smtp (smtps:// for 465, smtp:// for 587), and that no firewall blocks it.';
    return fault(name, `${code ?? 'failed'}: ${redact(messageOf(error), secrets)}`, remedy);
  }
}

/** The certificate that visitors get, if there is one. */
export async function certificateFinding(siteUrl: string, now: EpochMs): Promise<Finding> {
  const name = 'certificate';
  const url = new URL(siteUrl);
  if (url.protocol !== 'https:') {
    if (isLoopback(url.hostname)) return skipped(name, 'the site is only reachable on this machine');
    const remedy = 'Put a proxy with TLS in front and use https:// in site.url (docs/deploy.md).';
    return warning(name, 'site.url is plain http, so passwords and sessions are not encrypted', remedy);
  }
  const seen = await fetchCertificate(url);
  if (typeof seen === 'string') return skipped(name, `${url.host} cannot be reached from here: ${seen}`);
  const { certificate, authorizationError } = seen;
  const days = Math.floor((Date.parse(certificate.valid_to) - now) / DAY_MS);
  const renew = 'Renew it, and check why automatic renewal failed.';
  if (days < 0) return fault(name, `expired ${-days} days ago`, renew);
  if (authorizationError !== null)
    return fault(name, `browsers reject it: ${authorizationError}`, 'Serve the full chain, for this exact host name.');
  return days < CERTIFICATE_WARN_DAYS
    ? warning(name, `expires in ${days} days`, renew)
    : ok(name, `valid for ${days} days`);
}

/** The certificate, and why browsers would reject it; text says why there is none. */
function fetchCertificate(
  url: URL,
): Promise<{ certificate: PeerCertificate; authorizationError: string | null } | string> {
  return new Promise((resolve) => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const socket = connect({
      host,
      port: Number(url.port || 443),
      // Nothing is sent, and reporting bad certificates is the purpose.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const done = (result: Parameters<typeof resolve>[0]): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(PATIENCE_MS, () => done('no response'));
    socket.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    socket.on('secureConnect', () =>
      done({
        certificate: socket.getPeerCertificate(),
        authorizationError: socket.authorized ? null : String(socket.authorizationError),
      }),
    );
  });
}

/** The proxy for outgoing requests. With a wrong one, every upstream seems to be down. */
export function proxyFinding(environment: Readonly<Record<string, string | undefined>>): Finding {
  const name = 'HTTP proxy';
  try {
    const text = proxyText(proxySettings(environment));
    return text === null ? ok(name, 'none set; upstreams are contacted directly') : ok(name, text);
  } catch (error) {
    return fault(name, messageOf(error), 'Correct the variable, or unset it. See docs/network.md.');
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}

export async function databaseServerFindings(url: string, now: () => EpochMs) {
  const askedAt = now();
  try {
    const { version, isCurrent, clockMs } = await probePostgres(url);
    const words = isCurrent ? '' : '; the next start upgrades its tables';
    // The server read its clock between request and response.
    const skewMs = Math.max(askedAt - clockMs, clockMs - now(), 0);
    return { findings: [ok('database', `PostgreSQL ${version}${words}`), clockFinding(skewMs)], isCurrent };
  } catch (error) {
    const remedy = 'See docs/postgres.md for the setup. Published pages are still served.';
    return { findings: [fault('database', messageOf(error), remedy)], isCurrent: false };
  }
}

/** Leases depend on the clocks of nodes, which should differ by far less than the length of a lease. */
function clockFinding(skewMs: number): Finding {
  const name = 'clock difference from the database';
  const seconds = Math.round(skewMs / 1_000);
  if (skewMs <= SKEW_WARN_MS) return ok(name, seconds === 0 ? 'in sync' : `${seconds} s apart`);
  const remedy =
    'Let NTP set the clocks of this machine and of the server (timedatectl set-ntp true): nodes rely on them to divide the work.';
  return warning(name, `${seconds} s apart`, remedy);
}
