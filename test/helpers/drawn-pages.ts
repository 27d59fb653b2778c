/**
 * Compiles the pages of the tree that it lies in and prints, as JSON, where the build is, and of one page of each kind the
 * version and the digest of its bytes. To be run as a process of its own, in a copy of the tree.
 */

import { hash } from 'node:crypto';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { loadRenderer } from '../../src/publish/draw/load-renderer.ts';
import { onePageOfEachKind, render } from './every-page.ts';

const { entry } = await compilePages();
const renderer = await loadRenderer();
const pages: Record<string, { version: string; digest: string }> = {};
for (const page of onePageOfEachKind()) {
  const { html, csp } = await render(renderer, page);
  const digest = hash('sha256', [pages[page.kind]?.digest, html, csp].join(), 'hex');
  pages[page.kind] = { version: renderer.versionOf(page.kind), digest };
}
console.log(JSON.stringify({ entry, pages }));
