import { compose } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { createReload, onHangUp } from '../../app/reload.ts';
import { openDoor } from '../open-door.ts';
import { EXIT_DONE } from '../terminal/exit.ts';
import { untilStopped } from '../terminal/signals.ts';
import { drain } from '../terminal/stopping.ts';
import { loadConfig, requireConfig } from './common.ts';

export interface ServeOptions {
  readonly config?: string;
  readonly port?: number;
  readonly host?: string;
  readonly quiet?: boolean;
  readonly workers?: number;
}

/** Serves what is published and asks nobody, until stopped. */
export async function serve(options: ServeOptions): Promise<number> {
  const config = requireConfig(options.config);
  const secrets = new Set(config.secrets);
  const log = createLog({ isQuiet: options.quiet ?? false, secrets });
  const pharos = await compose(config, { log, isPublishing: false, isLasting: true, printsMail: false });
  const door = await openDoor(pharos, { ...options, log });
  process.stdout.write(`Pharos serves ${door.url}/\n`);
  const reloading = createReload({
    pharos,
    load: () => loadConfig(options.config),
    log,
    secrets,
    onReloaded: door.reload,
  });
  const stopListening = onHangUp(reloading.reload);
  const signal = await untilStopped();
  await drain({ signal, door, log, drainSeconds: pharos.config.server.drainSeconds });
  stopListening();
  reloading.stop();
  await door.close();
  await pharos.close();
  return EXIT_DONE;
}
