import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPictures, type Pictures } from '../../../src/app/workers/worker-pool.ts';
import { socialImage } from '../../../src/publish/files/social-image.ts';
import { socialView } from '../../../src/views/badges/social.ts';
import { calm, outage } from '../../helpers/page-scenes.ts';

const IDLE_MS = 50;
const ENDED = { timeout: 10_000 };
let pictures: Pictures | undefined;

let stopWatching = (): void => undefined;

afterEach(async () => {
  stopWatching();
  await pictures?.close();
});

/** Node tells of every thread that begins. */
function watched(idleMs = IDLE_MS) {
  const onBegin = vi.fn<() => void>();
  const onEnd = vi.fn<() => void>();
  const watch = (thread: Worker): void => {
    onBegin();
    thread.once('exit', () => onEnd());
  };
  process.on('worker', watch);
  stopWatching = () => void process.off('worker', watch);
  pictures = createPictures(idleMs);
  return { draw: pictures.draw, close: pictures.close, onBegin, onEnd };
}

describe('social images in a thread of their own', () => {
  it('have the bytes that they would have in this one', async () => {
    const { draw } = watched();
    const views = [socialView(calm()), socialView(outage())];
    const drawn = await Promise.all(views.map(draw));
    for (const [index, view] of views.entries())
      expect(Buffer.compare(drawn[index] ?? new Uint8Array(), await socialImage(view))).toBe(0);
  });

  it('begin one thread for all that wait, which ends when none does, and another one later', async () => {
    const { draw, onBegin, onEnd } = watched();
    const view = socialView(calm());
    await Promise.all([draw(view), draw(view), draw(view)]);
    expect(onBegin).toHaveBeenCalledTimes(1);
    expect(onEnd).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(onEnd).toHaveBeenCalledTimes(1), ENDED);
    await draw(view);
    expect(onBegin).toHaveBeenCalledTimes(2);
    await vi.waitFor(() => expect(onEnd).toHaveBeenCalledTimes(2), ENDED);
  });

  it('fail with what went wrong, and those after them are drawn', async () => {
    const { draw } = watched();
    const view = socialView(calm());
    const broken = { ...view, days: null } as never;
    await expect(draw(broken)).rejects.toThrow(/null/);
    expect((await draw(view)).length).toBeGreaterThan(1_000);
  });

  it('leave nobody waiting for a thread that was ended', async () => {
    const { draw, close, onEnd } = watched();
    const waiting = expect(draw(socialView(calm()))).rejects.toThrow(/exited/);
    await close();
    await waiting;
    expect(onEnd).toHaveBeenCalledTimes(1);
  });
});
