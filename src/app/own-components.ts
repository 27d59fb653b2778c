/** Where the operator's own components are, and where what is built with them is kept: beside what else is made. */

import { join } from 'node:path';
import type { Config } from '../config/load.ts';
import type { OwnComponents } from '../publish/draw/own-components.ts';

/** Null: there are none. */
export function ownComponents({ site, data }: Config): OwnComponents | null {
  return site.components === undefined ? null : { folder: site.components, builds: join(data, 'renderer') };
}
