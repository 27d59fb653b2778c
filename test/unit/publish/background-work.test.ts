import { expect, it } from 'vitest';
import { createBackgroundWork } from '../../../src/publish/background-work.ts';
import { type PagePublisher, type PlannedTask, POOL_PAGES_MIN } from '../../../src/publish/page-release.ts';
import { DISK } from '../../../src/publish/releases/disk.ts';
import { releaseFolders } from '../../../src/publish/releases/folders.ts';

const taskOf = (slug: string) => ({ page: { definition: { slug } } }) as unknown as PlannedTask;

it('draws what is added while threads end that drew what was added before', async () => {
  const drawn: string[] = [];
  const ending = Promise.withResolvers<void>();
  const begunEnding = Promise.withResolvers<void>();
  const work = createBackgroundWork({
    disk: DISK,
    folders: releaseFolders('/nowhere'),
    pages: {
      publish: async ({ page }: PlannedTask) => {
        drawn.push(page.definition.slug);
        return { manifest: null };
      },
    } as unknown as PagePublisher,
    withFence: () => Promise.reject(new Error('nothing is switched')),
    publishSite: () => Promise.reject(new Error('nothing is listed')),
    idle: () => Promise.resolve(),
    newsAt: () => 0,
    onRelease: () => undefined,
    workers: {
      size: 1,
      prepare: () => Promise.reject(new Error('nothing is prepared')),
      terminate: () => {
        begunEnding.resolve();
        return ending.promise;
      },
    },
    onError: (error) => {
      throw error;
    },
  });
  const slugs = Array.from({ length: POOL_PAGES_MIN }, (_, index) => `page-${index}`);
  for (const slug of slugs) work.addDeferred(taskOf(slug));
  await begunEnding.promise;
  work.addDeferred(taskOf('late'));
  ending.resolve();
  await work.settled();
  expect(drawn).toEqual([...slugs, 'late']);
  await work.close();
});

it('is settled for each of those who wait, also where several do', async () => {
  const work = createBackgroundWork({
    disk: DISK,
    folders: releaseFolders('/nowhere'),
    pages: { publish: async () => ({ manifest: null }) } as unknown as PagePublisher,
    withFence: () => Promise.reject(new Error('nothing is switched')),
    publishSite: () => Promise.reject(new Error('nothing is listed')),
    idle: () => Promise.resolve(),
    newsAt: () => 0,
    onRelease: () => undefined,
    workers: null,
    onError: (error) => {
      throw error;
    },
  });
  work.addDeferred(taskOf('page'));
  let settled = 0;
  for (let waiting = 0; waiting < 3; waiting += 1) void work.settled().then(() => (settled += 1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(settled).toBe(3);
  await work.close();
});

it('lets others go first where the list of pages was just drawn, and draws it once for all that asked meanwhile', async () => {
  const done: string[] = [];
  const work = createBackgroundWork({
    disk: DISK,
    folders: releaseFolders('/nowhere'),
    pages: {
      publish: async ({ page }: PlannedTask) => {
        done.push(page.definition.slug);
        return { manifest: null };
      },
    } as unknown as PagePublisher,
    withFence: (task) => task({ check: () => Promise.resolve() } as never),
    publishSite: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      done.push('list');
    },
    idle: () => Promise.resolve(),
    newsAt: () => -Infinity,
    onRelease: () => undefined,
    workers: null,
    onError: (error) => {
      throw error;
    },
  });
  work.addSite();
  work.addDeferred(taskOf('first'));
  await work.settled();
  work.addSite();
  work.addDeferred(taskOf('second'));
  work.addSite();
  await work.settled();
  expect(done).toEqual(['list', 'first', 'second', 'list']);
  await work.close();
});
