/** SIGHUP: reads the configuration again, and replaces the old one if it is valid. */

import { isatty } from 'node:tty';
import type { Pharos } from '../app/compose.ts';
import type { Log } from '../app/log.ts';
import type { Config } from '../config/load.ts';
import { isStatusError, messageOf } from '../errors.ts';

export interface ReloadOptions {
  readonly pharos: Pharos;
  /** Reads the file again; null: there is none to read. @throws CONFIG_INVALID */
  readonly load: () => Config | null;
  readonly log: Log;
  /** The log's secrets. Those of the next configuration are added before it is used. */
  readonly secrets: Set<string>;
  /** Awaited as part of the reload. */
  readonly onReloaded?: () => void | Promise<void>;
}

/** Creates the reload; call `stop` when the process ends. */
export function createReload(options: ReloadOptions) {
  const { pharos, load, log, secrets, onReloaded } = options;
  let isStopped = false;
  const note = (outcome: string): void => pharos.base.audit.note({ actor: 'signal', action: 'reload', outcome });

  async function reload(): Promise<void> {
    if (isStopped) return;
    try {
      const next = load();
      if (next === null) {
        log.warn('There is no configuration file to reload.');
        return;
      }
      for (const secret of next.secrets) secrets.add(secret);
      const restartNeeded = await pharos.publishing.reconfigure(next);
      if (!isStopped) await onReloaded?.();
      log.info({ config: next.file }, 'configuration reloaded');
      for (const name of restartNeeded) log.warn({ setting: name }, 'changed; takes effect after a restart');
      note(restartNeeded.length === 0 ? 'done' : `done; needs a restart: ${restartNeeded.join(', ')}`);
    } catch (error) {
      const issues = isStatusError(error) ? error.issues : [];
      for (const { path, message } of issues) log.error({ path }, message);
      if (issues.length === 0) log.error(messageOf(error));
      log.error('Configuration not reloaded; the old one stays active.');
      note(
        `rejected: ${issues.length === 0 ? messageOf(error) : issues.map(({ path }) => path || '(document)').join(', ')}`,
      );
    }
  }

  return {
    /**
     * Reads the configuration again. Errors are logged, each with its path, and change nothing. Doesn't wait for a reload
     * in progress, which may be waiting for a run, because this one may close a page.
     */
    reload,
    /** Stops reloading. A reload in progress starts nothing any more. */
    stop: () => {
      isStopped = true;
    },
  };
}

/**
 * Calls `reload` at SIGHUP. If the terminal was closed, SIGHUP ends the process, as by default. Returns a function that
 * stops listening.
 */
export function onHangUp(reload: () => unknown): () => void {
  const hasTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));
  const hadTerminal = hasTerminal();
  const listener = (): void => {
    if (hadTerminal && !hasTerminal()) process.kill(process.pid, 'SIGTERM');
    else reload();
  };
  process.on('SIGHUP', listener);
  return () => void process.off('SIGHUP', listener);
}
