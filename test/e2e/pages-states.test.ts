import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Colour, INK, WHITE } from '../../src/looks/colour.ts';
import { LOOKS } from '../../src/looks/states.ts';
import { DAY_MS, HOUR_MS, STATES } from '../../src/model/index.ts';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { uptimeCalendarView } from '../../src/views/history/uptime-calendar.ts';
import { embedView, statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { contrast, ringsOf } from '../helpers/page-examination.ts';
import { AS_OF, componentModel, pageModel } from '../helpers/page-model.ts';

let browser: Browser;
let renderer: Renderer;
beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
});
afterAll(async () => {
  await browser?.close();
});

/** Three days of every state, and now another. */
function componentIn(state: (typeof STATES)[number]) {
  const days = STATES.map((one, index) => ({
    state: one,
    startedAgoMs: (60 - 5 * index) * DAY_MS,
    forMs: 3 * DAY_MS,
  }));
  return componentModel({
    id: state.replaceAll('_', '-'),
    state,
    troubles: [...days, { state, startedAgoMs: 5 * HOUR_MS }],
  });
}

const styleOf = (page: Page, selector: string, property: 'stroke' | 'fill' | 'color' | 'backgroundColor') =>
  page
    .locator(selector)
    .first()
    .evaluate((element, name) => getComputedStyle(element)[name], property);

describe.each(['light', 'dark'] as const)(
  'in a browser that wants %s, each state looks as the one table says',
  (scheme) => {
    const rgb = ({ [scheme]: value }: Colour) => `rgb(${value >> 16}, ${(value >> 8) & 255}, ${value & 255})`;
    let page: Page;
    beforeAll(async () => {
      page = await browser.newPage({ colorScheme: scheme });
      await page.clock.setFixedTime(AS_OF);
    });
    afterAll(() => page?.close());
    const show = async (html: string): Promise<void> => {
      // Otherwise the policy of the last one would hold for this one too.
      await page.goto('about:blank');
      await page.setContent(html);
    };

    it.each(STATES)('%s: the head of its page, and the frame of it', async (state) => {
      const { header, text, isLoud } = LOOKS[state];
      const ink = isLoud ? rgb({ light: WHITE, dark: WHITE }) : rgb(INK);
      const model = pageModel({ components: [componentIn(state)] });
      await show((await renderer.render('status-page', statusPageView(model))).html);
      expect(await styleOf(page, '.header', 'backgroundColor')).toBe(rgb(header));
      expect(await styleOf(page, '.header h1', 'color')).toBe(ink);
      expect(await styleOf(page, '.header .icon', 'stroke')).toBe(isLoud ? ink : rgb(text));
      const rings = await ringsOf(page);
      expect(rings.length).toBeGreaterThan(10);
      // The focus is seen on every ground that the state makes.
      expect(rings.filter(({ ring, ground }) => contrast(ring, ground) < 3)).toEqual([]);
      await show((await renderer.render('embed', embedView(model))).html);
      expect(await styleOf(page, '.embed', 'backgroundColor')).toBe(rgb(header));
      expect(await styleOf(page, '.icon', 'stroke')).toBe(isLoud ? ink : rgb(text));
    });

    it('on a page in an outage: its row, its shape and its days', async () => {
      const model = pageModel({ state: 'major_outage', components: STATES.map(componentIn) });
      await show((await renderer.render('status-page', statusPageView(model))).html);
      for (const state of STATES) {
        const { text, row, bar, shape, letter } = LOOKS[state];
        const ownRow = `.row.s-${state}`;
        expect(await styleOf(page, `${ownRow} .icon`, 'stroke')).toBe(rgb(text));
        expect(await page.locator(`#i-${state}`).getAttribute('d')).toBe(shape.outline + shape.sign);
        expect(await styleOf(page, `.strip .${letter}`, 'stroke')).toBe(rgb(bar));
        if (['operational', 'paused', 'unknown'].includes(state)) continue;
        expect(await styleOf(page, ownRow, 'backgroundColor')).toBe(rgb(row));
        expect(await styleOf(page, `${ownRow} .state`, 'color')).toBe(rgb(text));
      }
    });

    it('in the calendar of a year: shapes in the colours of days', async () => {
      const model = pageModel({ components: [componentIn('operational')] });
      await show((await renderer.render('uptime-calendar', uptimeCalendarView(model))).html);
      for (const state of STATES)
        expect(await styleOf(page, `.cells path.${LOOKS[state].letter}`, 'fill')).toBe(rgb(LOOKS[state].bar));
    });
  },
);
