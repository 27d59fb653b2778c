import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { onePageOfEachKind, type PageUnderTest } from '../helpers/every-page.ts';
import { calm, outage, troubledWorld } from '../helpers/page-scenes.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

/** Draws as our footer does, which it wraps: so the build has Astro's runtime, and all pages are to come out alike. */
const FOOTER = `---
import Footer from 'pharos:layouts/Footer.astro';
const { shell, words } = Astro.props;
---
<Footer {shell} {words}><slot /></Footer>
`;
const POLICY = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
/** In builds with own components alone. */
const SOURCE_MAP = /\n?\/\/# sourceMappingURL=[^\n<]*\n?/g;
const DIGEST = /\.js\?[0-9a-f]{8}" integrity="[^"]*"/g;

/** Every kind of page in several situations, and text that is markup in every place where people write. */
function pages(): PageUnderTest[] {
  const troubled = { path: 'troubled/', kind: 'status-page', view: statusPageView(troubledWorld(20, 60)) } as const;
  const hostile = JSON.parse(
    JSON.stringify(statusPageView(outage())).replaceAll('"name":"', `"name":"<b a='1'>&amp;\\"`),
  ) as ReturnType<typeof statusPageView>;
  return [
    ...onePageOfEachKind(calm()),
    ...onePageOfEachKind(outage()),
    troubled,
    { path: 'hostile/', kind: 'status-page', view: hostile },
  ];
}

describe('templates drawn without Astro’s runtime', () => {
  const folder = temporaryFolder();
  let ours: Renderer;
  let astros: Renderer;
  beforeAll(async () => {
    const own = { folder: join(folder.path, 'components'), builds: join(folder.path, 'builds') };
    mkdirSync(own.folder);
    writeFileSync(join(own.folder, 'Footer.astro'), FOOTER);
    [ours, astros] = await Promise.all([loadRenderer(), loadRenderer(own)]);
  });
  afterAll(folder.remove);

  it('have the same bytes as with it, on every kind of page', async () => {
    const normal = ({ html }: { readonly html: string }) =>
      html.replace(POLICY, '').replace(SOURCE_MAP, '').replace(DIGEST, '');
    for (const page of pages()) {
      for (const place of [undefined, 'file'] as const) {
        const draw = ({ render }: Renderer) => render(page.kind, page.view as never, place);
        const [one, other] = await Promise.all([draw(ours), draw(astros)]);
        expect(normal(one), `${page.kind} ${page.path} ${place}`).toBe(normal(other));
      }
    }
  });
});
