import { compose, now, sleep } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { singleRunner } from '../../app/single-runner.ts';
import type { Options } from '../../sync/connectors/uptime-service/calls.ts';
import { revokeKey } from '../../sync/connectors/uptime-service/revoke.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { requireConfig } from './common.ts';

export interface RevokeOptions {
  readonly config?: string;
  readonly upstream: string;
}

/** Revokes an access key of an uptime service. */
export async function keysRevoke(keyId: string, options: RevokeOptions): Promise<number> {
  const config = requireConfig(options.config);
  const entry = config.upstreams.find((upstream) => upstream.id === options.upstream);
  if (entry === undefined) throw new UsageError(`There is no upstream ${options.upstream}.`);
  if (entry.kind !== 'uptime-service')
    throw new UsageError(`${entry.id} is a ${entry.kind} upstream. Only an uptime-service has keys to revoke.`);
  const pharos = await compose(config, {
    log: createLog({ isQuiet: true, secrets: config.secrets }),
    isPublishing: false,
    printsMail: false,
  });
  try {
    const upstream = pharos.upstreams.find((candidate) => candidate.id === entry.id);
    if (upstream === undefined) throw new UsageError(`There is no upstream ${entry.id}.`);
    const runner = singleRunner({ http: pharos.http, store: pharos.store, now, sleep }, upstream);
    // The configuration parsed these by this kind's own schema.
    process.stdout.write(`${await runner.run(revokeKey(entry.options as Options, keyId))}\n`);
    return EXIT_DONE;
  } finally {
    await pharos.close();
  }
}
