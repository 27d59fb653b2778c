/**
 * Prints, as JSON, the addresses of everything that Node comes to for each of the modules named as arguments, and for what
 * these import later by a name that stands in their text. To be run as a process of its own.
 */

import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const loaded: Record<string, string[]> = {};
for (const [index, root] of process.argv.slice(2).entries()) {
  const seen = new Set<string>();
  const isOwn = (url: string): boolean => url.startsWith('file:') && !url.includes('/node_modules/');
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context);
      const [url = ''] = found.url.split('?');
      if (url.startsWith('file:')) seen.add(url);
      // Each root loads ours anew: with another query a module is another one to Node.
      return isOwn(url) && url.endsWith('.ts') ? { ...found, url: `${url}?${index}` } : found;
    },
  });
  const waiting = [root];
  const read = new Set<string>();
  for (let module = waiting.pop(); module !== undefined; module = waiting.pop()) {
    await import(module);
    for (const url of [...seen].filter((one) => isOwn(one) && !read.has(one))) {
      read.add(url);
      for (const [, later = ''] of readFileSync(fileURLToPath(url), 'utf8').matchAll(/\bimport\('([^']+)'\)/g))
        waiting.push(later.startsWith('.') ? new URL(later, url).href : later);
    }
  }
  hooks.deregister();
  loaded[root] = [...seen];
}
console.log(JSON.stringify(loaded));
