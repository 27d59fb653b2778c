import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isStatusError } from '../../src/errors.ts';
import { compileRenderer, loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { incidentView } from '../../src/views/incident/incident.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { outage } from '../helpers/page-scenes.ts';

let renderer: Renderer;
beforeAll(async () => {
  renderer = await loadRenderer();
});

const entryOf = (version: string) => join(import.meta.dirname, '../../dist/renderer', version, 'server/entry.mjs');

describe('the renderer', () => {
  it('is compiled once for each state of its sources', async () => {
    const before = await stat(entryOf(renderer.version));
    await Promise.all([compileRenderer(), compileRenderer()]);
    const after = await stat(entryOf(renderer.version));
    expect(after.mtimeMs).toBe(before.mtimeMs);
    expect((await loadRenderer()).version).toBe(renderer.version);
  });

  it('has a version that can be part of a file name', () => {
    expect(renderer.version).toMatch(/^[0-9a-f]{16}$/);
  });

  it('draws pages side by side without mixing them', async () => {
    const model = outage();
    const pages = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const incident = model.incidents[index % model.incidents.length];
        if (incident === undefined) throw new Error('The scene has no incidents');
        const view = incidentView(model, { ...incident, title: `Incident ${index}` });
        return renderer.render('incident', view);
      }),
    );
    for (const [index, { html }] of pages.entries()) {
      expect(html).toContain(`Incident ${index}</h1>`);
      expect(html.match(/Incident \d+<\/h1>/g)).toHaveLength(1);
    }
  });

  it('fails with a code on a view that cannot be drawn, and draws the next one', async () => {
    const broken = { ...statusPageView(outage()), sections: null };
    const failure = await renderer.render('status-page', broken as never).catch((error: unknown) => error);
    expect(isStatusError(failure) && failure.code).toBe('PUBLISH_FAILED');
    expect((await renderer.render('status-page', statusPageView(outage()))).html).toContain('Some things are down');
  });

  it('fails on a view of another kind than the page', async () => {
    const failure = await renderer
      .render('incident', statusPageView(outage()) as never)
      .catch((error: unknown) => error);
    expect(isStatusError(failure) && failure.code).toBe('PUBLISH_FAILED');
  });
});
