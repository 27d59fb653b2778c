import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, parseConfig } from '../../config/load.ts';
import { didYouMean } from '../../schema/nearest.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';
import { type Asker, createSilentAsker, createTerminalAsker } from '../init/asker.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  deploymentSteps,
  plannedFiles,
  requireFree,
  shownPaths,
  writeFiles,
} from '../init/deployment.ts';
import { type Answers, draftOf, variablesOf } from '../init/draft.ts';
import { type Given, gather } from '../init/gather.ts';
import { type Probed, tryUpstream } from '../init/try-upstream.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';

export interface InitOptions extends Omit<Given, 'set'> {
  readonly out: string;
  /** `key=value`, as in the configuration; a secret as the name of its variable. */
  readonly set?: readonly string[];
  /** One of DEPLOYMENTS. */
  readonly deploy?: string;
  /** Take every suggestion and ask nothing. */
  readonly yes?: boolean;
}

const SCHEMA = fileURLToPath(new URL('../../../docs/pharos.schema.json', import.meta.url));

/** Asks a few questions (none of those that options answer), tries the upstream, and writes a first configuration. Never over a file. */
export async function init(options: InitOptions): Promise<number> {
  const file = resolve(options.out);
  requireFree([{ path: file }]);
  const isAsking = options.yes !== true && process.stdin.isTTY === true;
  const asker = isAsking ? createTerminalAsker() : createSilentAsker();
  try {
    const given = { ...options, set: new Map((options.set ?? []).map(parsePair)) };
    const deployment = await chooseDeployment(options.deploy, isAsking ? asker : null);
    const { answers, probed, isTold } = await gatherAndTry(given, { asker, isAsking, folder: dirname(file) });
    const plan = { file, deployment, posts: answers.posts, variables: variablesOf(answers) };
    const text = draftOf(answers, relative(dirname(file), SCHEMA) || SCHEMA);
    const files = [{ path: file, text }, ...plannedFiles(plan)];
    requireFree(files);
    if (answers.posts !== null) mkdirSync(join(dirname(file), answers.posts), { recursive: true });
    writeFiles(files);
    const written = `Created ${file}.${files.length === 1 ? '' : ` Also: ${shownPaths(files.slice(1), dirname(file)).join(', ')}.`}`;
    process.stdout.write(
      `${[written, ...(isTold ? [] : [probed.words]), ...nextSteps(answers, deploymentSteps(plan))].join('\n')}\n`,
    );
    return probed.isOk ? EXIT_DONE : EXIT_FAILED;
  } finally {
    asker.close();
  }
}

interface Asking {
  readonly asker: Asker;
  readonly isAsking: boolean;
  /** Of the configuration. */
  readonly folder: string;
}

/** As long as the upstream does not answer as it should, answers may be changed; those given before are suggested. */
async function gatherAndTry(
  given: Given,
  { asker, isAsking, folder }: Asking,
): Promise<{ readonly answers: Answers; readonly probed: Probed; readonly isTold: boolean }> {
  for (let before: Answers | null = null; ; ) {
    const answers = await gather(given, { asker, isSilent: !isAsking, before });
    const probed = await tryUpstream(configOf(answers, folder), answers);
    const withHome = { ...answers, home: probed.home };
    if (probed.isOk || !isAsking) return { answers: withHome, probed, isTold: false };
    const isFine = (answer: string): string | null =>
      /^(keep|change)$/.test(answer) ? null : 'Answer keep or change.';
    const next = await asker.ask(
      `${probed.words}\nKeep these answers, or change them? (keep, change)`,
      'change',
      isFine,
    );
    if (next === 'keep') return { answers: withHome, probed, isTold: true };
    before = answers;
  }
}

async function chooseDeployment(given: string | undefined, asker: Asker | null): Promise<Deployment> {
  const isKnown = (name: string): name is Deployment => DEPLOYMENTS.some((one) => one === name);
  const check = (name: string): string | null =>
    isKnown(name)
      ? null
      : `Unknown template "${name}". Use one of: ${DEPLOYMENTS.join(', ')}.${didYouMean(name, new Set(DEPLOYMENTS))}`;
  const answer =
    given ??
    (await asker?.ask(
      `How do you want to run it? Pharos creates the files for that (${DEPLOYMENTS.join(', ')})`,
      'none',
      check,
    )) ??
    'none';
  if (!isKnown(answer)) throw new UsageError(`--deploy: ${check(answer)}`);
  return answer;
}

/** With something in place of secrets that are not there yet. */
function configOf(answers: Answers, folder: string): Config {
  const missing = variablesOf(answers).filter((name) => (process.env[name] ?? '') === '');
  const stand = Object.fromEntries(missing.map((name) => [name, 'not-known-yet']));
  return parseConfig({ text: draftOf(answers, ''), file: null, folder }, CONNECTORS, { ...process.env, ...stand });
}

function parsePair(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set expects key=value; got "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function nextSteps(answers: Answers, steps: readonly string[]): readonly string[] {
  const missing = variablesOf(answers).filter((name) => (process.env[name] ?? '') === '');
  const exports = missing.map((name) =>
    name === answers.tokenVariable
      ? `  export ${name}='${randomBytes(32).toString('base64url')}'`
      : `  export ${name}='…'`,
  );
  return [
    ...(exports.length === 0 ? [] : ['Set these environment variables:', ...exports]),
    ...steps,
    'Next: run `pharos check`, then `pharos start`.',
    `Your first page: ${answers.siteUrl.replace(/\/$/, '')}/`,
  ];
}
