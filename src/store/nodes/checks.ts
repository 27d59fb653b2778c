/** Latest results of the checks that this installation makes itself, per check and place. */

import type { StoredCheck } from '../../model/check-result.ts';
import type { EpochMs } from '../../model/time.ts';
import { StoredCheckSchema } from '../../schema/stored-check.ts';
import type { Reader, Writer } from '../database.ts';
import { documentParser } from '../rows.ts';

const parseResult = documentParser<StoredCheck>('result of a check', StoredCheckSchema);

/** Results of one upstream, or of one place. */
export async function readChecks(reader: Reader, [column, value]: readonly ['upstream' | 'place', string]) {
  const sql = `SELECT document FROM check_result WHERE ${column} = ? ORDER BY upstream, name, place`;
  return (await reader.lists(sql, [value])).map(([document]) => parseResult(document));
}

/** When each place last checked something of an upstream. */
export async function lastChecked(reader: Reader, upstream: string) {
  const sql = 'SELECT place, MAX(at) FROM check_result WHERE upstream = ? GROUP BY place ORDER BY place';
  return (await reader.lists(sql, [upstream])).map(([place, at]) => ({
    place: String(place),
    at: Number(at) as EpochMs,
  }));
}

export function writeChecks(tx: Writer, results: readonly StoredCheck[]): Promise<void> {
  return tx.runMany(
    `INSERT INTO check_result (upstream, name, place, at, document) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (upstream, name, place) DO UPDATE SET at = excluded.at, document = excluded.document`,
    results.map((result) => [result.upstream, result.name, result.place, result.at, JSON.stringify(result)]),
  );
}

const TASK = 'checks/';

/** Name of the lease held by the node that makes the checks of a place. */
export function checksTask(place: string): string {
  return `${TASK}${place}`;
}

/** Places whose checks are being made by some node. */
export async function runningPlaces(reader: Reader): Promise<readonly string[]> {
  const now = await reader.time();
  const rows = await reader.lists('SELECT name FROM lease WHERE name LIKE ? AND until_at > ?', [`${TASK}%`, now]);
  return rows.map(([name]) => String(name).slice(TASK.length));
}
