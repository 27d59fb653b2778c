/** Looks at the configuration: what is right by its shape and still not wise. */

import type { Config } from '../../config/load.ts';
import { hasOperators } from '../../config/rules.ts';
import type { EpochMs } from '../../model/time.ts';
import { type Finding, ok, warning } from './finding.ts';
import { isLoopback } from './network.ts';

/** 128 bits as the shortest usual spelling, base64. */
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

/** Pharos itself speaks plain HTTP, so that https means a proxy. */
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

/** A security.txt that has expired is there and is believed by nobody. */
function securityFindings({ site: { security } }: Config, now: EpochMs): Finding[] {
  if (security === undefined) return [];
  const name = 'security.txt';
  if (Date.parse(security.expires) > now) return [ok(name, `valid until ${security.expires.slice(0, 10)}`)];
  return [warning(name, `expired on ${security.expires.slice(0, 10)}`, 'Set site.security.expires to a later date.')];
}

function isLong(secret: { readonly reveal: () => string }): boolean {
  return secret.reveal().length >= TOKEN_LENGTH_LEAST;
}
