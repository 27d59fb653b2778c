/** Packages as files: a package is as it was while its `package.json`, and those of the packages that it needs, are. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface PackageJson {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Paths of the `package.json` of a package, and of all that it depends on, as far as they are installed.
 *
 * @param specifier  as it is imported: `zod/v4`, `@scope/name/file.js`
 * @param from       path of the file that imports it
 */
export function packageFiles(specifier: string, from: string): readonly string[] {
  const files = new Set<string>();
  const visit = (name: string, path: string): void => {
    const file = packageFile(name, path);
    if (file === null || files.has(file)) return;
    files.add(file);
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(file, 'utf8')) as PackageJson;
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) visit(needed, file);
  };
  visit(packageName(specifier), from);
  return [...files];
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Packages need not export their `package.json`, so it is looked for where Node looks for packages. */
function packageFile(name: string, from: string): string | null {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', name, 'package.json');
    if (existsSync(file)) return file;
    if (dirname(folder) === folder) return null;
  }
}
