/** Small pictures of every kind that browsers know: 16 × 8, red. */

import { crc32 } from 'node:zlib';

const of = (base64: string): Buffer => Buffer.from(base64, 'base64');

export const PNG = of(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAYAAADwdn+XAAAAJ0lEQVR4AeyQMQ0AAAjDmhlBAv4/nIGIHTxr0rdHNdXrKEwSgP8HBwAA//9yAj3vAAAABklEQVQDAI2iIOExJHrKAAAAAElFTkSuQmCC',
);
/** The same with a text inside: stands for a social image, which takes 100 ms to draw, and is another one for another view. */
export function pictureOf(view: unknown): Uint8Array {
  const text = Buffer.from(`0000tEXtview\0${encodeURIComponent(JSON.stringify(view))}0000`);
  text.writeUInt32BE(text.length - 12);
  text.writeUInt32BE(crc32(text.subarray(4, -4)), text.length - 4);
  return Buffer.concat([PNG.subarray(0, -12), text, PNG.subarray(-12)]);
}

export const JPEG = of(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAIABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAb/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCOAMpX/9k=',
);
/** One point. */
export const GIF = of('R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=');
export const WEBP = of(
  'UklGRhgCAABXRUJQVlA4WAoAAAAgAAAADwAABwAASUNDUMgBAAAAAAHIAAAAAAQwAABtbnRyUkdCIFhZWiAH4AABAAEAAAAAAABhY3NwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAA9tYAAQAAAADTLQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
);
export const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><title>Acme</title><path d="M0 0h20v10H0z" fill="#c01f2f"/></svg>',
);
