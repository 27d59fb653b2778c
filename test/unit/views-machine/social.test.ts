import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../src/model/index.ts';
import { socialImage } from '../../../src/publish/files/social-image.ts';
import { socialView } from '../../../src/views/badges/social.ts';
import { wordsOf } from '../../../src/views/words/index.ts';
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
      sentence: wordsOf('ar').bannerPartialOutage,
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
    for (const title of ['সেবা', 'სერვისი', '뷁', '🔥 Acme 鿿'])
      expect(titleOf(title)).toBe('status.acme.example/acme');
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

  it('is drawn whatever the names are', async () => {
    for (const model of [longNames(), ...HOSTILE_TEXTS.map(hostilePage)])
      expect(sizeOf(await socialImage(socialView(model)))).toEqual([1200, 630]);
  });
});
