// How the pages are compiled. What they show comes in as a view (src/views); who calls them is src/publish/draw/renderer.ts.
import { join } from 'node:path';
import node from '@astrojs/node';
import { defineConfig, passthroughImageService } from 'astro/config';
import { looksStylesheet } from './src/looks/states.ts';
import { BUILD_CACHE_VARIABLE, OWN_COMPONENTS_VARIABLE, useOwnComponents } from './src/publish/draw/own-components.ts';

/** The adapter in middleware mode, with an entry of ours that draws a view without a request over HTTP. */
function adapter() {
  const integration = node({ mode: 'middleware', bodySizeLimit: 65_536, experimentalDisableStreaming: true });
  const serverEntrypoint = new URL('./src/publish/draw/renderer-entry.ts', import.meta.url);
  const configDone = integration.hooks['astro:config:done'];
  integration.hooks['astro:config:done'] = (options) =>
    configDone?.({ ...options, setAdapter: (made) => options.setAdapter({ ...made, serverEntrypoint }) });
  return integration;
}

/** The colours of the pages as a style sheet that layouts import. */
function looks() {
  const id = 'virtual:looks.css';
  return {
    name: 'pharos-looks',
    resolveId: (source) => (source === id ? id : undefined),
    load: (source) => (source === id ? looksStylesheet() : undefined),
  };
}

/** Has templates of ours drawn by what needs no more than they do; those of an operator may use all of Astro. */
function templateRuntime() {
  const runtime = join(import.meta.dirname, 'src/publish/draw/template-runtime.ts');
  return {
    name: 'pharos-template-runtime',
    enforce: 'pre',
    resolveId: (id) => (id === 'astro/compiler-runtime' ? runtime : undefined),
  };
}

/**
 * The build begins in a folder of its own (`compile-pages.ts`), since Astro writes into its project; from here on the project is
 * this one. Of what lies outside of it Astro takes absolute addresses to be relative ones.
 */
function here() {
  const root = new URL('./', import.meta.url);
  return { name: 'pharos-here', hooks: { 'astro:config:setup': ({ updateConfig }) => void updateConfig({ root }) } };
}

/** Folder of components that replace ours; set by src/publish/draw/compile-pages.ts. */
const own = process.env[OWN_COMPONENTS_VARIABLE];
/** Folder for what the build keeps for itself, since a package may be installed where nothing can be written. */
const cache = process.env[BUILD_CACHE_VARIABLE];

export default defineConfig({
  output: 'server',
  adapter: adapter(),
  integrations: cache === undefined ? [] : [here()],
  outDir: './dist/astro',
  ...(cache === undefined ? {} : { srcDir: join(import.meta.dirname, 'src'), cacheDir: join(cache, 'astro') }),
  // Public files are copied by the publisher; in the compiled pages they would only be a second copy.
  publicDir: './src/pages/none',
  trailingSlash: 'always',
  // As in JSX, and as the formatter takes it: a line break between elements is no space; `{' '}` is one.
  compressHTML: 'jsx',
  // A class and not an attribute: the shortest of what Astro offers.
  scopedStyleStrategy: 'class',
  build: { inlineStylesheets: 'always' },
  image: { service: passthroughImageService(), domains: [], remotePatterns: [] },
  markdown: { syntaxHighlight: false },
  session: false,
  prefetch: false,
  devToolbar: { enabled: false },
  security: {
    checkOrigin: true,
    allowedDomains: [],
    actionBodySizeLimit: 1_024,
    serverIslandBodySizeLimit: 1_024,
    // The publisher narrows this to what each page has: src/publish/draw/renderer.ts.
    csp: { algorithm: 'SHA-256', directives: ["default-src 'none'"] },
  },
  vite: {
    ...(cache === undefined ? {} : { cacheDir: join(cache, 'vite') }),
    plugins: [looks(), own === undefined ? templateRuntime() : useOwnComponents(import.meta.dirname, own)],
    // What is built has everything in it: to draw, none of Astro's packages has to be installed.
    ssr: { noExternal: true },
    build: { sourcemap: own !== undefined, assetsInlineLimit: 65_536, reportCompressedSize: false },
  },
});
