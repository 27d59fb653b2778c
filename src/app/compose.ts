/**
 * The composition root: four builders, one after the other, for the store, serving, notifications and publishing. Commands that
 * don't serve call only those they need.
 */

import type { Config } from '../config/load.ts';
import { buildPublish, type PublishOptions } from './build-publish.ts';
import { buildServe } from './build-serve.ts';
import { buildStore, openOrClose, type StoreOptions } from './build-store.ts';
import { buildTell } from './build-tell.ts';

export type Pharos = Awaited<ReturnType<typeof compose>>;

interface ComposeOptions extends StoreOptions, PublishOptions {
  /** True: a web node, which takes releases from other nodes. Default: false. */
  readonly isTaking?: boolean;
  /** False: a preview, which sends no notices. Default: true. */
  readonly isSending?: boolean;
}

/** Builds everything of a server. Disposing of it closes everything in reverse order, with what was added since. */
export async function compose(config: Config, options: ComposeOptions) {
  const { isPublishing, isLasting = false, isTaking = false, isSending = true, printsMail = false } = options;
  const base = await buildStore(config, { ...options, mayOnlyRead: isLasting && !isPublishing });
  return openOrClose(base.closing, async () => {
    const serving = buildServe(base, isPublishing || isTaking, isTaking);
    const telling = buildTell(base, serving, printsMail, isSending && !isTaking);
    const publishing = await buildPublish(base, serving, telling, options);
    return { base, serving, telling, publishing, [Symbol.asyncDispose]: () => base.closing.disposeAsync() };
  });
}
