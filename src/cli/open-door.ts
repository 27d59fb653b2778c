/** How `start` and `serve` listen: by themselves, or by processes of their own. */

import { extname } from 'node:path';
import type { Pharos } from '../app/compose.ts';
import type { Log } from '../app/log.ts';
import { listen } from '../app/serving/listen.ts';
import { listenWithWorkers, type SharedDoor } from '../app/serving/listen-with-workers.ts';

export interface DoorOptions {
  readonly log: Log;
  readonly config?: string;
  readonly port?: number;
  readonly host?: string;
  readonly quiet?: boolean;
  readonly workers?: number;
  /** False: it says that it is not ready, so that no balancer sends visitors. Default: true. */
  readonly takesVisitors?: boolean;
}

/** Listens where the options say, else the configuration. */
export async function openDoor(
  pharos: Pharos,
  { log, config, port, host, quiet, workers, takesVisitors = true }: DoorOptions,
): Promise<SharedDoor> {
  const place = { port: port ?? pharos.config.server.port, host: host ?? pharos.config.server.host };
  if (workers === undefined || !takesVisitors)
    return { ...(await listen(pharos, { log, place, takesVisitors })), reload: async () => undefined };
  const entry = new URL(`./serve-worker${extname(import.meta.url)}`, import.meta.url);
  return listenWithWorkers(pharos, {
    log,
    place,
    entry,
    count: workers,
    configFile: config ?? null,
    isQuiet: quiet ?? false,
  });
}
