/**
 * Fetches the icons of pages, so that visitors' browsers don't load them from other hosts. Each is fetched once a day, and the
 * last good one is kept, for the page that wanted it: another may not be allowed to have it fetched.
 */

import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { isStatusError, messageOf } from '../../errors.ts';
import type { PageKey } from '../../model/slugs.ts';
import { DAY_MS, type EpochMs, HOUR_MS, SECOND_MS } from '../../model/time.ts';
import { once } from '../../once.ts';
import type { Database, Row, Writer } from '../../store/database.ts';
import { type IconPicture, iconKey } from '../definitions/site-state.ts';

/** When a good icon is fetched again. */
const FRESH_MS = DAY_MS;
/** When a rejected icon is tried again. */
const RETRY_MS = HOUR_MS;
/** When an icon that no page uses any more is forgotten. */
const FORGET_MS = 30 * DAY_MS;
/** Parallel requests. */
const PARALLEL_MAX = 4;
/** No fetch is started later than this in one run; the next run continues. */
const RUN_MS_MAX = 8 * SECOND_MS;

type Icons = ReadonlyMap<string, IconPicture>;

/** An icon that a page wants. */
export interface WantedIcon {
  readonly page: PageKey;
  readonly address: string;
  /** Whether the operator set the address. Addresses from upstreams may only lead to public networks. */
  readonly isTrusted: boolean;
}

export type IconKeeper = ReturnType<typeof createIconKeeper>;

interface IconKeeperDeps {
  readonly database: Database;
  /** Fetches the bytes at an address. @throws a StatusError */
  readonly fetchBytes: (icon: Omit<WantedIcon, 'page'>) => Promise<Uint8Array>;
  readonly onError: (error: unknown) => void;
}

type KnownIcon = Readonly<ReturnType<typeof toKnownIcon>>;

export function createIconKeeper({ database, fetchBytes, onError }: IconKeeperDeps) {
  let version = '';
  let memory: ReadonlyMap<string, KnownIcon> = new Map();
  let icons: Icons = new Map();

  /** Icons by page and address, whichever process fetched them; the same object as long as nothing changed. */
  async function known(): Promise<Icons> {
    const [row] = await database.all('SELECT COUNT(*) AS icons, MAX(asked_at) AS latest FROM icon');
    const current = `${row?.['icons']} ${row?.['latest']}`;
    if (current === version) return icons;
    const rows = await database.all('SELECT * FROM icon ORDER BY page, address');
    memory = new Map(rows.map((one) => [iconKey(String(one['page']), String(one['address'])), toKnownIcon(one)]));
    version = current;
    const next = new Map([...memory].map(([key, icon]) => [key, toPicture(icon)]));
    if (!isDeepStrictEqual(icons, next)) icons = next;
    return icons;
  }

  async function ask({ address, isTrusted }: WantedIcon): Promise<Pick<KnownIcon, 'png' | 'refusal'>> {
    try {
      const decoded = await decodeIcon(await fetchBytes({ address, isTrusted }));
      return decoded.kind === 'picture' ? { png: decoded.png, refusal: null } : { png: null, refusal: decoded.reason };
    } catch (error) {
      if (!isStatusError(error)) onError(error);
      return { png: null, refusal: messageOf(error) };
    }
  }

  async function askDue(wanted: readonly WantedIcon[], at: EpochMs): Promise<boolean> {
    await known();
    const isDue = ({ page, address }: WantedIcon): boolean => {
      const icon = memory.get(iconKey(page, address));
      return icon === undefined || Math.abs(at - icon.askedAt) >= (icon.refusal === null ? FRESH_MS : RETRY_MS);
    };
    const due = Map.groupBy(wanted.filter(isDue), ({ address, isTrusted }) => `${isTrusted} ${address}`);
    if (due.size === 0) return false;
    const started = performance.now();
    await pLimit(PARALLEL_MAX).map(due.values(), async (same) => {
      const [one] = same;
      if (one === undefined || performance.now() - started >= RUN_MS_MAX) return;
      const found = await ask(one);
      await database.transaction((tx) => remember(tx, same, { ...found, askedAt: at }));
    });
    await database.transaction((tx) => tx.run('DELETE FROM icon WHERE asked_at < ?', [at - FORGET_MS]));
    return true;
  }

  return {
    /** Known icons by page and address, whichever process fetched them; the same object as long as nothing changed. */
    known,
    /**
     * Fetches icons that are due. Never throws.
     * @returns whether there were any
     */
    refresh: async (wanted: readonly WantedIcon[], at: EpochMs): Promise<boolean> => {
      try {
        return await askDue(wanted, at);
      } catch (error) {
        // Without an icon, a page shows the first letter of its name.
        onError(error);
        return true;
      }
    },
  };
}

function toKnownIcon(row: Row) {
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return { askedAt: Number(row['asked_at']), png: text(row['png']), refusal: text(row['refusal']) };
}

/** If fetching fails, the last good icon stays. */
async function remember(tx: Writer, wanted: readonly WantedIcon[], { askedAt, png, refusal }: KnownIcon) {
  await tx.runMany(
    `INSERT INTO icon (page, address, asked_at, png, refusal) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (page, address) DO UPDATE SET asked_at = excluded.asked_at, png = COALESCE(excluded.png, icon.png),
       refusal = excluded.refusal`,
    wanted.map(({ page, address }) => [page, address, askedAt, png, refusal]),
  );
}

function toPicture({ png, refusal }: KnownIcon): IconPicture {
  return png === null ? refused(refusal ?? 'it has not been fetched yet') : { kind: 'picture', png };
}

// Converts an external icon into a small PNG by decoding and rendering it. Nothing else in its bytes (scripts,
// metadata, a second format) is ever served.

