/**
 * Stands for the thread that draws social images (`warm-threads.ts`), with as many calls and other bytes for another view. An image takes
 * 100 ms, and each change of each page draws one; they are looked at in `views-machine/social.test.ts`, and drawn by a thread in
 * `app/pictures.test.ts`.
 */

import { answerParent } from '../../src/app/workers/threads.ts';
import type { PictureCalls } from '../../src/app/workers/worker-pool.ts';
import { pictureOf } from './pictures.ts';

answerParent({ draw: async (view) => pictureOf(view) } satisfies PictureCalls);
