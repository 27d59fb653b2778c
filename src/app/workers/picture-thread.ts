/** The thread that renders social images. It ends when there are none, which frees its libraries. */

import { parentPort } from 'node:worker_threads';
import { socialImage } from '../../publish/files/social-image.ts';
import type { PictureHandlers } from './picture-client.ts';
import { createRpc } from './rpc.ts';

if (parentPort === null) throw new Error('this module is the entry point of a thread');
createRpc(parentPort, { draw: socialImage } satisfies PictureHandlers);
