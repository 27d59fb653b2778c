/** Badges as files: every format, with the headers they are to be served with. */

import { toHex } from '../looks/colour.ts';
import type { BadgeSubject } from '../views/badges/badge-subjects.ts';
import { parsePaint } from './canvas.ts';
import { type BadgeKind, badgeFields, isCard, type KindFields } from './kinds.ts';
import { cleanText } from './lettering/text.ts';
import type { BadgeFormat, BadgeScheme, BadgeStyle } from './names.ts';
import type { BadgeOptions } from './options.ts';
import { FALLBACK_COLOUR, LABEL_COLOUR } from './palette.ts';
import { type BadgeFields, renderBadge } from './render.ts';

// The answer to shields.io's endpoint badge, for those who already show badges of that make.

const CACHE_SECONDS = 300;

/** The styles that have a like there. */
const STYLES: Readonly<Partial<Record<BadgeStyle, string>>> = {
  flat: 'flat',
  'flat-text': 'flat',
  square: 'flat-square',
  'square-text': 'flat-square',
  tall: 'for-the-badge',
  'tall-text': 'for-the-badge',
};

/** @see https://shields.io/badges/endpoint-badge */
function shieldsEndpoint(fields: KindFields) {
  const style = STYLES[fields.style ?? 'flat'];
  return {
    schemaVersion: 1,
    label: cleanText(fields.label),
    message: cleanText(fields.message),
    color: toHex(parsePaint(fields.color, FALLBACK_COLOUR, 'light').colour.light),
    labelColor: toHex(parsePaint(fields.labelColor ?? 'label', LABEL_COLOUR, 'light').colour.light),
    isError: fields.isUnknown,
    cacheSeconds: CACHE_SECONDS,
    ...(style === undefined ? {} : { style }),
    ...(fields.logo === undefined ? {} : { logoSvg: logoSvg(fields.logo) }),
  };
}

function logoSvg({ path, size }: NonNullable<BadgeFields['logo']>): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}"><path fill="#fff" d="${path}"/></svg>`;
}

const SVG = 'image/svg+xml; charset=utf-8';

const SCHEMES: Readonly<Partial<Record<BadgeFormat, BadgeScheme>>> = { '-light.svg': 'light', '-dark.svg': 'dark' };

/**
 * A badge as a file. Deterministic, but for letters in a PNG that the outlines do not cover: those are drawn with the
 * fonts of this machine. Microseconds for SVG and JSON, milliseconds for PNG and cards.
 */
export function badgeFile(
  subject: BadgeSubject,
  { kind, format }: { readonly kind: BadgeKind; readonly format: BadgeFormat },
  options: BadgeOptions = {},
) {
  return drawBadge(badgeInputs(subject, kind, options), format);
}

/** What a badge is drawn from in every format: its fields, or for a card, which says several things, its whole subject. */
export type BadgeInputs =
  | { readonly fields: KindFields }
  | { readonly kind: BadgeKind; readonly subject: BadgeSubject; readonly options: BadgeOptions };

export function badgeInputs(subject: BadgeSubject, kind: BadgeKind, options: BadgeOptions = {}): BadgeInputs {
  return isCard(kind) ? { kind, subject, options } : { fields: badgeFields(subject, kind, options) };
}

/** A badge from its inputs and nothing else. */
export async function drawBadge(inputs: BadgeInputs, format: BadgeFormat) {
  if (format === '.json') {
    const fields = 'fields' in inputs ? inputs.fields : badgeFields(inputs.subject, inputs.kind, inputs.options);
    return { body: `${JSON.stringify(shieldsEndpoint(fields))}\n`, contentType: 'application/json; charset=utf-8' };
  }
  const { scheme } = 'fields' in inputs ? inputs.fields : inputs.options;
  if (format === '.png') {
    // A bitmap cannot follow its ground, and needs no fonts of the viewer.
    const svg = await badgeSvg(outlined(inputs), scheme === 'dark' ? 'dark' : 'light');
    return { body: await toPng(svg), contentType: 'image/png' };
  }
  return { body: await badgeSvg(inputs, SCHEMES[format] ?? scheme), contentType: SVG };
}

function outlined(inputs: BadgeInputs): BadgeInputs {
  if (!('fields' in inputs)) return inputs;
  const style = inputs.fields.style?.replace(/-text$/, '') as BadgeStyle | undefined;
  return { fields: { ...inputs.fields, style } };
}

async function badgeSvg(inputs: BadgeInputs, scheme: BadgeScheme | undefined): Promise<string> {
  if ('fields' in inputs) return renderBadge({ ...inputs.fields, scheme });
  const { cardSvg } = await import('./card.ts');
  return cardSvg(inputs.subject, { ...inputs.options, scheme });
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
