/** Reads the files of published pages, of any site. */

import { z } from 'zod';
import { messageOf, StatusError } from '../../errors.ts';
import { LOG_KEYS } from '../../model/slugs.ts';
import { createDispatcher, type Dispatcher } from '../../network/dispatcher.ts';
import type { ProxySettings } from '../../network/proxy.ts';
import type { ReadFile } from '../../transparency/verify.ts';

const BYTES_MAX = 64 * 1024 * 1024;

export interface SiteReader {
  /** Reads files below an address that ends in a slash. */
  readonly reader: (address: string) => ReadFile;
  /** The keys at the root of the site; null: it publishes none there, as below a path of a host that has other things at its root. */
  readonly keys: (address: string) => Promise<readonly string[] | null>;
  readonly close: () => Promise<void>;
}

export function openSite(proxy: ProxySettings): SiteReader {
  const dispatcher = createDispatcher({
    connectMs: 10_000,
    headersMs: 30_000,
    idleMs: 30_000,
    connectionsMax: 8,
    proxy,
  });
  return {
    reader: (address) => readFrom(dispatcher, address),
    keys: (address) => readSiteKeys(dispatcher, address),
    close: () => dispatcher.destroy(),
  };
}

function readFrom(dispatcher: Dispatcher, page: string): ReadFile {
  return async (path) => {
    const url = new URL(
      path
        .split('/')
        .map(encodeURIComponent)
        .join('/')
        .replace(/(^|\/)index\.html$/, '$1') || '.',
      page,
    );
    try {
      const answer = await dispatcher.request({
        origin: url.origin,
        path: url.pathname,
        method: 'GET',
        // What is signed is the file as it is.
        headers: { 'accept-encoding': 'identity', 'cache-control': 'no-cache', 'user-agent': 'Pharos-verify' },
      });
      const bytes = await readBody(answer.body, url);
      // Hosts answer the address of their 404 page with that status.
      return answer.statusCode === 200 || (answer.statusCode === 404 && path === '404.html') ? bytes : null;
    } catch (cause) {
      throw new StatusError({
        code: 'UPSTREAM_UNREACHABLE',
        message: `${url.origin} can’t be reached: ${messageOf(cause)}.`,
        cause,
      });
    }
  };
}

async function readBody(body: AsyncIterable<Uint8Array>, url: URL): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > BYTES_MAX) throw new Error(`${url.pathname} is larger than 64 MB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The keys at the root of the site; null: it publishes none there, as below a path of a host that has other things at its root. */
async function readSiteKeys(dispatcher: Dispatcher, page: string): Promise<readonly string[] | null> {
  const root = new URL('/', page).href;
  const bytes = await readFrom(dispatcher, root)(LOG_KEYS);
  try {
    return z.object({ keys: z.array(z.string()) }).parse(JSON.parse(Buffer.from(bytes ?? []).toString('utf8'))).keys;
  } catch {
    return null;
  }
}
