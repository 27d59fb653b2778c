/** Asks the upstream of a first configuration once, and looks which pages there would be. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildStore } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { createLog } from '../../app/log.ts';
import { probeUpstream } from '../../app/probe.ts';
import { type ProbedPages, pagesAsProbed } from '../../app/references.ts';
import type { Config } from '../../config/load.ts';
import { connectorOf } from '../../sync/connectors/index.ts';
import { plain } from '../terminal/paint.ts';
import { createProgress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { type Answers, postsFolder, variablesOf } from './draft.ts';

/** What the page of all monitors is called where nobody defines another. */
const ONLY_PAGE = 'status';

export interface Probed {
  readonly isOk: boolean;
  /** What came of it, as lines. */
  readonly words: string;
  /** Slug of the page for the root of the site: the first public one. Null: it is not known yet which pages there are. */
  readonly home: string | null;
}

/**
 * Nothing is stored, and nothing asked where a secret is not set.
 *
 * @param folder of the configuration
 */
export async function tryUpstream(config: Config, answers: Answers, folder: string): Promise<Probed> {
  const { upstream } = answers;
  if (upstream === null) return { isOk: true, words: 'No upstream yet: add one under upstreams.', home: ONLY_PAGE };
  const missing = variablesOf({ ...answers, tokenVariable: null }).filter(
    (name) => name !== '' && (process.env[name] ?? '') === '',
  );
  if (missing.length > 0) {
    const definesPages = connectorOf(upstream.introduction.example.kind).definesPages === true;
    const words = `${upstream.id} was not tried, because ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set here.`;
    return { isOk: true, words, home: definesPages ? null : ONLY_PAGE };
  }
  const posts = postsFolder(answers);
  if (posts !== null && posts !== answers.posts && !existsSync(resolve(folder, posts)))
    return { isOk: true, words: `${upstream.id} begins with an empty folder, ${posts}.`, home: ONLY_PAGE };
  return probe(config, upstream.id);
}

async function probe(config: Config, id: string): Promise<Probed> {
  const data = mkdtempSync(join(tmpdir(), 'pharos-init-'));
  const log = createLog({ isQuiet: true, secrets: config.secrets });
  const pharos = await buildStore({ ...config, data }, { log });
  const progress = createProgress(false);
  progress.doing(`contacting ${id}`);
  try {
    const upstream = pharos.live.upstreams().find((one) => one.id === id);
    if (upstream === undefined) throw new TypeError(`${id} is not bound`);
    const seen = new Map<string, ProbedPages>();
    const row = await probeUpstream(pharos, upstream, {
      onPages: (pages) => seen.set(id, pages),
      onWait: upstreamProgress(progress, now).waiting,
    });
    const { pages } = await pagesAsProbed(pharos, seen);
    const first = pages.find(({ definition }) => definition.access === 'public') ?? pages[0];
    return {
      isOk: row.isOk,
      words: `${row.isOk ? '✓' : '✗'} ${id}: ${plain(row.isOk ? row.summary : `${row.code}: ${row.summary}`)}`,
      home: row.isOk ? (first?.definition.slug ?? null) : null,
    };
  } finally {
    progress.end();
    await pharos[Symbol.asyncDispose]();
    rmSync(data, { recursive: true, force: true });
  }
}
