import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownComponents } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { compose, type Pharos } from '../../app/compose.ts';
import { createLog, type Log } from '../../app/log.ts';
import { copyStore, schemaAt, storePlace } from '../../app/open-store.ts';
import { type PagePlan, type Plan, planPublish } from '../../app/plan.ts';
import { listen } from '../../app/serving/listen.ts';
import { drawingWith } from '../../app/workers/drawing.ts';
import type { Config } from '../../config/load.ts';
import type { UpstreamConfig } from '../../config/schema.ts';
import { messageOf } from '../../errors.ts';
import { WRITTEN_ID } from '../../model/observation.ts';
import { loadRenderer } from '../../publish/draw/renderer.ts';
import { counted } from '../../schema/counted.ts';
import { Secret } from '../../schema/secret.ts';
import { connectorOf } from '../../sync/connectors/index.ts';
import { generateKey } from '../../transparency/note.ts';
import { holdRemedy } from '../../views/operators/ops.ts';
import { type Options, openToRead, print, requireConfig } from '../common.ts';
import { EXIT_DONE, untilStopped } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { runProgress } from '../terminal/report-text.ts';
import { marked, paint } from '../terminal/table.ts';

const LOOK_EVERY_MS = 1_000;
/** The copy isn't updated, but must not become stale. */
const NEVER = '0 0 1 1 *';

/**
 * Serves what would be published, including drafts, on this machine until stopped. It works on a copy: nothing is
 * published, sent or requested, and the running server is unaffected.
 */
