/** The thread that renders social images. It ends when there are none, which frees its libraries. */

import { socialImage } from '../../publish/files/social-image.ts';
import type { PictureCalls } from './picture-client.ts';
import { answerParent } from './threads.ts';

answerParent({ draw: socialImage } satisfies PictureCalls);
