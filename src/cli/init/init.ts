import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStore } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { createLog } from '../../app/log.ts';
import { type ProbedPages, probeUpstream } from '../../app/probe.ts';
import { pagesAsProbed } from '../../app/references.ts';
import { type Config, parseConfig } from '../../config/load.ts';
import { isStatusError, messageOf } from '../../errors.ts';
import { CONNECTORS, connectorOf } from '../../sync/connectors/index.ts';
import { isLoopback } from '../doctor/network.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { upstreamProgress } from '../terminal/report-text.ts';
import { plain, wrapText } from '../terminal/table.ts';
import {
  chooseDeployment,
  type Deployment,
  deploymentSteps,
  plannedFiles,
  requireFree,
  writeFiles,
} from './deployment.ts';
import { type Answers, listVariables, postsFolder, writeDraft } from './draft.ts';
import { type Asker, createSilentAsker, createTerminalAsker, type Given, gather, LOCAL_SITE } from './gather.ts';

interface InitOptions extends Omit<Given, 'set'> {
  readonly out: string;
  /** `key=value`, as in the configuration. For secrets, the name of the variable. */
  readonly set?: readonly string[];
  /** One of DEPLOYMENTS. */
  readonly deploy?: string;
  /** Accept all suggestions without asking. */
  readonly yes?: boolean;
  /** Address to check. Everything else is as suggested, without an operator token. */
  readonly check?: string;
}

const SCHEMA = fileURLToPath(new URL('../../../docs/pharos.schema.json', import.meta.url));

/** Asks the questions that options don't answer, tries the upstream, and writes a first configuration. Never overwrites a file. */
export async function init(given: InitOptions): Promise<number> {
  const options = withCheck(given);
  const file = resolve(options.out);
  const folder = dirname(file);
  requireFree([{ path: file }]);
  const isAsking = options.yes !== true && process.stdin.isTTY === true;
  const asker = isAsking ? createTerminalAsker() : createSilentAsker();
  try {
    const answered = { ...options, set: new Map((options.set ?? []).map(parsePair)) };
    const choosing = { file, asker: isAsking ? asker : null };
    // If files of the template already exist, fails before asking anything.
    const wanted = options.deploy === undefined ? null : await chooseDeployment(options.deploy, choosing);
    const { answers, probed, isTold } = await gatherAndTry(answered, asker, isAsking, folder);
    const plan = toPlan(answers, file, wanted ?? (await chooseDeployment(undefined, choosing)));
    // With a workflow, GitHub decides when Pharos runs, and data stays valid until the next run.
    const schedule = plan.deployment === 'github-pages' ? '*/10 * * * *' : undefined;
    const text = writeDraft(answers, relative(folder, SCHEMA) || SCHEMA, schedule);
    const others = plannedFiles(plan);
    const files = [{ path: file, text }, ...others];
    requireFree(files);
    if (plan.posts !== null) mkdirSync(resolve(folder, plan.posts), { recursive: true });
    writeFiles(files);
    const also = others.map(({ path }) => relative(folder, path)).join(', ');
    const lines = [
      `Created ${file}.${others.length === 0 ? '' : ` Also: ${also}.`}`,
      ...(isTold ? [] : [probed.words]),
      ...nextSteps(answers, deploymentSteps(plan)),
    ];
    process.stdout.write(`${wrapText(lines.join('\n'))}\n`);
    return probed.isOk ? EXIT_DONE : EXIT_FAILED;
  } finally {
    asker.close();
  }
}

