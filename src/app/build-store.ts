/**
 * First of the four builders: the configuration in force, the database, and what asks upstreams. A command that only reads needs
 * nothing else.
 */

import { join } from 'node:path';
import type { Config } from '../config/load.ts';
import { messageOf } from '../errors.ts';
import { safeLink } from '../model/scalars.ts';
import { type EpochMs, SECOND_MS } from '../model/time.ts';
import { type ProxySettings, proxySettings } from '../network/proxy.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import { createSiteMemory, type SiteMemory } from '../publish/definitions/site-memory.ts';
import type { SiteState, SiteStateInputs } from '../publish/definitions/site-state.ts';
import type { OwnComponents } from '../publish/draw/own-components.ts';
import { createIconKeeper, ICON_BYTES_MAX } from '../publish/icons/icon-keeper.ts';
import { releaseFolders } from '../publish/releases/folders.ts';
import { createAudit } from '../store/audit.ts';
import { createStore } from '../store/create-store.ts';
import type { Database } from '../store/database.ts';
import type { OnOlder } from '../store/migrations.ts';
import { createLeases, FILE_LEASE_MS, SERVER_LEASE_MS } from '../store/nodes/leases.ts';
import { createHttp } from '../sync/http/http.ts';
import { followClock, now } from './clock.ts';
import { createLiveConfig } from './live-config.ts';
import { createShown, type Shown } from './nodes/catch-up.ts';
import { type OpenStoreOptions, openStore, type StorePlace, storePlace } from './open-store.ts';
import { createAuditTrail } from './operators/audit-trail.ts';
import { openKey } from './secret-key.ts';
import type { PublisherClient } from './workers/publisher-client.ts';

export interface StoreOptions extends Pick<OpenStoreOptions, 'log' | 'isLasting' | 'mayOnlyRead' | 'replacesDamaged'> {
  /** What happens to a database of an older version. Default: `refuse`. */
  readonly onOlder?: OnOlder;
  /** Prints sign-in mails instead of sending them. Default: false. */
  readonly printsMail?: boolean;
  /** What was opened before, to be closed after everything here. */
  readonly closing?: AsyncDisposableStack;
  /** Use this copy instead of the configured database. */
  readonly place?: StorePlace;
  /** True: a preview, which also shows drafts. */
  readonly showsDrafts?: boolean;
  /** True: goes on although subscribers' addresses were encrypted with another key. Default: false. */
  readonly isNewKey?: boolean;
}

/** What publishing adds to a site. The last builder sets it, and a changed configuration replaces it. */
interface Publishing {
  memory: SiteMemory;
  readonly shown: Shown;
  /** Null: this process doesn't publish. */
  publisher: PublisherClient | null;
  /** Null: this process writes to no target. */
  targets: { readonly withdraw: (slugs: readonly string[]) => void } | null;
}

export type StoreParts = Awaited<ReturnType<typeof buildStore>>;

export async function buildStore(first: Config, options: StoreOptions) {
  const {
    log,
    printsMail = false,
    showsDrafts = false,
    isNewKey = false,
    closing = new AsyncDisposableStack(),
  } = options;
  return openOrClose(closing, async () => {
    const place = options.place ?? storePlace(first);
    const database = await openStore(place, { onOlder: 'refuse', ...options, now: now(), folder: first.data });
    const store = createStore(database);
    closing.defer(store.close);
    const isServer = 'url' in place;
    const leases = createLeases(database, isServer ? SERVER_LEASE_MS : FILE_LEASE_MS);
    // Leases that can't be returned expire.
    closing.defer(() => leases.close().catch(() => undefined));
    if (isServer) closing.defer(await followClock(database));
    const proxy = proxySettings(process.env);
    const onError = (error: unknown): void => log.error(messageOf(error));
    const stopping = new AbortController();
    const icons = createIcons(database, proxy, stopping.signal, onError);
    closing.defer(icons.close);
    const http = createHttp({ proxy });
    closing.defer(http.close);
    const live = createLiveConfig(first, { log, printsMail, showsDrafts });
    let last: SiteState | null = null;
    const key = await openKey({
      ...{ database, log, isNewKey },
      data: first.data,
      configured: first.access.key ?? null,
    });
    const audit = createAuditTrail({
      audit: createAudit(database),
      ...{ now, key },
      isPage: (slug) => last?.resolved.pages.some(({ definition }) => definition.slug === slug) ?? false,
      onError,
    });
    closing.defer(audit.close);
    const publishing: Publishing = {
      memory: createSiteMemory(store),
      shown: createShown(),
      publisher: null,
      targets: null,
    };
    const siteInputs = async (): Promise<SiteStateInputs> => ({ ...live.siteInputs(), icons: await icons.known() });
    return {
      ...{ log, closing, place, live, store, database, leases, http, proxy, icons, audit, stopping, publishing },
      folders: releaseFolders(first.data),
      /** Key for hashes and encryption of addresses. */
      key,
      components: ownComponents(first),
      /** The configuration of the site, and the known icons. */
      siteInputs,
      /** The state of the site as stored. */
      readSite: async (at: EpochMs): Promise<SiteState> => {
        last = await publishing.memory.refresh(await siteInputs(), at);
        return last;
      },
      [Symbol.asyncDispose]: () => closing.disposeAsync(),
    };
  });
}

/** Opens the next part. If that throws, everything that was opened before is closed in reverse order. */
export async function openOrClose<Part>(closing: AsyncDisposableStack, open: () => Promise<Part>): Promise<Part> {
  try {
    return await open();
  } catch (error) {
    // The first error is more useful than errors of closing.
    await closing.disposeAsync().catch(() => undefined);
    throw error;
  }
}

/** The operator's own components, built into the data folder; null: there are none. */
export function ownComponents({ site, data }: Config): OwnComponents | null {
  return site.components === undefined ? null : { folder: site.components, builds: join(data, 'renderer') };
}

// How icons of pages are fetched: without any key, and for addresses that an upstream wrote from public networks
// only.

/** A page does not wait long for its icon. */
const LIMITS = { bytesMax: ICON_BYTES_MAX, totalMs: 8 * SECOND_MS, connectionsMax: 2 };

function createIcons(database: Database, proxy: ProxySettings, signal: AbortSignal, onError: (error: unknown) => void) {
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
    /** Asks for those that pages want and that are due; whether there were any. Never throws. */
    refresh: (pages: readonly ResolvedPage[], at: EpochMs) => keeper.refresh(pages.flatMap(wantedIcon), at),
    close: async () => {
      await Promise.all([anywhere.close(), publicOnly.close()]);
    },
  };
}

function wantedIcon({ identity, iconAddress, config }: ResolvedPage) {
  if (iconAddress === null) return [];
  return [{ page: identity.key, address: iconAddress, isTrusted: safeLink(config?.icon ?? null) === iconAddress }];
}
