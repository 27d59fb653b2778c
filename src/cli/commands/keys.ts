import { now, sleep } from '../../app/clock.ts';
import { singleRunner } from '../../app/single-runner.ts';
import { type Options, revokeKey } from '../../sync/connectors/uptime-service/calls.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { openQuietly, requireConfig, unknownName } from './common.ts';

export interface RevokeOptions {
  readonly config?: string;
  readonly upstream: string;
}

/** Revokes an access key of an uptime service. */
export async function keysRevoke(keyId: string, options: RevokeOptions): Promise<number> {
  const config = requireConfig(options.config);
  const entry = config.upstreams.find((upstream) => upstream.id === options.upstream);
  if (entry === undefined)
    throw unknownName(
      'upstream',
      options.upstream,
      config.upstreams.map(({ id }) => id),
    );
  if (entry.kind !== 'uptime-service')
    throw new UsageError(`${entry.id} is a ${entry.kind} upstream. Only an uptime-service has keys to revoke.`);
  const progress = createProgress(false);
  await using pharos = await openQuietly(config);
  try {
    const upstream = pharos.live.upstreams().find((candidate) => candidate.id === entry.id);
    if (upstream === undefined) throw new TypeError(`${entry.id} is not bound`);
    const onWait = upstreamProgress(progress, now).waiting;
    progress.doing(`contacting ${entry.id}`);
    const runner = singleRunner({ http: pharos.http, store: pharos.store, now, sleep, onWait }, upstream);
    // The configuration parsed these by this kind's own schema.
    const outcome = await runner.run(revokeKey(entry.options as Options, keyId));
    progress.end();
    process.stdout.write(`${outcome}\n`);
    return EXIT_DONE;
  } finally {
    progress.end();
  }
}
