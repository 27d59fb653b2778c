import { Resvg } from '@resvg/resvg-js';
import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, type PageModel } from '../../../src/model/index.ts';
import { socialImage } from '../../../src/publish/files/social-image.ts';
import { type SocialLogo, socialView } from '../../../src/views/badges/social.ts';
import { findWords } from '../../../src/views/words/index.ts';
import { ago, componentModel, pageModel } from '../../helpers/page-model.ts';
import { calm, longNames, outage, rightToLeft } from '../../helpers/page-scenes.ts';
import { HOSTILE_TEXTS, hostilePage } from './hostile.ts';

describe('what the social image shows', () => {
  it('changes with the state and the days, and with nothing else', () => {
    const before = JSON.stringify(socialView(calm()));
    const later = { ...calm(), asOf: ago(-MINUTE_MS), staleAfter: ago(-DAY_MS), incidents: [], dataFrom: ago(0) };
    expect(JSON.stringify(socialView(later))).toBe(before);
    expect(JSON.stringify(socialView(outage()))).not.toBe(before);
  });

  it('names what is in trouble, up to three', () => {
    expect(socialView(calm()).detail).toBe('');
    expect(socialView(outage()).detail).toBe('Down: Web application and API.');
    const components = Array.from({ length: 9 }, (_, index) =>
      componentModel({ id: `c${index}`, name: `C${index}`, state: 'degraded' }),
    );
    expect(socialView(pageModel({ components })).detail).toBe('Degraded: C0, C1, C2, and 6 others.');
  });

  it('is written in the page’s language, with names in its script', () => {
    expect(socialView(rightToLeft())).toMatchObject({
      locale: 'ar',
      sentence: findWords('ar').bannerPartialOutage,
      title: 'أكمي',
    });
    const titled = (title: string, locale: string) =>
      socialView(pageModel({ definition: { title }, settings: { locale } }));
    expect(titled('決済サービス', 'ja')).toMatchObject({ locale: 'ja', title: '決済サービス' });
    expect(titled('支付平台', 'zh-Hans')).toMatchObject({ locale: 'zh-Hans', title: '支付平台' });
    for (const locale of ['en', 'de', 'fr', 'es', 'pt-BR', 'ja', 'zh-Hans', 'ar'])
      expect(titled('Acme', locale).locale).toBe(locale);
  });

  it('has the address for a name in a script that the fonts lack, and no pictures', () => {
    const titleOf = (title: string) => socialView(pageModel({ definition: { title } })).title;
    for (const title of ['সেবা', 'სერვისი', '뷁', '🔥 Acme 鿿']) expect(titleOf(title)).toBe('status.acme.example/acme');
    for (const title of ['결제 서비스', 'บริการ', 'सेवा']) expect(titleOf(title)).toBe(title);
    expect(titleOf('🔥 Acme')).toBe('Acme');
  });

  it('has ninety days in which a component counts from when it was first heard of', () => {
    const old = componentModel({ id: 'a', knownDays: 400 });
    const young = componentModel({ id: 'b', knownDays: 5 });
    const { days } = socialView(pageModel({ components: [old, young] }));
    expect(days).toHaveLength(90);
    expect(new Set(days)).toEqual(new Set(['operational']));
    const silent = componentModel({ id: 'b', troubles: [{ state: 'unknown', startedAgoMs: 3 * DAY_MS }] });
    expect(socialView(pageModel({ components: [old, silent] })).days.at(-2)).toBe('unknown');
  });
});

describe('the social image', () => {
  const sizeOf = (png: Uint8Array) => {
    const view = new DataView(png.buffer, png.byteOffset);
    return [view.getUint32(16), view.getUint32(20)];
  };

  it('is a PNG of 1200 × 630, the same bytes for the same view', async () => {
    const [first, second] = [await socialImage(socialView(outage())), await socialImage(socialView(outage()))];
    expect(Buffer.from(first).subarray(1, 4).toString()).toBe('PNG');
    expect(sizeOf(first)).toEqual([1200, 630]);
    expect(Buffer.compare(first, second)).toBe(0);
  });

  it('is another picture when the state is another', async () => {
    const [good, bad] = [await socialImage(socialView(calm())), await socialImage(socialView(outage()))];
    expect(Buffer.compare(good, bad)).not.toBe(0);
  });

  it('has the look of the page: preset, accent, and the logo for its ground in place of the title', async () => {
    const logo = (fill: string, more = ''): SocialLogo => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 36"><path fill="${fill}" d="M0 0h80v36H0z"/>${more}</svg>`;
      return { contentType: 'image/svg+xml', base64: Buffer.from(svg).toString('base64'), width: 80, height: 36 };
    };
    const logos = [logo('#0000ff'), logo('#00ffff')];
    const looking = (settings: Partial<PageModel['settings']>, from = calm()) => ({
      ...from,
      settings: { ...from.settings, ...settings },
    });
    const dark = calm();
    const views = {
      plain: socialView(calm()),
      preset: socialView(looking({ look: { preset: 'contrast' } })),
      accent: socialView(looking({ accentColor: '#ff00ff' })),
      logo: socialView(calm(), logos),
      darkLogo: socialView({ ...dark, definition: { ...dark.definition, theme: 'dark' } }, logos),
      loudLogo: socialView(pageModel({ components: [componentModel({ state: 'major_outage' })] }), logos),
    };
    const pixels = Object.fromEntries(
      await Promise.all(
        Object.entries(views).map(async ([name, view]) => [name, pixelsOf(await socialImage(view))] as const),
      ),
    );
    const at = (name: keyof typeof views, x: number, y: number) => pixels[name]?.(x, y);
    expect([at('plain', 600, 600), at('preset', 600, 600)]).toEqual(['#fdfcfa', '#ffffff']);
    expect(at('accent', 600, 4)).toBe('#ff00ff');
    expect([at('logo', 80, 70), at('darkLogo', 80, 70), at('loudLogo', 80, 70)]).toEqual([
      '#0000ff',
      '#00ffff',
      '#00ffff',
    ]);
    // Its name would be missing, since the picture is drawn without the fonts of this machine.
    expect(socialView(calm(), [logo('#0000ff', '<text y="9">Acme</text>')]).logo).toBeNull();
  });

  it('is drawn whatever the names are', async () => {
    for (const model of [longNames(), ...HOSTILE_TEXTS.map(hostilePage)])
      expect(sizeOf(await socialImage(socialView(model)))).toEqual([1200, 630]);
  });
});

/** The colour at a point of a PNG of 1200 × 630, as `#rrggbb`. */
function pixelsOf(png: Uint8Array): (x: number, y: number) => string {
  const href = `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><image width="1200" height="630" href="${href}"/></svg>`;
  const { pixels } = new Resvg(svg).render();
  return (x, y) => `#${Buffer.from(pixels.subarray((y * 1200 + x) * 4)).toString('hex', 0, 3)}`;
}
