/**
 * What `pharos start` takes at most for sites of growing size, its first publish included, and when idle. Where control
 * groups can be made (Linux, as root) it runs within a limit, so that a figure over it is a process that was killed.
 */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toEpochMs } from '../../src/model/time.ts';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { serverMonitorSandbox } from '../sandbox/kinds/server-monitor.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { judge, number } from './budget.ts';

const LIMIT_MB = 512;
/** Pages, monitors on each, and what the process may take when idle. */
const SITES: readonly (readonly [pages: number, each: number, idleMbMax: number | null])[] = [
  [1, 30, null],
  [20, 50, 300],
  [100, 30, null],
];
const PUBLISH_MS_MAX = 600_000;
const IDLE_AFTER_MS = 20_000;
const MB = 2 ** 20;

export async function run(): Promise<void> {
  await compilePages();
  for (const [pages, each, idleMbMax] of SITES) {
    const { peakMb, idleMb, publishSeconds } = await measure(pages, each);
    judge({
      name: `highest memory, ${number(pages)} pages × ${each} monitors`,
      figure: peakMb,
      unit: 'MB',
      atMost: LIMIT_MB,
      remark: `all published after ${number(publishSeconds)} s`,
    });
    judge({ name: '  the same, idle', figure: idleMb, unit: 'MB', atMost: idleMbMax });
  }
}

async function measure(
  pages: number,
  each: number,
): Promise<{ peakMb: number; idleMb: number; publishSeconds: number }> {
  const folder = temporaryFolder();
  const group = makeGroup(LIMIT_MB);
  const sandbox = await startSandbox({
    port: 0,
    now: () => toEpochMs(Date.now()),
    services: pages * each,
    isCalm: true,
    kinds: [serverMonitorSandbox({ limits: null })],
  });
  const definitions = Array.from({ length: pages }, (_, page) => ({
    slug: `page-${page}`,
    title: `Page ${page + 1}`,
    components: Array.from({ length: each }, (__, at) => ({
      type: 'monitor',
      monitor: `edge/${page * each + at + 1}`,
    })),
  }));
  writeFileSync(
    join(folder.path, 'pharos.yaml'),
    `${sandbox.configText({ include: ['server-monitor'], hasPages: false })}pages: ${JSON.stringify(definitions)}\n`,
  );
  const startedAt = performance.now();
  const pharos = await startPharos(['start', '--port', '0', '--quiet'], {
    cwd: folder.path,
    env: sandbox.environment(),
    ...(group === null ? {} : { onStarted: (pid: number) => group.take(pid) }),
  });
  while ((await fetch(`${pharos.url}/-/fresh`)).status !== 200) {
    if (performance.now() - startedAt > PUBLISH_MS_MAX) throw new Error(`not published within ${PUBLISH_MS_MAX} ms`);
    await new Promise((wait) => setTimeout(wait, 250));
  }
  const publishSeconds = (performance.now() - startedAt) / 1_000;
  await new Promise((wait) => setTimeout(wait, IDLE_AFTER_MS));
  const status = readFileSync(`/proc/${pharos.pid}/status`, 'utf8');
  const mb = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
  const figures = { peakMb: mb('VmHWM'), idleMb: mb('VmRSS'), publishSeconds };
  await pharos.stop();
  await sandbox.stop();
  group?.remove();
  folder.remove();
  return figures;
}

/** A control group of this limit; null where none can be made. */
function makeGroup(limitMb: number): { readonly take: (pid: number) => void; readonly remove: () => void } | null {
  const isFirstVersion = existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes');
  const path = `/sys/fs/cgroup/${isFirstVersion ? 'memory/' : ''}pharos-bench-${process.pid}`;
  try {
    mkdirSync(path);
    writeFileSync(join(path, isFirstVersion ? 'memory.limit_in_bytes' : 'memory.max'), String(limitMb * MB));
    return {
      take: (pid) => writeFileSync(join(path, 'cgroup.procs'), String(pid)),
      remove: () => rmdirSync(path),
    };
  } catch {
    console.log('  no control group can be made here: nothing is killed for taking more');
    return null;
  }
}
