/** The publisher as its thread makes it, in this one, drawing each view as a document that holds all of it. */

import { openStoreReader } from '../../../src/app/open-store.ts';
import { drawingWith } from '../../../src/app/workers/drawing.ts';
import type { PublisherClient, PublisherClientOptions } from '../../../src/app/workers/publisher-client.ts';
import type { Renderer } from '../../../src/publish/draw/renderer.ts';
import { listSiteFiles } from '../../../src/publish/files/site-files.ts';
import { createPublisher } from '../../../src/publish/publisher.ts';
import { createStore } from '../../../src/store/create-store.ts';

/** Pictures, in which words cannot be read, and badges of which another one of the page says the same: most of the work. */
const LEFT_OUT = /\.png$|^badges\/(?!status|card)|^(?:components|groups)\/[^/]+\/badges\//;

const csp = "default-src 'none'";
const documentOf = (kind: string, view: unknown) =>
  `<!DOCTYPE html><html lang="en"><title>${kind}</title><p>${JSON.stringify(view).replaceAll('<', '\\u003c')}</p></html>`;

const renderer: Renderer = {
  version: 'plain-1',
  scriptOf: (name) => `// ${name}`,
  render: async (kind, view) => ({ html: documentOf(kind, view), csp }),
  renderFile: async (kind, view) => ({ body: Buffer.from(documentOf(kind, view)), csp }),
};

export function startPublisherHere(options: PublisherClientOptions): PublisherClient {
  const reader = createStore(openStoreReader(options.store));
  const drawing = drawingWith(renderer);
  const publisher = createPublisher({
    ...options,
    ...drawing,
    store: reader,
    filesOf: (...page) => drawing.filesOf(...page).filter(({ path }) => !LEFT_OUT.test(path)),
    listSiteFiles,
  });
  return {
    ready: Promise.resolve(),
    ...publisher,
    render: renderer.render,
    stop: publisher.close,
    close: async () => {
      await publisher.close();
      await reader.close();
    },
  };
}
