import { isStatusError, messageOf } from '../../errors.ts';
import { createQuota } from '../../sync/quota.ts';
import { createRunner } from '../../sync/runner.ts';
import type { Upstream } from '../../sync/upstream.ts';
import { detailAgeMaxMs } from '../../sync/windows.ts';
import { compose, now, type Pharos, sleep } from '../compose.ts';
import { EXIT_DONE, EXIT_FAILED } from '../exit.ts';
import { createLog } from '../log.ts';
import { table } from '../table.ts';
import { print, requireConfig } from './common.ts';

export interface CheckOptions {
  readonly config?: string;
  readonly json?: boolean;
}

interface CheckRow {
  readonly upstream: string;
  readonly kind: string;
  readonly isOk: boolean;
  readonly summary: string;
  readonly code: string | null;
  readonly warnings: readonly string[];
  readonly monitorsTotal: number | null;
  /** How old the details of a monitor get at most within the quota, in ms; null: not known or no limit. */
  readonly detailAgeMaxMs: number | null;
}

/** Asks every upstream once; one row each. */
export async function check(options: CheckOptions): Promise<number> {
  const config = requireConfig(options.config);
  const log = createLog({ isQuiet: true, secrets: config.secrets });
  const pharos = await compose(config, { log, isPublishing: false, printsMail: false });
  try {
    const rows = await Promise.all(pharos.upstreams.map((upstream) => checkUpstream(pharos, upstream)));
    const isOk = rows.every((row) => row.isOk);
    print(
      options.json === true,
      { ok: isOk, config: config.file, upstreams: rows },
      `${config.file ?? 'configuration'}: right\n\n${rowsText(rows)}`,
    );
    return isOk ? EXIT_DONE : EXIT_FAILED;
  } finally {
    await pharos.close();
  }
}

async function checkUpstream({ http, store }: Pharos, upstream: Upstream): Promise<CheckRow> {
  const base = { upstream: upstream.id, kind: upstream.kind };
  const runner = createRunner(
    {
      upstreamId: upstream.id,
      limits: upstream.limits,
      intervalMs: upstream.intervalMs,
      listCalls: 1,
      isHalfOpen: true,
    },
    { http, quota: createQuota(store.database, Math.random), now, random: Math.random, sleep },
  );
  const memory = { detailFetchedAt: new Map(), openIncidents: new Set<string>(), isBackfilled: true };
  try {
    const probe = await runner.run(upstream.probe({ upstreamId: upstream.id, now: now(), memory }));
    return {
      ...base,
      isOk: true,
      summary: probe.summary,
      code: null,
      warnings: probe.warnings,
      monitorsTotal: probe.monitorsTotal,
      detailAgeMaxMs:
        probe.monitorsTotal === null
          ? null
          : detailAgeMaxMs(upstream.limits, {
              listCallsPerPass: runner.tally().listCalls,
              intervalMs: upstream.intervalMs,
              monitorsTotal: probe.monitorsTotal,
            }),
    };
  } catch (error) {
    const code = isStatusError(error) ? error.code : 'UPSTREAM_SHAPE';
    return {
      ...base,
      isOk: false,
      summary: messageOf(error),
      code,
      warnings: [],
      monitorsTotal: null,
      detailAgeMaxMs: null,
    };
  }
}

function rowsText(rows: readonly CheckRow[]): string {
  if (rows.length === 0) return 'No upstream is configured.';
  const lines = table(
    ['', 'upstream', 'kind', 'monitors', 'fresh within', ''],
    rows.map((row) => [
      row.isOk ? '✓' : '✗',
      row.upstream,
      row.kind,
      row.monitorsTotal === null ? '–' : String(row.monitorsTotal),
      row.detailAgeMaxMs === null ? '–' : `${Math.ceil(row.detailAgeMaxMs / 60_000)} min`,
      row.isOk ? row.summary : `${row.code}: ${row.summary}`,
    ]),
  );
  const warnings = rows.flatMap((row) => row.warnings.map((warning) => `! ${row.upstream}: ${warning}`));
  return [lines, ...warnings].join('\n');
}
