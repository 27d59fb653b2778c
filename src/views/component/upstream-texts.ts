/** What an upstream counts itself of a component, in sentences. */

import type { ComponentModel } from '../../model/index.ts';
import type { DatedPage, PageFrame } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import { upstreamRatio, upstreamResponseMs } from '../model/upstream-figures.ts';
import { fill } from '../words/index.ts';

/** Its uptime; null: it says nothing, or uptime is not shown. */
export function upstreamUptimeText(
  { model, words, format }: ViewContext<PageFrame>,
  component: ComponentModel,
): string | null {
  const ratio = upstreamRatio(component);
  if (ratio === null || !model.settings.showUptime) return null;
  return fill(words.upstreamSays, {
    uptime: format.percent(ratio, model.settings.uptimeDecimals),
    n: component.upstreamUptime?.periodDays ?? 0,
  });
}

/** Its average response time; null: it says nothing, or there are samples. */
export function upstreamResponseText(
  { model, words, format }: ViewContext<DatedPage>,
  component: ComponentModel,
): string | null {
  const ms = upstreamResponseMs(component, model.asOf);
  if (ms === null) return null;
  return fill(words.upstreamResponse, {
    time: fill(words.milliseconds, { n: format.number(Math.round(ms)) }),
    n: component.upstreamUptime?.periodDays ?? 0,
  });
}