export async function preview(options: Options & { readonly port?: number }): Promise<number> {
  const config = requireConfig(options.config);
  const log = createLog({ isQuiet: options.quiet ?? false, secrets: config.secrets });
  using progress = createProgress(options.quiet ?? false);
  const data = mkdtempSync(join(tmpdir(), 'pharos-preview-'));
  try {
    progress.doing('copying the database');
    const place = storePlace(config);
    if ((await schemaAt(place)) > 0) await copyStore(place, join(data, 'pharos.db'));
    await using pharos = await compose(previewConfig(config, data), {
      log,
      isPublishing: true,
      isSending: false,
      printsMail: true,
      progress: runProgress(progress, now),
      // The copy has the database's version, whichever that is.
      onOlder: 'migrate',
      // The key isn't copied: a preview reads no subscriber's address.
      isNewKey: true,
      showsDrafts: true,
    });
    const { closing } = pharos.base;
    const door = await listen(pharos, { log, port: options.port ?? 0, host: '127.0.0.1' });
    closing.defer(door.close);
    pharos.base.live.setSiteUrl(door.url);
    await pharos.publishing.engine.run(localRun(pharos.base.live.config()));
    progress.end();
    process.stdout.write(`Pharos serves ${door.url}/ as a preview with drafts. Nothing is published.\n`);
    const watching = watchFolders(pharos, log);
    closing.defer(() => clearInterval(watching));
    await untilStopped();
    return EXIT_DONE;
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** The same site without upstreams, messages and operators. */
function previewConfig(config: Config, data: string): Config {
  return {
    ...config,
    data,
    store: undefined,
    schedule: NEVER,
    exports: [],
    operators: { roles: {}, tokens: [] },
    intake: [],
    // The site's can't be read without its secret.key.
    transparency: { ...config.transparency, key: new Secret(generateKey()), previousKey: undefined },
    upstreams: config.upstreams.map((upstream) => ({
      ...upstream,
      schedule: null,
      hook: null,
      options: { ...(upstream.options as object), ...connectorOf(upstream.kind).previewOptions },
    })),
  };
}

function localRun(config: Config): { readonly trigger: string; readonly upstreams: readonly string[] } {
  const local = config.upstreams.filter((upstream) => localPath(upstream) !== null);
  return { trigger: 'command', upstreams: [...local.map(({ id }) => id), WRITTEN_ID] };
}

/** Publishes again when a file changes. It polls, because watchers miss changes on some file systems. */
function watchFolders(pharos: Pharos, log: Log): NodeJS.Timeout {
  const folders = pharos.base.live.config().upstreams.flatMap((upstream) => localPath(upstream) ?? []);
  let seen = foldersFingerprint(folders);
  return setInterval(() => {
    const fingerprint = foldersFingerprint(folders);
    if (fingerprint === seen) return;
    seen = fingerprint;
    pharos.publishing.engine
      .run(localRun(pharos.base.live.config()))
      .catch((error: unknown) => log.error(messageOf(error)));
  }, LOOK_EVERY_MS);
}

/** The local file or folder of an upstream; null: it is remote. */
function localPath({ kind, options }: UpstreamConfig): string | null {
  const path = (options as Readonly<Record<string, unknown>>)[connectorOf(kind).fileOption ?? ''];
  return typeof path === 'string' ? path : null;
}

/** Changes when a file in one of the folders does. */
function foldersFingerprint(paths: readonly string[]): string {
  const stat = (path: string) => statSync(path, { throwIfNoEntry: false });
  const files = paths.flatMap((path) =>
    stat(path)?.isDirectory() === true ? readdirSync(path).map((name) => join(path, name)) : [path],
  );
  return files.map((path) => `${path} ${stat(path)?.mtimeMs} ${stat(path)?.size}`).join('\n');
}

/**
 * Shows what the next publish would change, from the configuration file and stored data; with `files`, every file by
 * path. Contacts nothing and publishes nothing.
 */
export async function diff(options: Options<never, 'files'>): Promise<number> {
  const config = requireConfig(options.config);
  using progress = createProgress(options.quiet ?? options.json ?? false);
  await using pharos = await openToRead(config);
  progress.doing('comparing pages');
  const renderer = await loadRenderer(ownComponents(config));
  const plan = await planPublish(
    {
      pharos,
      ...drawingWith(renderer),
      onPage: (done, total) => progress.doing(`compared ${done} of ${counted(total, 'pages')}`),
    },
    await pharos.readSite(now()),
  );
  progress.end();
  return print(options, plan, planText(plan, options.files === true));
}

const TONES = { new: 'good', changed: 'middling', unchanged: 'faint', withdrawn: 'bad' } as const;

function planText({ pages, problems }: Plan, hasFiles: boolean): string {
  const parts = pages.flatMap((page) => [
    planHeading(page),
    ...page.facts.map(({ name, from, to }) => `  ${name}: ${from ?? 'none'} → ${to ?? 'none'}`),
    ...(page.heldRelease === null
      ? []
      : [`  on hold at release ${page.heldRelease}: changes are not published. ${holdRemedy(page.slug)}`]),
    ...(hasFiles ? changedFiles(page) : []),
  ]);
  const shown = new Set(pages.filter(({ kind }) => kind !== 'withdrawn').map(({ slug }) => slug));
  const problemLines = problems.map(({ slug, message }) => {
    if (shown.has(slug)) return marked('middling', `${slug}: ${message}`);
    return marked('bad', `${slug} is not published: ${message}`);
  });
  const isSame = pages.every(({ kind }) => kind === 'unchanged');
  return [...parts, ...problemLines, ...(isSame ? ['No changes to publish.'] : [])].join('\n');
}

function planHeading({ slug, kind, added, changed, removed }: PagePlan): string {
  const counts = [`${added.length} new`, `${changed.length} changed`, `${removed.length} removed`];
  return `${paint(TONES[kind], kind)} ${slug}${kind === 'unchanged' ? '' : `: files ${counts.join(', ')}`}`;
}

function changedFiles({ added, changed, removed }: PagePlan): string[] {
  const listed = (mark: string, paths: readonly string[]) => paths.map((path) => `  ${mark} ${path}`);
  const [plus, tilde, minus] = [paint('good', '+'), paint('middling', '~'), paint('bad', '-')];
  return [...listed(plus, added), ...listed(tilde, changed), ...listed(minus, removed)];
}
