/**
 * Whether a folder answers at all. A network share whose server is gone blocks whoever touches it, and below `/proc` Node never
 * ends making a folder. Neither can be interrupted within a process, not even by its end, so another process tries first.
 */

import { spawn } from 'node:child_process';
import { StatusError } from '../../errors.ts';
import { SECOND_MS } from '../../model/time.ts';

const LIMIT_MS = 10 * SECOND_MS;
const TOUCH = `const [folder] = process.argv.slice(1);
const { mkdirSync, readdirSync } = require('node:fs');
mkdirSync(folder, { recursive: true, mode: 0o711 });
readdirSync(folder);`;

/**
 * Makes the folder if it is missing. Any other fault of it is left to whoever uses it next.
 *
 * @throws TARGET_UNREACHABLE when it doesn't answer in time
 */
export async function requireAnswer(folder: string, limitMs = LIMIT_MS): Promise<void> {
  const child = spawn(process.execPath, ['-e', TOUCH, folder], { stdio: 'ignore' });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  child.on('exit', () => resolve(true));
  child.on('error', () => resolve(true));
  const timer = setTimeout(() => resolve(false), limitMs);
  const hasAnswered = await promise;
  clearTimeout(timer);
  if (hasAnswered) return;
  child.kill('SIGKILL');
  // What hangs in the kernel outlives even that; nobody waits for it.
  child.unref();
  throw new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `The folder ${folder} did not respond within ${limitMs / SECOND_MS} seconds. Check its file system, for example a network share whose server is down, or choose another folder.`,
  });
}
