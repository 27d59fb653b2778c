/** Reads and checks the operator's logos, style sheets and public files, together with the configuration. */

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';
import { type ConfigIssue, fileReason } from '../errors.ts';
import type { OwnPicture, Preset } from '../model/page.ts';
import { isOwnRootFile, PUBLIC_TYPES, SECURITY_TXT } from '../model/slugs.ts';
import { stylesheetFault } from '../views/frame/own-stylesheet.ts';
import type { ConfigFile } from './file-schema.ts';

/** The look of the site or of one page. */
export interface OwnLook {
  readonly preset?: Preset;
  readonly accentColor?: string;
  readonly stylesheet?: string;
  readonly logo?: { readonly light: LogoFile; readonly dark?: LogoFile };
}

export interface LogoFile extends OwnPicture {
  readonly contentType: string;
  readonly base64: string;
}

export interface Looks {
  readonly site: OwnLook;
  /** By slug, with the site's values as defaults. */
  readonly pages: ReadonlyMap<string, OwnLook>;
}

type Wanted = Pick<ConfigFile['site'], 'preset' | 'accent_color' | 'logo' | 'stylesheet'>;

/** Reads the files named in the configuration. Unreadable or forbidden files become issues at their path. */
export function readLooks({ site, pages }: ConfigFile, folder: string, issues: ConfigIssue[]): Looks {
  const own = readLook(site, 'site', { folder, issues });
  return {
    site: own,
    pages: new Map(
      pages.map((page, index) => [page.slug, { ...own, ...readLook(page, `pages[${index}]`, { folder, issues }) }]),
    ),
  };
}

/** Where paths are relative to, and what is wrong with them. */
interface Reading {
  readonly folder: string;
  readonly issues: ConfigIssue[];
}

function readLook({ preset, accent_color, logo, stylesheet }: Wanted, place: string, reading: Reading): OwnLook {
  const text = stylesheet === undefined ? null : readStylesheet(stylesheet, `${place}.stylesheet`, reading);
  const files = logo === undefined ? null : readLogo(logo, `${place}.logo`, reading);
  return {
    ...(preset === undefined ? {} : { preset }),
    ...(accent_color === undefined ? {} : { accentColor: accent_color }),
    ...(text === null ? {} : { stylesheet: text }),
    ...(files === null ? {} : { logo: files }),
  };
}

function readStylesheet(path: string, place: string, reading: Reading): string | null {
  const text = read(path, place, reading)?.toString('utf8') ?? null;
  const fault = text === null ? null : stylesheetFault(text);
  if (fault === null) return text;
  reading.issues.push({ path: place, message: `${path}, line ${fault.line}: ${fault.message}` });
  return null;
}

function readLogo(logo: NonNullable<Wanted['logo']>, place: string, reading: Reading) {
  if (typeof logo === 'string') {
    const light = readPicture(logo, 'logo', place, reading);
    return light === null ? null : { light };
  }
  const light = readPicture(logo.light, 'logo', `${place}.light`, reading);
  const dark = readPicture(logo.dark, 'logo-dark', `${place}.dark`, reading);
  return light === null || dark === null ? null : { light, dark };
}

/** Limited by the height of the header and by the width of a phone. */
const LOGO_HEIGHT = 36;
const LOGO_WIDTH_MAX = 240;
const LOGO_BYTES_MAX = 128 * 1024;

function readPicture(path: string, name: string, place: string, reading: Reading): LogoFile | null {
  const bytes = read(path, place, reading);
  if (bytes === null) return null;
  const picture = bytes.length > LOGO_BYTES_MAX ? `it is larger than ${LOGO_BYTES_MAX / 1024} KiB` : pictureSize(bytes);
  if (typeof picture === 'string') {
    reading.issues.push({ path: place, message: `${path}: ${picture}` });
    return null;
  }
  const height = Math.min(LOGO_HEIGHT, (LOGO_WIDTH_MAX * picture.height) / picture.width);
  return {
    path: `${name}.${picture.type}`,
    contentType: picture.type === 'svg' ? 'image/svg+xml' : 'image/png',
    base64: bytes.toString('base64'),
    width: Math.round((height * picture.width) / picture.height),
    height: Math.round(height),
  };
}

