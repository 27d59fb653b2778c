/** Checks that a rendered file looks like its content type. A broken file is never published. */

/** How every file of a content type begins and ends. */
const FRAMES: Readonly<Record<string, readonly [begin: RegExp, end: RegExp]>> = {
  'text/html': [/^<!doctype html>\s*<html[\s>]/i, /<\/html>\s*$/i],
  'image/svg+xml': [/^(<\?xml[^>]*>\s*)?<svg[\s>]/, /<\/svg>\s*$/],
  'application/atom+xml': [/^(<\?xml[^>]*>\s*)?<feed[\s>]/, /<\/feed>\s*$/],
  'application/rss+xml': [/^(<\?xml[^>]*>\s*)?<rss[\s>]/, /<\/rss>\s*$/],
  'application/xml': [/^<\?xml[^>]*>\s*</, />\s*$/],
  'text/calendar': [/^BEGIN:VCALENDAR\r\n/, /END:VCALENDAR\r\n$/],
};
/** How much of each end is checked. */
const END_BYTES = 256;
const PNG_BEGIN = Buffer.from('89504e470d0a1a0a', 'hex');
const PNG_END = Buffer.from('49454e44ae426082', 'hex');

/** Describes what is wrong with a body, to follow its path in a message; null: nothing. */
export function faultOfBody(contentType: string, body: Uint8Array): string | null {
  if (body.length === 0) return 'came out empty';
  const type = contentType.split(';', 1)[0]?.trim() ?? '';
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (type === 'image/png')
    return bytes.subarray(0, 8).equals(PNG_BEGIN) && bytes.subarray(-8).equals(PNG_END) ? null : 'is an incomplete PNG';
  if (type.endsWith('json')) return isJson(bytes) ? null : 'is not JSON';
  const frame = FRAMES[type];
  if (frame === undefined) return null;
  const [begin, end] = frame;
  if (!begin.test(bytes.subarray(0, END_BYTES).toString('utf8'))) return `does not start like ${type}`;
  if (!end.test(bytes.subarray(-END_BYTES).toString('utf8'))) return `does not end like ${type}`;
  return null;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
