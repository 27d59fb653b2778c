/** What no visitor may read: the names that monitors have inside. */

import type { Check } from '../check.ts';
import { internalName } from '../world.ts';

/** Only a component that shows details says anything of its monitor. */
export function checkSecrets(check: Check): void {
  const { components, upstreams } = check.expected.world;
  const hidden = upstreams
    .flatMap(({ monitors }) => monitors)
    .filter((monitor) => !components.some((one) => one.monitor === monitor && one.showsDetails))
    .map(internalName);
  for (const [path, text] of check.files)
    for (const name of hidden) if (text.includes(name)) check.differences.push(`${path}: names ${name}`);
}
