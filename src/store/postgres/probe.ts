/** Looks at a Postgres server without changing anything there. */

import { migrationsAfter } from '../migrations.ts';
import { serverPlace, unavailable } from './faults.ts';
import { requireServer, schemaVersion } from './migrate.ts';
import { connected, createPool } from './pool.ts';

export interface PostgresFacts {
  /** As the server says it: `15.18`. */
  readonly version: string;
  /** What its clock said when it was asked, epoch ms. */
  readonly clockMs: number;
  /** Which version its tables have; 0: there are none. */
  readonly schema: number;
  /** Whether that is ours. */
  readonly isCurrent: boolean;
}

/** @throws STORE_UNAVAILABLE when it cannot be reached or used */
export async function probePostgres(url: string): Promise<PostgresFacts> {
  const pool = createPool(url, 1);
  try {
    const { client, result } = await connected(pool, async (fresh) => {
      await requireServer(fresh);
      const { rows } = await fresh.query(
        "SELECT current_setting('server_version') AS version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock",
      );
      const schema = await schemaVersion(fresh);
      const isCurrent = migrationsAfter(schema).length === 0;
      return { version: String(rows[0]?.version), clockMs: Number(rows[0]?.clock), schema, isCurrent };
    });
    client.release();
    return result;
  } catch (error) {
    throw unavailable(serverPlace(url), error);
  } finally {
    await pool.end();
  }
}
