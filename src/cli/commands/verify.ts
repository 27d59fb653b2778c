/** Checks a published page of any Pharos site against its signed log, and remembers what it saw. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { now } from '../../app/clock.ts';
import { messageOf, StatusError } from '../../errors.ts';
import { createDispatcher, type Dispatcher } from '../../network/dispatcher.ts';
import { proxySettings } from '../../network/proxy.ts';
import { type ReadFile, type SeenHead, SeenHeadSchema, type Verdict, verifyPage } from '../../transparency/verify.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { print } from './common.ts';

export interface VerifyOptions {
  /** File with the heads that were seen; default: one of this user. */
  readonly since?: string;
  readonly json?: boolean;
}

const BYTES_MAX = 64 * 1024 * 1024;
const SeenSchema = z.record(z.string(), SeenHeadSchema);

/** @returns 1 when something differs */
export async function verify(address: string, options: VerifyOptions): Promise<number> {
  const page = toPage(address);
  const file =
    options.since ?? join(process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local/state'), 'pharos/verify.json');
  const seen = readSeen(file);
  const dispatcher = createDispatcher({
    connectMs: 10_000,
    headersMs: 30_000,
    idleMs: 30_000,
    connectionsMax: 8,
    proxy: proxySettings(process.env),
  });
  try {
    const verdict = await verifyPage({
      read: readFrom(dispatcher, page),
      seen: seen[page] ?? null,
      siteKeys: await readSiteKeys(dispatcher, page),
      now: now(),
    });
    // What contradicts the head that was seen never replaces it.
    if (verdict.faults.length === 0 && verdict.head !== null) remember(file, { ...seen, [page]: verdict.head });
    print(
      options.json === true,
      { url: page, agrees: verdict.faults.length === 0, ...verdict },
      verdictText(page, verdict, seen[page]),
    );
    return verdict.faults.length === 0 ? EXIT_DONE : EXIT_FAILED;
  } finally {
    await dispatcher.destroy();
  }
}

/** With a slash at its end, so that files are found below it. */
function toPage(address: string): string {
  const url = URL.parse(address);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(
      `"${address}" is not an address. Pass that of a page, such as https://status.example.com/acme/.`,
    );
  url.search = '';
  url.hash = '';
  url.pathname = url.pathname.replace(/\/?(index\.html|log\/?)?$/, '/');
  return url.href;
}

function readFrom(dispatcher: Dispatcher, page: string): ReadFile {
  return async (path) => {
    const url = new URL(
      path
        .split('/')
        .map(encodeURIComponent)
        .join('/')
        .replace(/(^|\/)index\.html$/, '$1') || '.',
      page,
    );
    try {
      const answer = await dispatcher.request({
        origin: url.origin,
        path: url.pathname,
        method: 'GET',
        // What is signed is the file as it is.
        headers: { 'accept-encoding': 'identity', 'cache-control': 'no-cache', 'user-agent': 'Pharos-verify' },
      });
      const bytes = await readBody(answer.body, url);
      // Hosts answer the address of their 404 page with that status.
      return answer.statusCode === 200 || (answer.statusCode === 404 && path === '404.html') ? bytes : null;
    } catch (cause) {
      throw new StatusError({
        code: 'UPSTREAM_UNREACHABLE',
        message: `${url.origin} can’t be reached: ${messageOf(cause)}.`,
        cause,
      });
    }
  };
}

async function readBody(body: AsyncIterable<Uint8Array>, url: URL): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > BYTES_MAX) throw new Error(`${url.pathname} is larger than 64 MB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The keys at the root of the site; null: it publishes none there, as below a path of a host that has other things at its root. */
async function readSiteKeys(dispatcher: Dispatcher, page: string): Promise<readonly string[] | null> {
  const root = new URL('/', page).href;
  const bytes = await readFrom(dispatcher, root)('.well-known/pharos-key.json');
  try {
    return z.object({ keys: z.array(z.string()) }).parse(JSON.parse(Buffer.from(bytes ?? []).toString('utf8'))).keys;
  } catch {
    return null;
  }
}

function readSeen(file: string): Readonly<Record<string, SeenHead>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UsageError(`Can’t read ${file}: ${messageOf(error)}.`);
  }
  try {
    return SeenSchema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(
      `${file} is not what "pharos verify" writes. Pass another file with --since, or remove this one: what was seen before is then not compared.`,
    );
  }
}

function remember(file: string, seen: Readonly<Record<string, SeenHead>>): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(seen, null, 2)}\n`, { mode: 0o600 });
}

function verdictText(
  page: string,
  { faults, notes, head, filesChecked, daysChecked, corrections }: Verdict,
  seen: SeenHead | undefined,
): string {
  const facts = [
    head === null ? null : `log      ${head.size} entries, head ${shortRoot(head.root)}, ${head.at}`,
    head === null ? null : `key      ${head.key.split('+').slice(0, 2).join('+')}`,
    head === null
      ? null
      : `since    ${seen === undefined ? 'first visit; the next one compares with this head' : `${seen.size} entries at ${seen.at}`}`,
    filesChecked === 0 ? null : `files    ${filesChecked} as signed`,
    daysChecked === 0 ? null : `days     ${daysChecked} as committed`,
    ...corrections.map(
      ({ at, component, day, was, now: by, why }) =>
        `corrected at ${at}: ${component} on ${day}, ${was} → ${by} (${why.replaceAll('_', ' ')})`,
    ),
  ];
  const lines = faults.length === 0 ? facts.filter((fact) => fact !== null) : faults.map((fault) => `✗ ${fault}`);
  const verdict = faults.length === 0 ? '✓ The page is what its log says.' : '✗ The page does not agree with its log.';
  return [page, ...lines.map((line) => `  ${line}`), ...notes.map((note) => `  note: ${note}`), verdict].join('\n');
}

/** As the page shows it. */
function shortRoot(root: string): string {
  return Buffer.from(root, 'base64').toString('hex').slice(0, 12);
}
