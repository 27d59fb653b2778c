/** Files that an operator brings along, as they are. */

import { readFileSync } from 'node:fs';
import { PUBLIC_TYPES } from '../../../model/slugs.ts';
import { type FileKind, fileKind } from '../file-kind.ts';

interface LogoInputs {
  readonly base64: string;
}

const asItIs = ({ base64 }: LogoInputs) => Buffer.from(base64, 'base64');

export const LOGOS: Readonly<Record<string, FileKind<LogoInputs>>> = {
  'image/svg+xml': fileKind(import.meta.url, { name: 'logo-svg', contentType: 'image/svg+xml' }, asItIs),
  'image/png': fileKind(import.meta.url, { name: 'logo-png', contentType: 'image/png' }, asItIs),
};

/** What a file of `public/` was when the configuration was read. */
interface PublicInputs {
  readonly file: string;
  readonly sha256: string;
}

/** By content type. One that changed since is served as it is by now; the next reading of the configuration has its digest. */
export const PUBLIC_FILES: Readonly<Record<string, FileKind<PublicInputs>>> = Object.fromEntries(
  [...new Set(Object.values(PUBLIC_TYPES))].map((contentType) => [
    contentType,
    fileKind(import.meta.url, { name: `public ${contentType}`, contentType }, ({ file }: PublicInputs) =>
      readFileSync(file),
    ),
  ]),
);
