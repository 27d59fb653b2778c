import { now } from '../../../app/clock.ts';
import { DAY_MS, toEpochMs, toIso } from '../../../model/time.ts';
import { createAudit } from '../../../store/audit.ts';
import { EXIT_DONE } from '../../terminal/exit.ts';
import { table } from '../../terminal/table.ts';
import { openToRead, print, requireConfig } from '../common.ts';

export interface AuditOptions {
  readonly config?: string;
  readonly limit: number;
  readonly days: number;
  readonly json?: boolean;
}

/** Who made Pharos do what, when, from where, and the result; sign-ins as totals. */
export async function audit(options: AuditOptions): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openToRead(config);
  const kept = createAudit(pharos.store.database);
  const entries = await kept.entries(options.limit);
  const signIns = await kept.signIns(toEpochMs(now() - (options.days - 1) * DAY_MS));
  const rows = entries.map(({ at, actor, action, subject, client, outcome }) => [
    toIso(at),
    actor,
    subject === null ? action : `${action} ${subject}`,
    client ?? 'this machine',
    outcome ?? 'in progress',
  ]);
  const counts = signIns.map(({ day, page, result, count }) => [
    day,
    page === '' ? '(no such page)' : page,
    result,
    String(count),
  ]);
  const text = [
    rows.length === 0 ? 'No entries yet.' : table(['when', 'who', 'what', 'from', 'result'], rows),
    ...(counts.length === 0 ? [] : ['', table(['day', 'page', 'sign-ins', 'count'], counts)]),
  ].join('\n');
  print(options.json === true, { entries: entries.map((entry) => ({ ...entry, at: toIso(entry.at) })), signIns }, text);
  return EXIT_DONE;
}
