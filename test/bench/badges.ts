/**
 * Badges per second and bytes per badge: ours, badge-maker, badgen and satori, on the same texts, each in a process of its own as
 * whoever uses one of them has it: in one process, what V8 knows of one is what it learned from all.
 *
 * Every badge is another label, message and colour, and is encoded to UTF-8 inside the clock: without that a string is a
 * promise of bytes that nobody has written. Speed is per second of processor time, so that what else runs on the machine
 * counts less; the middle of fourteen runs, each on texts of its own, after a warm-up on others.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { makeBadge } from 'badge-maker';
import { badgen } from 'badgen';
import satori, { type Font } from 'satori';
import { type BadgeFields, renderBadge } from '../../src/badges/index.ts';
import { badgeFields } from '../../src/badges/kinds.ts';
import { badgeSubject } from '../helpers/badge-subject.ts';
import { judge, median } from './budget.ts';

/** Of each contestant, by turns, each with as many runs. */
const PROCESSES = 2;
const RUNS = 7;
const WARM_UP_RUNS = 4;
const BADGES_PER_SECOND_MIN = 300_000;
const TIMES_BADGE_MAKER_MIN = 20;
/** Of badgen, for every style that is text on plates; bars and sparks are other drawings, and nobody else draws them. */
const TIMES_BADGEN_MIN = 1;
const COMPRESSED_BYTES_MAX = 1_460;
/** What badge-maker has in the same form, where that is not its usual one, beside which all of ours are judged: told, too. */
const SAME_FORM: Readonly<Record<string, string>> = {
  'pharos square': 'badge-maker flat-square',
  'pharos tall': 'badge-maker for-the-badge',
};