/** `--check` answers everything. */
function withCheck({ check, ...options }: InitOptions): InitOptions {
  if (check === undefined) return options;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(check) ? check : `https://${check}`;
  const name = URL.parse(url)?.hostname ?? 'Status';
  if (/^([a-z]+:\/\/)?[^/?#]*[\s,]|[\s,]https?:\/\//i.test(check))
    throw new UsageError('--check takes one address. Add the others to `checks` in pharos.yaml afterwards.');
  const set = [...(options.set ?? []), `checks.url=${url}`];
  return { name, ...options, kind: 'checks', set, token: false, yes: true };
}

/**
 * While the upstream doesn't respond as expected, answers can be changed. The previous ones are suggested.
 *
 * @param folder  of the configuration
 */
async function gatherAndTry(first: Given, asker: Asker, isAsking: boolean, folder: string) {
  let given = first;
  for (let before: Answers | null = null; ; ) {
    const answers = await gather(given, { asker, isSilent: !isAsking, before, folder });
    const probed = await tryAnswers(answers, folder, isAsking);
    const withHome = { ...answers, home: probed.home };
    if (probed.isOk || !isAsking) return { answers: withHome, probed, isTold: false };
    const words = `${probed.words}\nKeep these answers, change them, or choose another tool? (keep, change, other)`;
    const next = await asker.ask(words, 'change', (answer) =>
      /^(keep|change|other)$/.test(answer) ? null : 'Answer keep, change or other.',
    );
    if (next === 'keep') return { answers: withHome, probed, isTold: true };
    before = next === 'change' ? answers : null;
    if (next === 'other')
      given = { name: answers.siteName, url: answers.siteUrl, posts: answers.posts ?? 'none', set: new Map() };
  }
}

/** Other errors, such as a token in the environment that is too short, don't discard the answers. */
async function tryAnswers(answers: Answers, folder: string, isAsking: boolean) {
  try {
    return await tryUpstream(parseAnswers(answers, folder), answers, folder);
  } catch (error) {
    if (!isAsking || !isStatusError(error) || error.code !== 'CONFIG_INVALID') throw error;
    return { isOk: false, words: messageOf(error), home: null };
  }
}

function toPlan(answers: Answers, file: string, deployment: Deployment) {
  const { upstream, siteUrl } = answers;
  const folder = postsFolder(answers);
  const option = upstream === null ? undefined : connectorOf(upstream.introduction.example.kind).fileOption;
  const source = option === undefined ? null : (upstream?.options.get(option) ?? null);
  const variables = listVariables(answers);
  return { file, deployment, posts: folder, source: source === folder ? null : source, variables, siteUrl };
}

/** Parses the configuration with placeholders for missing secrets. */
function parseAnswers(answers: Answers, folder: string): Config {
  const stand = Object.fromEntries(missingVariables(answers).map((name) => [name, 'not-known-yet']));
  return parseConfig({ text: writeDraft(answers, ''), file: null, folder }, CONNECTORS, { ...process.env, ...stand });
}

/** Variables of the configuration that aren't set here. */
function missingVariables(answers: Answers): readonly string[] {
  return listVariables(answers).filter((name) => (process.env[name] ?? '') === '');
}

function parsePair(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set expects key=value; got "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function nextSteps(answers: Answers, steps: readonly string[]): readonly string[] {
  const exports = missingVariables(answers).map((name) => {
    const value = name === answers.tokenVariable ? randomBytes(32).toString('base64url') : '…';
    return `  export ${name}='${value}'`;
  });
  const { siteUrl } = answers;
  // Where to see the page until a proxy or DNS name points to it.
  const here = isLoopback(new URL(siteUrl).hostname) ? '' : `, on this machine ${LOCAL_SITE}/`;
  return [
    ...(exports.length === 0 ? [] : ['Set these environment variables:', ...exports]),
    ...steps,
    'Next: run `pharos check`, then `pharos start`.',
    `Your first page: ${siteUrl.replace(/\/$/, '')}/${here}`,
  ];
}

/** The slug of the page with all monitors, if no other is defined. */
const ONLY_PAGE = 'status';

/**
 * Tries the upstream and stores nothing. If a secret isn't set, nothing is requested. Returns the result in words, and
 * the slug of the home page: the first public one; null: the pages aren't known yet.
 *
 * @param folder of the configuration
 */
export async function tryUpstream(config: Config, answers: Answers, folder: string) {
  const { upstream } = answers;
  if (upstream === null) return { isOk: true, words: 'No upstream yet: add one under upstreams.', home: ONLY_PAGE };
  const missing = missingVariables({ ...answers, tokenVariable: null });
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

async function probe(config: Config, id: string) {
  const data = mkdtempSync(join(tmpdir(), 'pharos-init-'));
  const log = createLog({ isQuiet: true, secrets: config.secrets });
  const pharos = await buildStore({ ...config, data }, { log });
  using progress = createProgress(false);
  progress.doing(`contacting ${id}`);
  try {
    const upstream = pharos.live.upstreams().find((one) => one.id === id);
    if (upstream === undefined) throw new TypeError(`${id} is not bound`);
    const seen = new Map<string, ProbedPages>();
    const row = await probeUpstream(pharos, upstream, {
      onPages: (pages) => seen.set(id, pages),
      onWait: upstreamProgress(progress, now).waiting,
    });
    if (!row.isOk) return { isOk: false, words: `✗ ${id}: ${plain(`${row.code}: ${row.summary}`)}`, home: null };
    const { pages } = await pagesAsProbed(pharos, seen);
    const first = pages.find(({ definition }) => definition.access === 'public') ?? pages[0];
    return { isOk: true, words: `✓ ${id}: ${plain(row.summary)}`, home: first?.definition.slug ?? null };
  } finally {
    await pharos[Symbol.asyncDispose]();
    rmSync(data, { recursive: true, force: true });
  }
}
