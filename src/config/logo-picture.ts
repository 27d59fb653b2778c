/** What kind of picture a logo is, and how its sides relate. It is the operator's own file, so it is served as it is. */

interface LogoPicture {
  readonly type: 'svg' | 'png';
  readonly width: number;
  readonly height: number;
}

const PNG_BEGIN = Buffer.from('89504e470d0a1a0a', 'hex');

/** A text says what is wrong with it. */
export function pictureSize(bytes: Buffer): LogoPicture | string {
  if (bytes.subarray(0, 8).equals(PNG_BEGIN) && bytes.length >= 24)
    return sized('png', bytes.readUInt32BE(16), bytes.readUInt32BE(20));
  const text = bytes.toString('utf8');
  const tag = /<svg\b[^>]*>/i.exec(text)?.[0];
  if (tag === undefined) return 'it is neither an SVG nor a PNG';
  // A picture of a page runs nothing and loads nothing, so what it would need is missing from it.
  const loads = /<script|<foreignobject|<image[^>]*href\s*=\s*["'](?!data:)|url\(\s*["']?(?!#|data:)|@import/i.exec(
    text,
  )?.[0];
  if (loads !== undefined) return `it is an SVG with ${loads.slice(0, 40)}; images can’t load or run anything`;
  const [, , , boxWidth, boxHeight] =
    /viewBox\s*=\s*["']\s*([\d.+-]+)[\s,]+([\d.+-]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/i.exec(tag) ?? [];
  if (boxWidth !== undefined) return sized('svg', Number(boxWidth), Number(boxHeight));
  const side = (name: string) => Number(new RegExp(`\\s${name}\\s*=\\s*["']([\\d.]+)(?:px)?["']`, 'i').exec(tag)?.[1]);
  return sized('svg', side('width'), side('height'));
}

function sized(type: LogoPicture['type'], width: number, height: number): LogoPicture | string {
  if (!(width > 0 && height > 0)) return 'its size is unknown; add a viewBox to the SVG';
  return { type, width, height };
}
