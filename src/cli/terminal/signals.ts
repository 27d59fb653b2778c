/** How often a process that npm started looks whether npm still lives. */
const LOOK_EVERY_MS = 500;

/** Who started this process. */
const PARENT = process.ppid;

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. npm starts commands in a shell, and a signal
 * that ends npm or the shell never reaches the command, so there the end of the parent process counts as SIGTERM.
 */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      clearInterval(looking);
      for (const name of ['SIGINT', 'SIGTERM'] as const) {
        process.off(name, stop);
        process.once(name, () => process.exit(1));
      }
      resolve(signal);
    };
    const look = (): void => {
      if (process.ppid !== PARENT) stop('SIGTERM');
    };
    const looking = process.env['npm_command'] === undefined ? undefined : setInterval(look, LOOK_EVERY_MS);
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
