import { compose } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { serveUntilStopped } from '../serve-until-stopped.ts';
import { loadConfig, requireConfig } from './common.ts';

export interface ServeOptions {
  readonly config?: string;
  readonly port?: number;
  readonly host?: string;
  readonly quiet?: boolean;
}

/** Serves what is published and asks nobody, until stopped. */
export async function serve(options: ServeOptions): Promise<number> {
  const config = requireConfig(options.config);
  const secrets = new Set(config.secrets);
  const log = createLog({ isQuiet: options.quiet ?? false, secrets });
  await using pharos = await compose(config, { log, isPublishing: false, isLasting: true, printsMail: false });
  return await serveUntilStopped(pharos, { ...options, log, secrets, load: () => loadConfig(options.config) });
}
