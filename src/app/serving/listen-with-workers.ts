/** The front door of a node whose visitors are answered by processes of their own. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pharos } from '../compose.ts';
import type { Log } from '../log.ts';
import { type Door, listen } from './listen.ts';
import { originOf, type Place } from './listening.ts';
import { startWorkers, type Workers, type WorkersOptions } from './workers.ts';

export interface WithWorkersOptions extends Pick<WorkersOptions, 'entry' | 'count' | 'configFile' | 'isQuiet'> {
  readonly log: Log;
  readonly place: Place;
}

/** A door whose workers read their configuration again when they are told. */
export interface SharedDoor extends Door {
  readonly reload: () => Promise<void>;
}

/** Begins the processes and listens for what they hand on; visitors are served when this resolves. */
export async function listenWithWorkers(
  pharos: Pharos,
  { log, place, ...rest }: WithWorkersOptions,
): Promise<SharedDoor> {
  // Only this user gets into the folder, so whoever is on the socket is one of ours.
  const folder = mkdtempSync(join(tmpdir(), 'pharos-'));
  const socketPath = process.platform === 'win32' ? `\\\\.\\pipe\\${folder}` : join(folder, 'own.sock');
  let workers: Workers | null = null;
  const others = async () => (workers === null ? [] : await workers.metrics());
  const own = await listen(pharos, { log, place: socketPath, others });
  const closeOwn = async (): Promise<void> => {
    await own.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const begun = await startWorkers({ ...rest, ...place, socketPath, log });
    workers = begun;
    return {
      url: originOf({ ...place, port: begun.port }),
      reload: begun.reload,
      drain: () => {
        own.drain();
        begun.drain();
      },
      close: async () => {
        // What is under way there may still be handed on.
        await begun.close();
        await closeOwn();
      },
    };
  } catch (error) {
    await closeOwn();
    throw error;
  }
}
