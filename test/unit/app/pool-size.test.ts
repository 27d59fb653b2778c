import { describe, expect, it } from 'vitest';
import { poolSize } from '../../../src/app/workers/worker-pool.ts';

const MB = 2 ** 20;

describe('how many threads draw', () => {
  it.each([
    ['as there are cores', 4, 2_048 * MB, 4],
    ['no more than the disk keeps up with', 64, 64_000 * MB, 8],
    ['as fit into the memory that there is', 8, 700 * MB, 4],
    ['two in 500 MB', 2, 500 * MB, 2],
    ['one, however little memory there is', 8, 200 * MB, 1],
  ])('%s', (_what, cores, limit, size) => {
    expect(poolSize(cores, limit)).toBe(size);
  });
});
