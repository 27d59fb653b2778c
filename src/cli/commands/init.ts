import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { probeUpstream } from '../../app/probe.ts';
import { type Config, parseConfig } from '../../config/load.ts';
import type { InitQuestion, Introduction } from '../../sync/connector.ts';
import { WRITTEN_ID } from '../../sync/connector.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';
import { type Asker, createSilentAsker, createTerminalAsker } from '../init/asker.ts';
import { type Answers, draftOf, variableOf, variablesOf } from '../init/draft.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { plain } from '../terminal/paint.ts';

export interface InitOptions {
  readonly out: string;
  readonly kind?: string;
  readonly id?: string;
  /** `key=value`, as in the configuration; a secret as the name of its variable. */
  readonly set?: readonly string[];
  readonly name?: string;
  readonly url?: string;
  /** Take every suggestion and ask nothing. */
  readonly yes?: boolean;
}

const NONE = 'none';
const SCHEMA = fileURLToPath(new URL('../../../docs/pharos.schema.json', import.meta.url));

/** Asks a few questions (none of those that options answer), tries the upstream, and writes a first configuration. Never over a file. */
export async function init(options: InitOptions): Promise<number> {
  const file = resolve(options.out);
  if (existsSync(file))
    throw new UsageError(`${file} is there already; init never writes over a file. Name another with --out.`);
  const isAsking = options.yes !== true && process.stdin.isTTY === true;
  const asker = isAsking ? createTerminalAsker() : createSilentAsker();
  try {
    const answers = await gather(options, asker);
    const text = draftOf(answers, relative(dirname(file), SCHEMA) || SCHEMA);
    const probed = await tryOut(text, dirname(file), answers);
    writeFileSync(file, text, { flag: 'wx' });
    process.stdout.write(`${nextSteps(file, answers, probed.words)}\n`);
    return probed.isOk ? EXIT_DONE : EXIT_FAILED;
  } finally {
    asker.close();
  }
}

async function gather(options: InitOptions, asker: Asker): Promise<Answers> {
  const siteName = options.name ?? (await asker.ask('Name of the site', 'Status'));
  const siteUrl = options.url ?? (await asker.ask('Public address', 'http://127.0.0.1:4321'));
  const kinds = CONNECTORS.map(({ kind }) => kind);
  const offered = CONNECTORS.map(({ kind, title }) => `  ${kind}: ${title}`).join('\n');
  const asked = `What shall be asked?\n${offered}\n  ${NONE}: nothing yet\nKind`;
  const isSilent = options.yes === true || process.stdin.isTTY !== true;
  const name = options.kind ?? (await asker.ask(asked, (isSilent ? null : kinds[0]) ?? NONE));
  const found = CONNECTORS.find((known) => known.kind === name);
  if (found === undefined && name !== NONE)
    throw new UsageError(`There is no kind ${name}; there are: ${[...kinds, NONE].join(', ')}.`);
  return {
    siteName,
    siteUrl,
    upstream: found === undefined ? null : await gatherUpstream(found, options, asker),
    tokenVariable: 'PHAROS_TOKEN',
  };
}

async function gatherUpstream(
  introduction: Introduction,
  options: InitOptions,
  asker: Asker,
): Promise<NonNullable<Answers['upstream']>> {
  const { example, questions } = introduction;
  const given = new Map((options.set ?? []).map(parsePair));
  const unknown = [...given.keys()].find((key) => !questions.some((question) => question.key === key));
  if (unknown !== undefined)
    throw new UsageError(
      `${example.kind} has no ${unknown}; --set takes: ${questions.map(({ key }) => key).join(', ')}.`,
    );
  const id = options.id ?? (await asker.ask('Name it (part of the names of its monitors)', example.id));
  const answers = new Map<string, string>();
  for (const question of questions)
    answers.set(question.key, given.get(question.key) ?? (await askOption(introduction, question, asker)));
  return { id, introduction, options: answers };
}

async function askOption(introduction: Introduction, question: InitQuestion, asker: Asker): Promise<string> {
  const { words, suggestion = null } = question;
  const variable = variableOf(introduction, question);
  const answer = await asker.ask(words, variable ?? suggestion);
  if (variable !== null && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(answer))
    throw new UsageError(`"${words}" takes the name of a variable (letters, digits and _), not the secret itself.`);
  return answer;
}

function parsePair(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set takes key=value, and "${text}" is not that.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Parses what would be written, and asks the upstream once where its secrets are known. */
async function tryOut(text: string, folder: string, answers: Answers): Promise<{ isOk: boolean; words: string }> {
  const missing = variablesOf(answers).filter((name) => (process.env[name] ?? '') === '');
  const stand = Object.fromEntries(missing.map((name) => [name, 'not-known-yet']));
  const config = parseConfig({ text, file: null, folder }, CONNECTORS, { ...process.env, ...stand });
  if (answers.upstream === null) return { isOk: true, words: 'No upstream is asked yet: add one under upstreams.' };
  const own = variablesOf({ ...answers, tokenVariable: '' }).filter((name) => missing.includes(name));
  if (own.length > 0)
    return { isOk: true, words: `${answers.upstream.id} was not tried, since ${own.join(', ')} is not set here.` };
  return probe(config);
}

async function probe(config: Config): Promise<{ isOk: boolean; words: string }> {
  const data = mkdtempSync(join(tmpdir(), 'pharos-init-'));
  const log = createLog({ isQuiet: true, secrets: config.secrets });
  const pharos = await compose({ ...config, data }, { log, isPublishing: false, printsMail: true });
  try {
    const rows = await Promise.all(
      pharos.upstreams.filter(({ id }) => id !== WRITTEN_ID).map((upstream) => probeUpstream(pharos, upstream)),
    );
    const lines = rows.map(
      (row) =>
        `${row.isOk ? '✓' : '✗'} ${row.upstream}: ${plain(row.isOk ? row.summary : `${row.code}: ${row.summary}`)}`,
    );
    return { isOk: rows.every(({ isOk }) => isOk), words: lines.join('\n') };
  } finally {
    await pharos.close();
    rmSync(data, { recursive: true, force: true });
  }
}

function nextSteps(file: string, answers: Answers, probed: string): string {
  const missing = variablesOf(answers).filter((name) => (process.env[name] ?? '') === '');
  const exports = missing.map((name) =>
    name === answers.tokenVariable
      ? `  export ${name}='${randomBytes(32).toString('base64url')}'`
      : `  export ${name}='…'`,
  );
  return [
    `${file} is written.`,
    probed,
    ...(exports.length === 0 ? [] : ['Set what it takes from the environment:', ...exports]),
    'Then: pharos check, pharos start',
  ].join('\n');
}
