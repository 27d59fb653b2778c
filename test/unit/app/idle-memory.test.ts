import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createIdleMemory } from '../../../src/app/workers/idle-memory.ts';

const IDLE_MS = 30;
/** Blocks smaller than those that the C library takes from the system one by one. */
const BLOCKS = 4_000;
const BLOCK_BYTES = 20_000;

describe('memory of an idle thread', () => {
  it('is given back once, when all work has ended for a while', async () => {
    let collections = 0;
    const memory = createIdleMemory(() => (collections += 1), IDLE_MS);
    memory.begin();
    memory.begin();
    memory.end();
    await wait(IDLE_MS * 3);
    expect(collections).toBe(0);
    memory.end();
    expect(collections).toBe(0);
    memory.begin();
    await wait(IDLE_MS * 3);
    expect(collections).toBe(0);
    memory.end();
    await wait(IDLE_MS * 6);
    expect(collections).toBe(1);
  });

  it.runIf(hasGlibc())('is that of the C library, too, though what lasts lies in between', async () => {
    const { before, after } = await inChild('memory.begin(); memory.end();', 300);
    expect(before - after).toBeGreaterThan((BLOCKS * BLOCK_BYTES) / 2);
  });

  it.runIf(hasGlibc())('is so while work goes on, too', async () => {
    const { before, after } = await inChild('memory.begin();', 2_500);
    expect(before - after).toBeGreaterThan((BLOCKS * BLOCK_BYTES) / 2);
  });
});

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as unknown as { readonly header: Readonly<Record<string, unknown>> };
  return header['glibcVersionRuntime'] !== undefined;
}

/** Resident bytes of a process in which one block of a hundred lasts, when the others are garbage, and some time after `step`. */
async function inChild(step: string, waitMs: number): Promise<{ readonly before: number; readonly after: number }> {
  const script = `
    import { createIdleMemory } from ${JSON.stringify(new URL('../../../src/app/workers/idle-memory.ts', import.meta.url).href)};
    let blocks = Array.from({ length: ${BLOCKS} }, () => Buffer.alloc(${BLOCK_BYTES}, 1));
    globalThis.lasting = blocks.filter((_, index) => index % 100 === 99);
    blocks = null;
    gc();
    const before = process.memoryUsage.rss();
    const memory = createIdleMemory(gc, 1);
    ${step}
    setTimeout(() => console.log(JSON.stringify({ before, after: process.memoryUsage.rss() })), ${waitMs});
  `;
  const env = {
    ...process.env,
    MALLOC_ARENA_MAX: '1',
    MALLOC_TRIM_THRESHOLD_: '65536',
    MALLOC_MMAP_THRESHOLD_: '65536',
  };
  const args = ['--expose-gc', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout) as { readonly before: number; readonly after: number };
}