/** Size limit of the fetched file. */
export const ICON_BYTES_MAX = 256 * 1024;
/** Size limit of an SVG, because little markup can cause much work. */
const SVG_BYTES_MAX = 64 * 1024;
/** Limit for each side of a bitmap. */
const SIDE_MAX = 2_048;
/** Limit for the ratio of its sides. */
const RATIO_MAX = 4;
/** Four times as large as it is shown, for dense screens. */
const DRAWN_SIDE_MAX = 112;

/** Shapes and colours. Nothing that runs, loads, repeats or filters, and no text, which would need a font. */
const SVG_ELEMENTS: ReadonlySet<string> = new Set([
  ...['svg', 'g', 'defs', 'title', 'desc', 'style', 'clippath'],
  ...['path', 'circle', 'ellipse', 'rect', 'line', 'polyline', 'polygon'],
  ...['lineargradient', 'radialgradient', 'stop'],
]);

type Size = Readonly<Record<'width' | 'height', number>>;

/** Decodes an image. Its type is detected from the bytes, not from headers. Never throws. */
export async function decodeIcon(bytes: Uint8Array): Promise<IconPicture> {
  if (bytes.length > ICON_BYTES_MAX) return refused(`it is larger than ${ICON_BYTES_MAX / 1024} KiB`);
  const data = Buffer.from(bytes);
  const pixels = decodePixels(data);
  if (pixels !== null) {
    const fault = sizeFault(pixels.size);
    return fault === null ? await draw(wrapped(data, pixels), true) : refused(fault);
  }
  const text = data.toString('utf8');
  if (!/<svg[\s>]/i.test(text.slice(0, 4_096))) return refused('it is not a PNG, JPEG, GIF or SVG image');
  const fault = svgFault(data, text);
  return fault === null ? await draw(text, false) : refused(fault);
}

function refused(reason: string): IconPicture {
  return { kind: 'refused', reason };
}

/** Reads the header of a bitmap; null: not a bitmap. */
function decodePixels(data: Buffer) {
  if (data.length >= 24 && data.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])))
    return { type: 'png', size: { width: data.readUInt32BE(16), height: data.readUInt32BE(20) } };
  if (data.length >= 10 && /^GIF8[79]a$/.test(data.toString('latin1', 0, 6)))
    return { type: 'gif', size: { width: data.readUInt16LE(6), height: data.readUInt16LE(8) } };
  const size = jpegSize(data);
  return size === null ? null : { type: 'jpeg', size };
}

/** From the first frame header; its marker is one of 16, less three that mean something else. */
function jpegSize(data: Buffer): Size | null {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8) return null;
  let at = 2;
  while (at + 9 <= data.length && data[at] === 0xff) {
    const marker = data[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) };
    at += 2 + data.readUInt16BE(at + 2);
  }
  return { width: 0, height: 0 };
}

function sizeFault({ width, height }: Size): string | null {
  if (!(width > 0 && height > 0)) return 'it has no size';
  if (Math.max(width, height) > SIDE_MAX) return `it is larger than ${SIDE_MAX} × ${SIDE_MAX}`;
  return ratioFault({ width, height });
}

function ratioFault({ width, height }: Size): string | null {
  const isLong = Math.max(width, height) > RATIO_MAX * Math.min(width, height);
  return isLong ? `one side is more than ${RATIO_MAX} times as long as the other` : null;
}

/** Why an SVG is rejected; null: accepted. */
function svgFault(data: Buffer, text: string): string | null {
  if (data.length > SVG_BYTES_MAX) return `it is an SVG larger than ${SVG_BYTES_MAX / 1024} KiB`;
  if (/<!(?!--)/.test(text)) return 'it is an SVG with declarations';
  const bare = text.replaceAll(/<!--[\s\S]*?-->/g, '');
  const names = [...bare.matchAll(/<\/?([A-Za-z_][\w:.-]*)/g)].map(([, name = '']) => name.toLowerCase());
  const other = names.find((name) => !SVG_ELEMENTS.has(name));
  if (other !== undefined) return `it is an SVG with <${other.slice(0, 40)}>`;
  // A dash pattern can produce millions of dashes.
  if (/dasharray|\\|@|url\(\s*['"]?[^#'"\s]/i.test(bare)) return 'it is an SVG with more than shapes';
  if (/\shref\s*=\s*['"][^#]|:href\s*=\s*['"][^#]/i.test(bare)) return 'it is an SVG that loads something';
  return null;
}

function wrapped(data: Buffer, { type, size: { width, height } }: NonNullable<ReturnType<typeof decodePixels>>) {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}" href="data:image/${type};base64,${data.toString('base64')}"/></svg>`;
}

const library = once(async () => (await import('@resvg/resvg-js')).Resvg);

/** @param keepsSize  true: small images aren't enlarged */
async function draw(svg: string, keepsSize: boolean): Promise<IconPicture> {
  const Resvg = await library();
  try {
    const { width, height } = new Resvg(svg, { font: { loadSystemFonts: false } });
    const fault = ratioFault({ width, height });
    if (fault !== null) return refused(fault);
    const longer = Math.max(width, height);
    const value = keepsSize ? Math.min(longer, DRAWN_SIDE_MAX) : DRAWN_SIDE_MAX;
    const fitTo = { mode: width >= height ? ('width' as const) : ('height' as const), value };
    const drawn = new Resvg(svg, { fitTo, font: { loadSystemFonts: false } }).render();
    // An image that can't be decoded is rendered as empty.
    if (!drawn.pixels.some((byte) => byte !== 0)) return refused('it is empty or transparent');
    return { kind: 'picture', png: drawn.asPng().toString('base64') };
  } catch {
    return refused('it can’t be rendered');
  }
}
