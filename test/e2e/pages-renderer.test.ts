import { stat } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isStatusError } from '../../src/errors.ts';
import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { incidentView } from '../../src/views/incident/incident.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { outage } from '../helpers/page-scenes.ts';

let renderer: Renderer;
beforeAll(async () => {
  renderer = await loadRenderer();
});

describe('the renderer', () => {
  it('is compiled once for each state of its sources', async () => {
    const entry = await compilePages();
    const before = await stat(entry);
    await Promise.all([compilePages(), compilePages()]);
    expect(await compilePages()).toBe(entry);
    expect((await stat(entry)).mtimeMs).toBe(before.mtimeMs);
  });

  it('has the same version each time that it is loaded', async () => {
    expect((await loadRenderer()).version).toBe(renderer.version);
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
    expect((await renderer.render('status-page', statusPageView(outage()))).html).toContain('Partial outage');
  });

  it('fails on a view of another kind than the page', async () => {
    const failure = await renderer
      .render('incident', statusPageView(outage()) as never)
      .catch((error: unknown) => error);
    expect(isStatusError(failure) && failure.code).toBe('PUBLISH_FAILED');
  });
});
