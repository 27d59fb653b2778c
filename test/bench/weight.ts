/** What a page weighs on the wire and what drawing it takes. Prints figures; a budget that is broken is said so. */

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { PageModel } from '../../src/model/index.ts';
import { PAGE_SCRIPTS } from '../../src/model/slugs.ts';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import type { ViewByKind, ViewKind } from '../../src/views/html.ts';
import { incidentView } from '../../src/views/incident/incident.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { onePageOfEachKind, render } from '../helpers/every-page.ts';
import { calm, longHistory, manyComponents, outage, troubledWorld } from '../helpers/page-scenes.ts';
import { judge, number } from './budget.ts';

/** 50 components × 90 days without the scripts, and the scripts, compressed as well as can be; held by pages-weight.test.ts. */
const PAGE_BYTES_MAX = 9_000;
const SCRIPT_BYTES_MAX = 6_000;
/** What a page may weigh at its worst, as it is published at once: ten and twenty packets, the first of which are sent unasked. */
const TROUBLED_50_MAX = 14_600;
const TROUBLED_300_MAX = 30_000;
const SCRIPT = /<script(?: type="module"(?: blocking="render")?)?>([\s\S]*?)<\/script>/g;

export interface WeightFigures {
  readonly name: string;
  readonly rawBytes: number;
  /** As published at once. */
  readonly brotli5Bytes: number;
  readonly brotli11Bytes: number;
  readonly gzipBytes: number;
}

const brotli = (text: string, quality: number) =>
  brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  }).length;

function weigh(name: string, html: string): WeightFigures {
  return {
    name,
    rawBytes: Buffer.byteLength(html),
    brotli5Bytes: brotli(html, 5),
    brotli11Bytes: brotli(html, 11),
    gzipBytes: gzipSync(html, { level: 6 }).length,
  };
}

/** Milliseconds for one call, the median of five rounds after a warm-up. */
async function timeOf(calls: number, call: () => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const start = performance.now();
    for (let index = 0; index < calls; index += 1) await call();
    rounds.push((performance.now() - start) / calls);
  }
  return rounds.slice(1).toSorted((a, b) => a - b)[2] ?? 0;
}

/** Prints all figures, and those that have a budget beside it. */
export async function run(): Promise<void> {
  const renderer = await loadRenderer();
  const draw = async <Kind extends ViewKind>(kind: Kind, view: ViewByKind[Kind]) =>
    (await renderer.render(kind, view)).html;
  const fifty = await draw('status-page', statusPageView(manyComponents(50)));
  const script = [...fifty.matchAll(SCRIPT)].map((match) => match[1]).join('\n');
  const without = weigh('50 components, without scripts', fifty.replace(SCRIPT, ''));
  // As in public: with days.js and enhance.js beside them, which browsers keep.
  const draws = async (name: string, of: PageModel) =>
    weigh(name, (await renderer.render('status-page', statusPageView(of), 'file')).html);
  const troubled = await draws('50 components, 150 incidents in 80 days', troubledWorld(50, 150));
  const crowded = await draws('300 components, 900 incidents', troubledWorld(300, 900));
  const figures = [
    weigh('50 components × 90 days, behind a gate', fifty),
    await draws('50 components × 90 days', manyComponents(50)),
    await draws('the same in Arabic', manyComponents(50, { settings: { locale: 'ar' } })),
    await draws('the same in Japanese', manyComponents(50, { settings: { locale: 'ja' } })),
    without,
    await draws('300 components', manyComponents(300)),
    troubled,
    crowded,
    await draws('10 components, outage', outage()),
  ];
  for (const page of onePageOfEachKind(calm()).filter(({ kind }) => kind !== 'status-page'))
    figures.push(weigh(page.path, (await render(renderer, page)).html));
  for (const name of PAGE_SCRIPTS) figures.push(weigh(name, renderer.scriptOf(name)));
  console.table(figures);
  await times(renderer);
  for (const { name, brotli11Bytes, rawBytes } of figures)
    judge({ name: `${name}, brotli 11`, figure: brotli11Bytes, unit: 'B', remark: `${number(rawBytes)} B raw` });
  const weights = [
    { name: without.name, figure: without.brotli11Bytes, atMost: PAGE_BYTES_MAX },
    { name: 'scripts', figure: brotli(script, 11), atMost: SCRIPT_BYTES_MAX },
    { name: troubled.name, figure: troubled.brotli5Bytes, atMost: TROUBLED_50_MAX },
    { name: crowded.name, figure: crowded.brotli5Bytes, atMost: TROUBLED_300_MAX },
  ];
  for (const weight of weights) judge({ ...weight, unit: 'B' });
}

async function times(renderer: Awaited<ReturnType<typeof loadRenderer>>): Promise<void> {
  const model = manyComponents(50);
  const view = statusPageView(model);
  const history = longHistory(1_000);
  const [incident] = history.incidents;
  if (incident === undefined) return;
  const one = incidentView(history, incident);
  console.table({
    'view of 50 × 90 (ms)': await timeOf(20, () => statusPageView(model)),
    'drawing it (ms)': await timeOf(20, () => renderer.render('status-page', view)),
    'view of an incident (ms)': await timeOf(200, () => incidentView(history, incident)),
    'drawing it, an incident (ms)': await timeOf(200, () => renderer.render('incident', one)),
  });
}

if (import.meta.main) await run();
