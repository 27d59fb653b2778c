/** Badges as files: every format, with the headers they are to be served with. */

import type { BadgeSubject } from '../views/badges/badge.ts';
import { type BadgeKind, badgeFields, isCard } from './kinds.ts';
import type { BadgeFormat, BadgeScheme } from './names.ts';
import type { BadgeOptions } from './options.ts';
import { renderBadge } from './render.ts';
import { shieldsEndpoint } from './shields.ts';

export interface BadgeFile {
  readonly body: string | Uint8Array;
  readonly contentType: string;
}

/** Which badge of a subject, and as what. */
export interface BadgeFileRequest {
  readonly kind: BadgeKind;
  readonly format: BadgeFormat;
}

const SVG = 'image/svg+xml; charset=utf-8';

const SCHEMES: Readonly<Partial<Record<BadgeFormat, BadgeScheme>>> = { '-light.svg': 'light', '-dark.svg': 'dark' };

/**
 * A badge as a file. Deterministic, but for letters in a PNG that the outlines do not cover: those are drawn with the
 * fonts of this machine. Microseconds for SVG and JSON, milliseconds for PNG and cards.
 */
export async function badgeFile(
  subject: BadgeSubject,
  { kind, format }: BadgeFileRequest,
  options: BadgeOptions = {},
): Promise<BadgeFile> {
  if (format === '.json') {
    const endpoint = shieldsEndpoint(badgeFields(subject, kind, options));
    return { body: `${JSON.stringify(endpoint)}\n`, contentType: 'application/json; charset=utf-8' };
  }
  if (format === '.png') {
    // A bitmap cannot follow its ground.
    const scheme = options.scheme === 'dark' ? 'dark' : 'light';
    const svg = await badgeSvg(subject, kind, { ...options, scheme });
    return { body: await toPng(svg), contentType: 'image/png' };
  }
  const scheme = SCHEMES[format] ?? options.scheme;
  return { body: await badgeSvg(subject, kind, { ...options, scheme }), contentType: SVG };
}

/** The SVG of any kind; a promise only for cards. */
function badgeSvg(subject: BadgeSubject, kind: BadgeKind, options: BadgeOptions = {}): string | Promise<string> {
  if (isCard(kind)) return import('./card.ts').then(({ cardSvg }) => cardSvg(subject, options));
  return renderBadge(badgeFields(subject, kind, options));
}

/** Pixels of a PNG for each pixel of the SVG; pages show it at half its size. */
const PNG_SCALE = 2;

/** Draws away from the main thread. */
async function toPng(svg: string): Promise<Uint8Array> {
  const { renderAsync } = await import('@resvg/resvg-js');
  const image = await renderAsync(svg, {
    fitTo: { mode: 'zoom', value: PNG_SCALE },
    // Looking for fonts takes longer than drawing, and only text elements need any.
    font: { loadSystemFonts: svg.includes('<text') },
  });
  return image.asPng();
}

/** What stands where a badge does not exist; the same bytes for every address. */
export function notFoundBadge(): string {
  return renderBadge({ label: 'status', message: 'not found', color: 'unknown' });
}

export const BADGE_SVG_TYPE = SVG;

/**
 * Headers of every badge, whatever its format. Without `Cache-Control` GitHub's image proxy keeps a picture for a year.
 * Opened by itself, an SVG is a document: the policy lets it be nothing but a picture.
 */
export const BADGE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'Cache-Control': 'public, max-age=60, s-maxage=60',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
});

/**
 * Headers of `notFoundBadge`, with status 404. It also stands for badges that are not for whoever asks, so a cache that
 * kept it would show it to those who may see the badge.
 */
export const NOT_FOUND_BADGE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  ...BADGE_HEADERS,
  'Cache-Control': 'private, no-store',
  Vary: 'Cookie',
});

/** Headers of a badge that was given for a session: no cache between us and the visitor may keep it. */
export const SESSION_BADGE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'Cache-Control': 'private, no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
});
