/** The thread that renders social images. It ends when there are none, which frees its libraries. */

import { socialImage } from '../../publish/files/social-image.ts';
import { answerParent } from './threads.ts';
import type { PictureCalls } from './worker-pool.ts';

answerParent({ draw: socialImage } satisfies PictureCalls);
