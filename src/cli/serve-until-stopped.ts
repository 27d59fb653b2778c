import type { Pharos } from '../app/compose.ts';
import { listen } from '../app/serving/listen.ts';
import { createReload, onHangUp, type ReloadOptions } from './reload.ts';
import { EXIT_DONE } from './terminal/exit.ts';
import { untilStopped } from './terminal/signals.ts';
import { drain } from './terminal/stopping.ts';

type ServingOptions = Parameters<typeof listen>[1] & Pick<ReloadOptions, 'load' | 'secrets'>;

/** Serves what is published, and reads the configuration again at SIGHUP, until a signal ends it. */
export async function serveUntilStopped(pharos: Pharos, options: ServingOptions): Promise<number> {
  const { log, load, secrets } = options;
  const { closing } = pharos.base;
  const door = await listen(pharos, options);
  closing.defer(door.close);
  process.stdout.write(`Pharos serves ${door.url}/\n`);
  const reloading = createReload({ pharos, load, log, secrets });
  closing.defer(reloading.stop);
  closing.defer(onHangUp(reloading.reload));
  await pharos.serving.taking?.open();
  const signal = await untilStopped();
  await drain({ signal, door, log, drainSeconds: pharos.base.live.config().server.drainSeconds });
  return EXIT_DONE;
}
