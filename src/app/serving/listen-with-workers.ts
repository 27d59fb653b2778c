/** The front door of a node with worker processes. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pharos } from '../compose.ts';
import type { Log } from '../log.ts';
import { type Door, listen } from './listen.ts';
import { originOf, type Place } from './listening.ts';
import { startWorkers, type Workers, type WorkersOptions } from './workers.ts';

interface WithWorkersOptions extends Pick<WorkersOptions, 'entry' | 'count' | 'configFile' | 'isQuiet'> {
  readonly log: Log;
  readonly place: Place;
}

/** A door whose workers can reload their configuration. */
export interface SharedDoor extends Door {
  readonly reload: () => Promise<void>;
}

/** Starts the workers and listens for the requests that they forward. Visitors are served when this resolves. */
export async function listenWithWorkers(
  pharos: Pharos,
  { log, place, ...rest }: WithWorkersOptions,
): Promise<SharedDoor> {
  // Only this user can enter the folder, so every client of the socket is one of our workers.
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
        // Workers may still forward current requests.
        await begun.close();
        await closeOwn();
      },
    };
  } catch (error) {
    await closeOwn();
    throw error;
  }
}
