import { describe, expect, it } from 'vitest';
import { decodeIcon, ICON_BYTES_MAX } from '../../../src/publish/icons/icon-keeper.ts';
import { GIF, JPEG, PNG, SVG, WEBP } from '../../helpers/pictures.ts';

const svg = (inside: string, root = 'viewBox="0 0 10 10"') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${root}>${inside}</svg>`);
const RECT = '<rect width="10" height="10" fill="red"/>';

/** Width and height of a PNG. */
async function sizeOf(bytes: Uint8Array): Promise<readonly [number, number] | string> {
  const decoded = await decodeIcon(bytes);
  if (decoded.kind === 'refused') return decoded.reason;
  const png = Buffer.from(decoded.png, 'base64');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

/** A PNG that says it has this size; nothing else of it is right. */
function pngOf(width: number, height: number): Buffer {
  const png = Buffer.from(PNG);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

describe('an icon from outside', () => {
  it.each([
    ['PNG', PNG, [16, 8]],
    ['JPEG', JPEG, [16, 8]],
    ['GIF', GIF, [1, 1]],
    ['SVG', SVG, [112, 56]],
    ['SVG that is tall', svg(RECT, 'viewBox="0 0 10 20"'), [56, 112]],
  ] as const)('that is %s becomes a small PNG', async (_, bytes, size) => {
    expect(await sizeOf(bytes)).toEqual(size);
  });

  it('is drawn small, however large it is', async () => {
    expect(await sizeOf(svg(RECT, 'width="5000" height="5000" viewBox="0 0 10 10"'))).toEqual([112, 112]);
  });

  it('brings nothing along but what can be seen', async () => {
    const comment = Buffer.concat([PNG, Buffer.from('<script>alert(1)</script>')]);
    const decoded = await decodeIcon(comment);
    expect(decoded.kind).toBe('picture');
    expect(decoded.kind === 'picture' && Buffer.from(decoded.png, 'base64').includes('script')).toBe(false);
  });

  it.each([
    ['nothing', Buffer.alloc(0), /not a PNG/],
    ['a page', Buffer.from('<!doctype html><title>404</title>'), /not a PNG/],
    ['WebP, which the decoder does not know', WEBP, /not a PNG/],
    ['too many bytes', Buffer.concat([PNG, Buffer.alloc(ICON_BYTES_MAX)]), /larger than 256 KiB/],
    ['a PNG that is cut', PNG.subarray(0, 60), /empty or transparent|can’t be rendered/],
    ['a JPEG that is cut', JPEG.subarray(0, 40), /has no size/],
    ['a PNG as large as a wall', pngOf(30_000, 30_000), /larger than 2048/],
    ['a PNG without a size', pngOf(0, 8), /has no size/],
    ['a PNG like a ribbon', pngOf(1_000, 10), /4 times as long/],
    ['an SVG like a ribbon', svg(RECT, 'viewBox="0 0 1 100000"'), /4 times as long/],
    ['an SVG with nothing on it', svg(''), /empty or transparent/],
    ['an SVG that is none', Buffer.from('<svg'), /not a PNG/],
    ['an SVG that ends early', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><path'), /can’t be rendered/],
    ['an SVG of a megabyte', svg(`<desc>${'x'.repeat(70_000)}</desc>${RECT}`), /larger than 64 KiB/],
  ])('that is %s is left out', async (_, bytes, reason) => {
    expect(await sizeOf(bytes)).toMatch(reason);
  });

  it.each([
    ['<script>alert(1)</script>', /<script>/],
    ['<SCRIPT>alert(1)</SCRIPT>', /<script>/],
    ['<svg:script>alert(1)</svg:script>', /<svg:script>/],
    ['<foreignObject><p>x</p></foreignObject>', /<foreignobject>/],
    ['<image href="/etc/hostname.png" width="1" height="1"/>', /<image>/],
    ['<image xlink:href="https://other.example/x.png"/>', /<image>/],
    ['<use href="#a"/>', /<use>/],
    ['<filter id="f"/>', /<filter>/],
    ['<pattern id="p"/>', /<pattern>/],
    ['<text>Acme</text>', /<text>/],
    ['<style>@import "https://other.example/x.css";</style>', /more than shapes/],
    ['<style>rect { fill: url(https://other.example/x) }</style>', /more than shapes/],
    ['<path d="M0 0h9" stroke="red" stroke-dasharray=".00001"/>', /more than shapes/],
    ['<linearGradient id="a" href="https://other.example/x"/>', /loads something/],
  ])('that is an SVG with %s is left out', async (inside, reason) => {
    expect(await sizeOf(svg(inside + RECT))).toMatch(reason);
  });

  it.each(['<!DOCTYPE svg [<!ENTITY a "aaaa">]>', '<!ENTITY a "b">', '<![CDATA[x]]>'])(
    'that declares %s is left out',
    async (declaration) => {
      expect(await sizeOf(Buffer.concat([Buffer.from(declaration), SVG]))).toMatch(/declarations/);
    },
  );

  it('may be an SVG of shapes with gradients, classes and comments', async () => {
    const inside =
      '<!-- made by <script> hand --><style>.a { fill: #f00 }</style><defs><linearGradient id="g"><stop stop-color="red"/></linearGradient>' +
      '<linearGradient id="h" href="#g"/></defs><g><circle class="a" r="4"/><rect fill="url(#h)" width="9" height="9"/></g>';
    expect(await sizeOf(svg(inside))).toEqual([112, 112]);
  });
});
