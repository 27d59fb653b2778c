/** Which proxy requests go out through, as the usual environment variables say. */

import { StatusError } from '../errors.ts';

export interface ProxySettings {
  /** Address of the proxy for http: targets; empty: none. */
  readonly http: string;
  /** For https: targets; empty: the same as for http. */
  readonly https: string;
  /** Hosts that are reached directly, as NO_PROXY lists them. */
  readonly direct: string;
}

export const NO_PROXY: ProxySettings = Object.freeze({ http: '', https: '', direct: '' });

/** This machine is never asked for through a proxy. */
const OWN_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY; in small letters they go first, as with curl.
 *
 * @throws CONFIG_INVALID for an address that is none
 */
export function proxySettings(environment: Readonly<Record<string, string | undefined>>): ProxySettings {
  const read = (name: string): string => (environment[name.toLowerCase()] ?? environment[name] ?? '').trim();
  const settings = { http: proxyAddress('HTTP_PROXY', read), https: proxyAddress('HTTPS_PROXY', read) };
  if (settings.http === '' && settings.https === '') return NO_PROXY;
  return { ...settings, direct: [...OWN_HOSTS, read('NO_PROXY')].filter((hosts) => hosts !== '').join(',') };
}

/** For people: host and port of each proxy without its password; null: none. */
export function proxyText({ http, https, direct }: ProxySettings): string | null {
  const shown = [
    ...new Set([https, http].filter((address) => address !== '').map((address) => new URL(address).origin)),
  ];
  return shown.length === 0 ? null : `${shown.join(' and ')}, not for ${direct.replaceAll(',', ', ')}`;
}

function proxyAddress(name: string, read: (name: string) => string): string {
  const text = read(name);
  if (text === '') return '';
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const protocol = URL.parse(address)?.protocol;
  if (protocol === 'http:' || protocol === 'https:') return address;
  throw new StatusError({
    code: 'CONFIG_INVALID',
    message: `Environment variable ${name}: expected the address of an HTTP proxy, such as http://proxy.example.com:3128.`,
    issues: [{ path: name, message: 'expected the address of an HTTP proxy, such as http://proxy.example.com:3128' }],
  });
}
