#!/usr/bin/env node
// Plain JavaScript, so that any Node can read it: an older one hands over to the Node 26 that is a dependency.
import { spawn } from 'node:child_process';
import nodeModule, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const NODE_MAJOR_MIN = 26;

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  // Halves the start, and spares the memory of stripping types again. Where nothing can be written, nothing is kept.
  nodeModule.enableCompileCache(join(import.meta.dirname, '..', 'dist', 'compile-cache'));
  const { main } = await import('../src/cli/main.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  const packaged = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node');
  const child = spawn(packaged, [new URL(import.meta.url).pathname, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(
      `pharos needs Node ${NODE_MAJOR_MIN} or newer and could not start the packaged one: ${error.message}`,
    );
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0);
  });
}
