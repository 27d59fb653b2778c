/** Verifies a published page of any Pharos site against its signed log, and remembers the head of the log. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { now } from '../../app/clock.ts';
import { openSite } from '../../app/transparency.ts';
import { messageOf } from '../../errors.ts';
import { proxySettings } from '../../network/proxy.ts';
import { counted } from '../../schema/counted.ts';
import { type SeenHead, SeenHeadSchema, type Verdict, verifyPage } from '../../transparency/verify.ts';
import { type Options, print } from '../common.ts';
import { UsageError } from '../terminal/exit.ts';

const SeenSchema = z.record(z.string(), SeenHeadSchema);

/** @returns 1 if something differs */
export async function verify(address: string, options: Options<'since'>): Promise<number> {
  const page = toPage(address);
  const file =
    options.since ?? join(process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local/state'), 'pharos/verify.json');
  const seen = readSeen(file);
  const site = openSite(proxySettings(process.env));
  try {
    const verdict = await verifyPage({
      read: site.reader(page),
      url: page,
      seen: seen[page] ?? null,
      siteKeys: await site.keys(page),
      now: now(),
    });
    const agrees = verdict.faults.length === 0;
    // A head that contradicts the stored one never replaces it.
    if (agrees && verdict.head !== null) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify({ ...seen, [page]: verdict.head }, null, 2)}\n`, { mode: 0o600 });
    }
    return print(options, { url: page, agrees, ...verdict }, verdictText(page, verdict, seen[page]), agrees);
  } finally {
    await site.close();
  }
}

/** With a slash at the end, so that file names resolve below it. */
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

function verdictText(
  page: string,
  { faults, notes, head, checkpoint, filesChecked, daysChecked, corrections }: Verdict,
  seen: SeenHead | undefined,
): string {
  const facts = [
    ...(head === null
      ? []
      : [
          `log      ${counted(head.size, 'entries')}, head ${Buffer.from(head.root, 'base64').toString('hex', 0, 6)}, ${head.at}`,
          `key      ${head.key.split('+').slice(0, 2).join('+')}`,
          `since    ${seen === undefined ? 'first visit; the next one compares with this head' : `${counted(seen.size, 'entries')} at ${seen.at}`}`,
        ]),
    ...(filesChecked === 0 ? [] : [`files    ${filesChecked} as signed`]),
    ...(daysChecked === 0 ? [] : [`days     ${daysChecked} as committed`]),
    ...corrections.map(
      ({ at, component, day, was, now: by, why }) =>
        `corrected at ${at}: ${component} on ${day}, ${was} → ${by} (${why.replaceAll('_', ' ')})`,
    ),
  ];
  const lines = faults.length === 0 ? facts : faults.map((fault) => `✗ ${fault}`);
  const failed = checkpoint === null ? 'Nothing was compared.' : 'The page does not match its log.';
  const verdict = faults.length === 0 ? '✓ The page matches its log.' : `✗ ${failed}`;
  return [page, ...lines.map((line) => `  ${line}`), ...notes.map((note) => `  note: ${note}`), verdict].join('\n');
}
