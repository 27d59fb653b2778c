import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { floorTo, formatUptime } from '../../../src/model/uptime.ts';
import { TEST_SCALE } from './random-history.ts';

describe('formatUptime', () => {
  it.each([
    [1, 2, '100%'],
    [0.99995, 2, '99.99%'],
    [0.999999999, 2, '99.99%'],
    [0.9999999999999999, 3, '99.999%'],
    [0.99995, 3, '99.995%'],
    [0.9999, 2, '99.99%'],
    [0.57, 0, '57%'],
    [0.29, 0, '29%'],
    [0.049999999999999996, 0, '4%'],
    [0.19999999999999998, 0, '19%'],
    [0.1, 2, '10.00%'],
    [1 / 3, 3, '33.333%'],
    [2 / 3, 0, '66%'],
    [1e-9, 2, '0.00%'],
    [0, 2, '0.00%'],
  ])('writes %d with %d digits as %s', (ratio, decimals, text) => {
    expect(formatUptime(ratio, decimals)).toBe(text);
  });

  it('writes a dash for nothing and for what is not a ratio', () => {
    for (const ratio of [null, Number.NaN, -0.1, 1.000001, Number.POSITIVE_INFINITY])
      expect(formatUptime(ratio, 2)).toBe('–');
  });

  it('follows the locale', () => {
    expect(formatUptime(0.99995, 2, 'de')).toBe('99,99\u00a0%');
    expect(formatUptime(1, 2, 'de')).toBe('100\u00a0%');
  });

  it('never writes more than the truth, and at most one step less', () => {
    // A share of whole milliseconds is what uptime is; the truth is their fraction, in integers. Up to three digits a
    // fraction that is not on a step differs from it by more than a double can lose, over a year and more.
    const share = fc
      .tuple(fc.bigInt({ min: 1n, max: 40_000_000_000n }), fc.bigInt({ min: 0n, max: 40_000_000_000n }))
      .map(([total, part]) => [total, part % (total + 1n)] as const);
    fc.assert(
      fc.property(share, fc.integer({ min: 0, max: 3 }), ([total, part], decimals) => {
        const text = formatUptime(Number(part) / Number(total), decimals);
        const steps = BigInt(text.replace('%', '').replace('.', '')) * (text === '100%' ? 10n ** BigInt(decimals) : 1n);
        expect(steps).toBe((part * 10n ** BigInt(decimals + 2)) / total);
        expect(text === '100%').toBe(part === total);
      }),
      { seed: 48, numRuns: Math.ceil(5_000 * TEST_SCALE) },
    );
  });

  it('gives the number that is written with so many digits, and nothing behind them', () => {
    // 0.999 as a product of steps is 0.9990000000000001.
    for (let step = 999_000; step <= 1_000_000; step += 1)
      expect(String(floorTo(step / 1e6, 6)).length).toBeLessThanOrEqual('0.999999'.length);
    expect(floorTo(0.9990000000000001, 6)).toBe(0.999);
    expect(floorTo(0.9989999999999999, 6)).toBe(0.998999);
  });

  it('never writes 100 for one lost millisecond in four hundred days', () => {
    const total = 400 * 86_400_000;
    for (let decimals = 0; decimals <= 6; decimals += 1)
      expect(formatUptime((total - 1) / total, decimals)).toMatch(/^99/);
  });

  it('keeps a bounded number of formatters, since a badge is asked for in whatever locale a visitor likes', () => {
    const made = vi.spyOn(Intl, 'NumberFormat');
    onTestFinished(() => made.mockRestore());
    for (let index = 0; index < 1_000; index += 1) formatUptime(0.5, 2, `en-x-a${index}`);
    made.mockClear();
    formatUptime(0.5, 2, 'en-x-a999');
    expect(made).toHaveBeenCalledTimes(0);
    for (let index = 0; index < 900; index += 1) formatUptime(0.5, 2, `en-x-a${index}`);
    expect(made).toHaveBeenCalledTimes(900);
  });
});