interface Text {
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

interface Contestant {
  readonly name: string;
  /** What its function is given, made before the clock runs. */
  readonly input: (text: Text) => never;
  readonly draw: (input: never) => string | Promise<string>;
  /** Drawn in one run; fewer of what is slow. */
  readonly count: number;
  /** Whether budgets are said of this one: ours, and text on plates. */
  readonly isJudged: boolean;
}

interface Result {
  readonly name: string;
  readonly isJudged: boolean;
  readonly perSecond: number;
  readonly raw: number;
  readonly gzip: number;
  readonly gzipMax: number;
  readonly brotli: number;
}

/** Prints one table, with the budget beside each of our figures. */
export async function run(): Promise<void> {
  const all = await contestants();
  const speeds = await race(all);
  const results = await Promise.all(all.map((one) => measure(one, speeds.get(one) ?? [])));
  const [badgeMaker = Number.NaN, badgen = Number.NaN] = ['badge-maker flat', 'badgen classic'].map(
    (other) => results.find(({ name }) => name === other)?.perSecond,
  );
  const length = mean(texts(1_000, RUNS + 1).map(({ label, message }) => label.length + message.length));
  console.log(
    `\nBadges of ${format(length, 1)} characters (mean bytes of one; gzip -9, brotli 11, each compressed alone)`,
  );
  console.log(row(['', 'per second', '× badge-maker', 'raw', 'gzip', 'largest gzip', 'brotli']));
  judgeText(results);
  for (const { name, isJudged, perSecond, raw, gzip, gzipMax, brotli } of results) {
    const times = perSecond / badgeMaker;
    const numbers = [perSecond, times, raw, gzip, gzipMax, brotli].map((number, index) =>
      format(number, index === 1 ? 1 : 0),
    );
    console.log(`${row([name, ...numbers])}`);
    const bytes = `${format(raw)} B, gzip ${format(gzip)} B`;
    const atLeast = isJudged ? BADGES_PER_SECOND_MIN : null;
    judge({ name: `${name}, on one core`, figure: perSecond, unit: '/s', atLeast, remark: bytes });
    if (!isJudged) continue;
    judge({ name: `${name} beside badge-maker flat`, figure: times, unit: '×', atLeast: TIMES_BADGE_MAKER_MIN });
    const same = results.find((one) => one.name === SAME_FORM[name]);
    if (same !== undefined)
      judge({ name: `${name} beside ${same.name}`, figure: perSecond / same.perSecond, unit: '×' });
    judge({ name: `${name} beside badgen`, figure: perSecond / badgen, unit: '×', atLeast: TIMES_BADGEN_MIN });
    judge({ name: `${name}, largest compressed`, figure: gzipMax, unit: 'B', atMost: COMPRESSED_BYTES_MAX });
  }
}

/** Text badges against those of badge-maker in the same form. */
function judgeText(results: readonly Result[]): void {
  const rawOf = (wanted: string): number => results.find(({ name }) => name === wanted)?.raw ?? Number.NaN;
  for (const [ours, theirs] of [
    ['flat-text', 'flat'],
    ['square-text', 'flat-square'],
    ['tall-text', 'for-the-badge'],
  ] as const)
    judge({
      name: `${ours}, mean beside badge-maker ${theirs}`,
      figure: rawOf(`pharos ${ours}`),
      unit: 'B',
      atMost: rawOf(`badge-maker ${theirs}`),
    });
}

async function contestants(): Promise<Contestant[]> {
  const fonts = await loadFonts();
  const history = badgeFields(badgeSubject(), 'history-90d');
  const spark = badgeFields(badgeSubject(), 'response-spark');
  const ours = (name: string, changes: Partial<BadgeFields>, isJudged = false): Contestant => ({
    name: `pharos ${name}`,
    ...contest((text) => ({ ...text, ...changes }), renderBadge),
    count: 20_000,
    isJudged,
  });
  return [
    ours('flat', {}, true),
    ours('flat, one scheme', { scheme: 'light' }),
    ours('square', { style: 'square' }, true),
    ours('pill', { style: 'pill' }, true),
    ours('tall', { style: 'tall' }, true),
    ours('flat-text', { style: 'flat-text' }),
    ours('square-text', { style: 'square-text' }),
    ours('tall-text', { style: 'tall-text' }),
    ours('dot', { style: 'dot', shape: 'operational' }),
    ours('bars, 90 days', { style: 'bars', days: history.days }),
    ours('spark, 48 points', { style: 'spark', series: spark.series }),
    { name: 'badge-maker flat', ...contest((text) => ({ ...text }), makeBadge), count: 4_000, isJudged: false },
    {
      name: 'badge-maker flat-square',
      ...contest((text) => ({ ...text, style: 'flat-square' as const }), makeBadge),
      count: 4_000,
      isJudged: false,
    },
    {
      name: 'badge-maker for-the-badge',
      ...contest((text) => ({ ...text, style: 'for-the-badge' as const }), makeBadge),
      count: 4_000,
      isJudged: false,
    },
    {
      name: 'badgen classic',
      // It takes hexadecimal colours without their sign, and names of which ours are some.
      ...contest(
        ({ label, message, color }) => ({ label, status: message, color: color.replace('#', '') as 'green' }),
        badgen,
      ),
      count: 20_000,
      isJudged: false,
    },
    {
      name: 'satori, outlines',
      ...contest(layOut, (tree) => satori(tree, { height: 20, fonts })),
      count: 200,
      isJudged: false,
    },
    {
      name: 'satori, text',
      ...contest(layOut, (tree) => satori(tree, { height: 20, fonts, embedFont: false })),
      count: 200,
      isJudged: false,
    },
  ];
}

function contest<Input>(
  input: (text: Text) => Input,
  draw: (input: Input) => string | Promise<string>,
): Pick<Contestant, 'input' | 'draw'> {
  return { input: input as Contestant['input'], draw };
}

async function loadFonts(): Promise<Font[]> {
  const path = createRequire(import.meta.url).resolve('@fontsource/inter/files/inter-latin-500-normal.woff');
  return [{ name: 'Inter', weight: 500, style: 'normal', data: await readFile(path) }];
}

/** Two plates with a text on each, as the others draw them. */
function layOut({ label, message, color }: Text): Parameters<typeof satori>[0] {
  const plate = (text: string, backgroundColor: string) => ({
    type: 'div',
    props: { style: { padding: '2px 6px', backgroundColor }, children: text },
  });
  const style = { display: 'flex', height: 20, fontSize: 11, color: '#fff', borderRadius: 3, overflow: 'hidden' };
  return { type: 'div', key: null, props: { style, children: [plate(label, '#444'), plate(message, color)] } };
}

/** Badges per second of each in every run, by turns: what else the machine does comes to all of them. */
async function race(all: readonly Contestant[]): Promise<ReadonlyMap<Contestant, readonly number[]>> {
  const speeds = new Map<Contestant, number[]>(all.map((one) => [one, []]));
  for (let turn = 0; turn < PROCESSES; turn += 1) for (const [one, of] of speeds) of.push(...(await inProcess(one)));
  return speeds;
}

async function inProcess({ name }: Contestant): Promise<readonly number[]> {
  const child = fork(import.meta.filename, [name], { execArgv: ['--expose-gc'] });
  const [speeds] = (await once(child, 'message')) as [readonly number[]];
  await once(child, 'exit');
  return speeds;
}

async function speedsOf({ input, draw, count }: Contestant): Promise<readonly number[]> {
  const speeds: number[] = [];
  // Until the compiler has nothing left to do, which takes more than one run of the short ones.
  for (let index = 1 - WARM_UP_RUNS; index <= RUNS; index += 1) {
    const corpus = texts(count, index).map(input);
    // Nobody pays for what the run before left behind.
    globalThis.gc?.();
    const before = process.cpuUsage();
    await drawAll(corpus, draw);
    const { user, system } = process.cpuUsage(before);
    if (index > 0) speeds.push((count / (user + system)) * 1e6);
  }
  return speeds;
}

async function measure({ name, input, draw, count, isJudged }: Contestant, speeds: readonly number[]): Promise<Result> {
  const badges: Buffer[] = [];
  for (const text of texts(Math.min(count, 300), RUNS + 1)) badges.push(Buffer.from(await draw(input(text))));
  const zipped = badges.map((badge) => gzipSync(badge, { level: 9 }).length);
  return {
    name,
    isJudged,
    perSecond: median(speeds),
    raw: mean(badges.map((badge) => badge.length)),
    gzip: mean(zipped),
    gzipMax: Math.max(...zipped),
    brotli: mean(badges.map((badge) => brotliCompressSync(badge).length)),
  };
}

async function drawAll(corpus: readonly never[], draw: Contestant['draw']): Promise<number> {
  let bytes = 0;
  for (const input of corpus) {
    const drawn = draw(input);
    // Waiting for what is there already would be charged to those who need no waiting.
    bytes += Buffer.from(typeof drawn === 'string' ? drawn : await drawn).length;
  }
  return bytes;
}

const LABELS = [
  'uptime 90d',
  'response time',
  'API',
  'payments gateway',
  'status',
  'Acme',
  'build',
  'mail queue',
  'Tokyo',
  'search',
];
const MESSAGES = [
  'operational',
  'partial outage',
  'degraded',
  'major outage',
  '{n}%',
  '{n} ms',
  '{n} days',
  'none open',
  'unknown',
];
const COLOURS = ['green', 'red', 'yellow', 'orange', 'blue', '#2da44e', '#bf3989', '#0969da', '#e3b341', '#57606a'];

/** Label, message and colour as they occur on status pages, no two of them alike; `seed` tells the runs apart. */
function texts(count: number, seed: number): Text[] {
  return Array.from({ length: count }, (_, index) => {
    const number = Math.abs(seed) * 1_000_003 + index * 7_919 + (seed < 0 ? 31 : 0);
    const message = MESSAGES[(index * 5 + Math.abs(seed)) % MESSAGES.length] ?? '';
    const figure = `${(number % 10_000) / 100}`;
    return {
      label: `${LABELS[index % LABELS.length]} ${number % 100_000}`,
      message: message.replace('{n}', figure),
      color: COLOURS[(index * 3 + Math.abs(seed)) % COLOURS.length] ?? '',
    };
  });
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function format(number: number, digits = 0): string {
  return number.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

function row(cells: readonly string[]): string {
  return cells.map((cell, index) => (index === 0 ? cell.padEnd(26) : cell.padStart(14))).join('');
}

if (process.argv[1] === import.meta.filename) {
  const one = (await contestants()).find(({ name }) => name === process.argv[2]);
  if (one !== undefined) process.send?.(await speedsOf(one));
  process.disconnect?.();
}
