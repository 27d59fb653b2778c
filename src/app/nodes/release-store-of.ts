/** The configured store of releases for web nodes. */

import type { Config } from '../../config/load.ts';
import type { ProxySettings } from '../../network/proxy.ts';
import { createBucketStore } from '../../publish/stored/bucket.ts';
import { createDatabaseStore } from '../../publish/stored/database-store.ts';
import type { ReleaseStore } from '../../publish/stored/release-store.ts';
import type { Database } from '../../store/database.ts';
import { now } from '../clock.ts';

/** Null: none. Connects only when used. */
export function releaseStoreOf(
  { releases }: Pick<Config, 'releases'>,
  { database, proxy }: { readonly database: Database; readonly proxy: ProxySettings },
): ReleaseStore | null {
  if (releases === undefined) return null;
  if (releases.s3 === undefined) return createDatabaseStore(database);
  return createBucketStore(releases.s3, { now, random: Math.random, proxy });
}
