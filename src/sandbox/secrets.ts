/** Every secret of the sandbox. They open nothing but the sandbox, and are the same for the same seed. */

import { noiseHex } from './world/noise.ts';

/** The secret of a name. */
export function secretsOf(seed: number): (name: string) => string {
  return (name) => `sandbox-${name}-${noiseHex(16, seed, 'secret', name)}`;
}

/** Of the page `partners`; a person types it. */
export function pagePasswordOf(seed: number): string {
  return `partners-${noiseHex(6, seed, 'page password')}`;
}
