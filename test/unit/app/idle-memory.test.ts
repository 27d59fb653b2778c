import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createIdleMemory } from '../../../src/app/workers/idle-memory.ts';

const IDLE_MS = 30;

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
});