function read(path: string, place: string, { folder, issues }: Reading): Buffer | null {
  const file = resolve(folder, path);
  try {
    return readFileSync(file);
  } catch (error) {
    issues.push({ path: place, message: `can’t read ${file}: ${fileReason(error)}` });
    return null;
  }
}

// The type and size of a logo. It comes from the operator, so it is served unchanged.

type PictureSize = { readonly type: 'svg' | 'png'; readonly width: number; readonly height: number };

const PNG_BEGIN = Buffer.from('89504e470d0a1a0a', 'hex');

/** Returns a message if the picture can't be used. */
function pictureSize(bytes: Buffer): PictureSize | string {
  if (bytes.subarray(0, 8).equals(PNG_BEGIN) && bytes.length >= 24)
    return sized('png', bytes.readUInt32BE(16), bytes.readUInt32BE(20));
  const text = bytes.toString('utf8');
  const tag = /<svg\b[^>]*>/i.exec(text)?.[0];
  if (tag === undefined) return 'it is neither an SVG nor a PNG';
  // Pictures on a page can't run scripts or load anything, so the logo would be incomplete.
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

function sized(type: 'svg' | 'png', width: number, height: number): PictureSize | string {
  if (!(width > 0 && height > 0)) return 'its size is unknown; add a viewBox to the SVG';
  return { type, width, height };
}

// Lists and checks the files of `site.public`, which are served at the root of the site.

/** A file in the folder `site.public`. */
export type PublicFile = Readonly<ReturnType<typeof publicFile>>;

const PUBLIC_FILES_MAX = 200;
const PUBLIC_BYTES_MAX = 5 * 1024 * 1024;
/** Folders at the root of the site that can't be the slug of a page. */
const PUBLIC_FOLDERS: ReadonlySet<string> = new Set(['assets', '.well-known']);

/** The files of `site.public`; empty if it isn't set. */
export function readPublicFiles({ site }: ConfigFile, folder: string, issues: ConfigIssue[]): readonly PublicFile[] {
  if (site.public === undefined) return [];
  const root = resolve(folder, site.public);
  const refuse = (message: string): void => void issues.push({ path: 'site.public', message });
  try {
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
    if (files.length > PUBLIC_FILES_MAX) refuse(`has more than ${PUBLIC_FILES_MAX} files`);
    return files.toSorted().flatMap((file) => {
      const path = relative(root, file).replaceAll('\\', '/');
      const isGenerated = path === SECURITY_TXT && site.security !== undefined;
      const fault = isGenerated ? 'site.security creates this file too; remove one of them' : faultOfPublic(path, file);
      if (fault !== null) refuse(`${path}: ${fault}`);
      return fault === null ? [publicFile(path, file)] : [];
    });
  } catch (error) {
    refuse(`can’t read ${root}: ${fileReason(error)}`);
    return [];
  }
}

function faultOfPublic(path: string, file: string): string | null {
  const [first = '', ...rest] = path.split('/');
  const found = lstatSync(file);
  if (!found.isFile()) return 'it is a link or not a file; only regular files are served';
  if (found.size > PUBLIC_BYTES_MAX) return `it is larger than ${PUBLIC_BYTES_MAX / 1024 / 1024} MiB`;
  if (found.size === 0) return 'it is empty';
  if (!/^(?:\.well-known\/)?(?:[A-Za-z0-9_-][\w.-]*\/)*[A-Za-z0-9_-][\w.-]*$/.test(path))
    return 'file names can contain letters, digits, dots, dashes and underscores, and can’t start with a dot';
  if (rest.length > 0 && !PUBLIC_FOLDERS.has(first))
    return 'a folder at the root could be a page; put it below assets/ (or .well-known/)';
  if (rest.length === 0 && isOwnRootFile(first)) return 'Pharos uses this name itself; choose another one';
  if (first !== '.well-known' && PUBLIC_TYPES[extname(path).toLowerCase()] === undefined)
    return `files of this type are not served. Allowed: ${Object.keys(PUBLIC_TYPES).join(' ')}`;
  return null;
}

/** @param path  below the root of the site @param file  its path on disk */
function publicFile(path: string, file: string) {
  return {
    path,
    file,
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
    contentType: PUBLIC_TYPES[extname(path).toLowerCase()] ?? PUBLIC_TYPES['.txt'],
  };
}
