/** How often a process started by npm checks whether npm is still alive. */
const CHECK_EVERY_MS = 500;

/** The parent process. */
const PARENT = process.ppid;

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. npm starts commands in a shell, and
 * signals to npm or the shell don't reach the command, so there the end of the parent process counts as SIGTERM.
 */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      clearInterval(parentTimer);
      for (const name of ['SIGINT', 'SIGTERM'] as const) {
        process.off(name, stop);
        process.once(name, () => process.exit(1));
      }
      resolve(signal);
    };
    const checkParent = (): void => {
      if (process.ppid !== PARENT) stop('SIGTERM');
    };
    const parentTimer = process.env['npm_command'] === undefined ? undefined : setInterval(checkParent, CHECK_EVERY_MS);
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
