import type { Pharos } from '../app/compose.ts';
import { createReload, onHangUp, type ReloadOptions } from '../app/reload.ts';
import { listen } from '../app/serving/listen.ts';
import { EXIT_DONE } from './terminal/exit.ts';
import { untilStopped } from './terminal/signals.ts';
import { drain } from './terminal/stopping.ts';

type ServingOptions = Parameters<typeof listen>[1] & Pick<ReloadOptions, 'load' | 'secrets'>;

/** Serves what is published, and reads the configuration again at SIGHUP, until a signal ends it; then everything is closed. */
export async function serveUntilStopped(pharos: Pharos, options: ServingOptions): Promise<number> {
  const { log, load, secrets } = options;
  const door = await listen(pharos, options);
  process.stdout.write(`Pharos serves ${door.url}/\n`);
  const reloading = createReload({ pharos, load, log, secrets });
  const stopListening = onHangUp(reloading.reload);
  await pharos.taking?.open();
  const signal = await untilStopped();
  await drain({ signal, door, log, drainSeconds: pharos.config.server.drainSeconds });
  stopListening();
  reloading.stop();
  await door.close();
  await pharos.close();
  return EXIT_DONE;
}
