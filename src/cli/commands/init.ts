import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compose } from '../../app/compose.ts';
import { createLog } from '../../app/log.ts';
import { probeUpstream } from '../../app/probe.ts';
import { type Config, parseConfig } from '../../config/load.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';
import { type Answers, draftOf, variablesOf } from '../init/draft.ts';
import {
  type Asker,
  createTerminalAsker,
  KIND_QUESTIONS,
  type KindQuestions,
  type OptionQuestion,
} from '../init/questions.ts';
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

/** With nobody to ask, a question without a suggestion is a fault of the command line. */
function createSilentAsker(): Asker {
  return {
    ask: async (words, suggestion) => {
      if (suggestion !== null) return suggestion;
      throw new UsageError(
        `There is no answer to "${words}", and nobody to ask. Give it with --set, or run pharos init on a terminal.`,
      );
    },
    close: () => undefined,
  };
}

async function gather(options: InitOptions, asker: Asker): Promise<Answers> {
  const siteName = options.name ?? (await asker.ask('Name of the site', 'Status'));
  const siteUrl = options.url ?? (await asker.ask('Public address', 'http://127.0.0.1:4321'));
  const kinds = KIND_QUESTIONS.map(({ kind }) => kind);
  const offered = KIND_QUESTIONS.map(({ kind, words }) => `  ${kind}: ${words}`).join('\n');
  const asked = `What shall be asked?\n${offered}\n  ${NONE}: nothing yet\nKind`;
  const name =
    options.kind ??
    (await asker.ask(asked, options.yes === true || process.stdin.isTTY !== true ? NONE : 'server-monitor'));
  const kind = KIND_QUESTIONS.find((known) => known.kind === name);
  if (kind === undefined && name !== NONE)
    throw new UsageError(`There is no kind ${name}; there are: ${[...kinds, NONE].join(', ')}.`);
  return {
    siteName,
    siteUrl,
    upstream: kind === undefined ? null : await gatherUpstream(kind, options, asker),
    tokenVariable: 'PHAROS_TOKEN',
  };
}

async function gatherUpstream(
  kind: KindQuestions,
  options: InitOptions,
  asker: Asker,
): Promise<NonNullable<Answers['upstream']>> {
  const given = new Map((options.set ?? []).map(parsePair));
  const unknown = [...given.keys()].find((key) => !kind.options.some((question) => question.key === key));
  if (unknown !== undefined)
    throw new UsageError(
      `${kind.kind} has no ${unknown}; --set takes: ${kind.options.map(({ key }) => key).join(', ')}.`,
    );
  const id = options.id ?? (await asker.ask('Name it (part of the names of its monitors)', kind.id));
  const answers = new Map<string, string>();
  for (const question of kind.options)
    answers.set(question.key, given.get(question.key) ?? (await askOption(question, asker)));
  return { id, kind, options: answers };
}

async function askOption({ words, takes, suggestion }: OptionQuestion, asker: Asker): Promise<string> {
  const answer = await asker.ask(words, suggestion);
  if (takes === 'secret' && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(answer))
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
    const rows = await Promise.all(pharos.upstreams.map((upstream) => probeUpstream(pharos, upstream)));
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
