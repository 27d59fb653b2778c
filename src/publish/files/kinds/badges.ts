import { type BadgeInputs, drawBadge } from '../../../badges/files.ts';
import type { BadgeFormat } from '../../../badges/names.ts';
import { type FileKind, fileKind } from '../file-kind.ts';

const SVG = 'image/svg+xml; charset=utf-8';

/** A badge in each format. */
export const BADGES: Readonly<Record<BadgeFormat, FileKind<BadgeInputs>>> = {
  '-light.svg': badgeKind('-light.svg', SVG),
  '-dark.svg': badgeKind('-dark.svg', SVG),
  '.svg': badgeKind('.svg', SVG),
  '.json': badgeKind('.json', 'application/json; charset=utf-8'),
  '.png': badgeKind('.png', 'image/png'),
};

function badgeKind(format: BadgeFormat, contentType: string): FileKind<BadgeInputs> {
  const draw = async (inputs: BadgeInputs) => (await drawBadge(inputs, format)).body;
  return fileKind(import.meta.url, { name: `badge${format}`, contentType }, draw);
}
