/** How icons of pages are fetched: without any key, and for addresses that an upstream wrote from public networks only. */

import { safeLink } from '../model/scalars.ts';
import { SECOND_MS } from '../model/time.ts';
import type { ProxySettings } from '../network/proxy.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import { createIconKeeper, type IconKeeper, type WantedIcon } from '../publish/icons/icon-keeper.ts';
import { ICON_BYTES_MAX } from '../publish/icons/picture.ts';
import type { Database } from '../store/database.ts';
import { createHttp, type HttpLimits } from '../sync/http/http.ts';

/** A page does not wait long for its icon. */
const LIMITS: Partial<HttpLimits> = { bytesMax: ICON_BYTES_MAX, totalMs: 8 * SECOND_MS, connectionsMax: 2 };

interface Icons extends Pick<IconKeeper, 'known'> {
  /** Asks for those that pages want and that are due; whether there were any. Never throws. */
  readonly refresh: (pages: readonly ResolvedPage[], at: Parameters<IconKeeper['refresh']>[1]) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

export function createIcons(
  database: Database,
  {
    now,
    signal,
    proxy,
    onError,
  }: Pick<Parameters<typeof createIconKeeper>[0], 'onError'> & {
    readonly now: () => Parameters<IconKeeper['refresh']>[1];
    readonly signal: AbortSignal;
    readonly proxy: ProxySettings;
  },
): Icons {
  const anywhere = createHttp({ limits: LIMITS, proxy });
  const publicOnly = createHttp({ limits: LIMITS, proxy, isPublicOnly: true });
  const keeper = createIconKeeper({
    database,
    onError,
    fetchBytes: async ({ address, isTrusted }) => {
      const question = { method: 'GET', url: address, headers: {}, reads: 'bytes' } as const;
      const { payload } = await (isTrusted ? anywhere : publicOnly).request(question, { now, signal });
      return payload as Uint8Array;
    },
  });
  return {
    known: keeper.known,
    refresh: (pages, at) => keeper.refresh(pages.flatMap(wantedIcon), at),
    close: async () => {
      await Promise.all([anywhere.close(), publicOnly.close()]);
    },
  };
}

function wantedIcon({ identity, iconAddress, config }: ResolvedPage): WantedIcon[] {
  if (iconAddress === null) return [];
  return [{ page: identity.key, address: iconAddress, isTrusted: safeLink(config?.icon ?? null) === iconAddress }];
}
