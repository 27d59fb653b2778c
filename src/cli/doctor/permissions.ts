/** Looks at who else on this machine may read what is nobody else's. */

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { releaseFolders } from '../../publish/releases/folders.ts';
import { openGated } from '../../publish/releases/modes.ts';
import { type Finding, ok, warning } from './finding.ts';

const OWN_FILES = ['pharos.db', 'pharos.db-wal', 'secret.key'];

export function permissionFinding(data: string): Finding {
  const name = 'permissions';
  const open = [...OWN_FILES.map((file) => join(data, file)).filter(isOpen), ...openGated(releaseFolders(data))];
  const [first] = open;
  if (first === undefined) return ok(name, 'only this user can read the database and private pages');
  return warning(
    name,
    `other users of this machine can read ${first}${open.length === 1 ? '' : ` and ${open.length - 1} more`}`,
    'Start Pharos to fix it, or run chmod -R go= on it.',
  );
}

function isOpen(path: string): boolean {
  return ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}
