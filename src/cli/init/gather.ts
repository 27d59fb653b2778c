/** Asks the questions for a first configuration, and checks each answer. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { stringify } from 'yaml';
import { parseConfig } from '../../config/load.ts';
import { isStatusError } from '../../errors.ts';
import { didYouMean } from '../../schema/nearest.ts';
import type { Introduction } from '../../sync/connector.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';
import { UsageError } from '../terminal/exit.ts';
import { type Answers, answeredOption, exampleVariable } from './draft.ts';

/** Answers from the command line. */
export interface Given extends Readonly<Partial<Record<'name' | 'url' | 'kind' | 'id' | 'posts', string>>> {
  /** False: no operator token. Default: one, in PHAROS_TOKEN. */
  readonly token?: boolean;
  /** Options of the upstream by key. */
  readonly set: ReadonlyMap<string, string>;
}

export interface Gathering {
  readonly asker: Asker;
  /** Whether there is nobody to ask. */
  readonly isSilent: boolean;
  /** Answers of the previous round, which become suggestions; null: there was none. */
  readonly before: Answers | null;
  /** The folder of the configuration. */
  readonly folder: string;
}

type Upstream = NonNullable<Answers['upstream']>;

const NONE = 'none';
/** The default address of `pharos start`. */
export const LOCAL_SITE = 'http://127.0.0.1:4321';
const POSTS_FOLDER = 'posts';

/** @throws UsageError if an option is wrong, or a question has no answer */
export async function gather(given: Given, gathering: Gathering): Promise<Answers> {
  const { before, isSilent, folder } = gathering;
  const found = before === null ? await chooseKind(given, gathering) : (before.upstream?.introduction ?? null);
  const idle = [...(given.set.size > 0 ? ['--set'] : []), ...(given.id === undefined ? [] : ['--id'])];
  if (found === null && before === null && idle.length > 0)
    throw new UsageError(`${idle.join(' and ')} need an upstream: choose its kind with --kind.`);
  const upstream = found === null ? null : await gatherUpstream(found, given, gathering);
  // In later rounds, only the questions about the upstream are asked again.
  if (before !== null) return { ...before, upstream };
  const siteName = await answer(gathering, {
    ...{ words: 'Name of the site', option: '--name', given: given.name, suggestion: 'Status' },
    check: (text) => faultOfSite('name', text),
  });
  const siteUrl = await answer(gathering, {
    ...{ words: 'Public address', option: '--url', given: given.url, suggestion: LOCAL_SITE },
    check: (text) => faultOfSite('url', text),
  });
  const words = `Folder for incidents that you write by hand (${NONE}: no folder)`;
  const suggestion = isSilent ? NONE : POSTS_FOLDER;
  const check = (text: string): string | null => faultOfPosts(text, folder);
  const hasPosts = found?.example.kind === 'markdown';
  const posts = hasPosts
    ? NONE
    : await answer(gathering, { words, option: '--posts', given: given.posts, suggestion, check });
  const tokenVariable = given.token === false ? null : 'PHAROS_TOKEN';
  return { siteName, siteUrl, home: null, posts: posts === NONE ? null : posts, upstream, tokenVariable };
}

const CHOICES: readonly Choice[] = [
  ...CONNECTORS.map(({ kind, title }) => ({ name: kind, title })),
  { name: NONE, title: 'none yet' },
];

/** The connector of the monitoring tool; null: none yet. */
async function chooseKind(given: Given, { asker, isSilent }: Gathering): Promise<Introduction | null> {
  const fault = given.kind === undefined ? null : nameCheck(CHOICES)(given.kind);
  if (fault !== null) throw new UsageError(`--kind ${given.kind}: ${fault}`);
  const suggestion = isSilent ? NONE : (CHOICES[0]?.name ?? NONE);
  const kind = given.kind ?? (await asker.choose('Which monitoring tool do you use?', CHOICES, suggestion));
  return CONNECTORS.find((known) => known.kind === kind) ?? null;
}

interface Question {
  readonly words: string;
  /** The option that answers it. */
  readonly option: string;
  readonly given: string | undefined;
  /** Null: an answer is required. */
  readonly suggestion: string | null;
  readonly check: AnswerCheck;
}

/** In a second round, wrong options can be changed like any other answer. */
async function answer({ asker, before }: Gathering, question: Question): Promise<string> {
  const { words, option, given, suggestion, check } = question;
  if (given === undefined || before !== null) return asker.ask(words, suggestion, check);
  const fault = check(given);
  if (fault !== null) throw new UsageError(`${option} ${given}: ${fault}`);
  return given;
}

async function gatherUpstream(introduction: Introduction, given: Given, gathering: Gathering): Promise<Upstream> {
  const { example, questions } = introduction;
  const keys = questions.map(({ key }) => key);
  const unknown = [...given.set.keys()].find((key) => !keys.includes(key));
  if (unknown !== undefined)
    throw new UsageError(
      `${example.kind} has no option ${unknown}. Use one of: ${keys.join(', ')}.${didYouMean(unknown, new Set(keys))}`,
    );
  const same = gathering.before?.upstream?.introduction === introduction ? gathering.before.upstream : null;
  const id = same?.id ?? given.id ?? example.id;
  const fault = faultOfUpstream('id', { ...plain(introduction), id });
  if (fault !== null) throw new UsageError(`--id ${id}: ${fault}`);
  const options = new Map<string, string>();
  for (const question of questions) {
    const { key, words, suggestion = null } = question;
    const variable = exampleVariable(introduction, question);
    const check = (answered: string): string | null => {
      if (answered === '' && suggestion === '') return null;
      if (variable !== null) return VARIABLE.test(answered) ? null : VARIABLE_EXPECTED;
      const upstream = { ...plain(introduction), ...answeredOption(introduction, key, answered) };
      return faultOfUpstream(key.replace('.', '[0].'), upstream);
    };
    const text = await answer(gathering, {
      ...{ words, option: `--set ${key}=`, given: given.set.get(key), check },
      suggestion: same?.options.get(key) ?? suggestion ?? variable,
    });
    options.set(key, text);
  }
  return { id, introduction, options };
}

/** The example with values instead of its variables. */
function plain({ example }: Introduction): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(example).replaceAll(/\$\{\w+\}/g, 'value')) as Record<string, unknown>;
}

function faultOfPosts(text: string, folder: string): string | null {
  if (!/^[\w-][\w.-]*$/.test(text))
    return 'Give the name of a folder next to the configuration: only letters, digits and - _ .';
  const isFile = statSync(join(folder, text), { throwIfNoEntry: false })?.isDirectory() === false;
  return isFile && text !== NONE ? `${text} is a file. Give the name of a folder.` : null;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const VARIABLE_EXPECTED = 'Give the name of an environment variable (letters, digits and _), not the secret itself.';

/** A valid configuration to check single values with. */
const SITE = { url: 'https://status.example.com', name: 'Status' };

/** Checks a value of `site`. @returns what is wrong; null: nothing */
function faultOfSite(key: 'name' | 'url', answer: string): string | null {
  return faultAt(`site.${key}`, { site: { ...SITE, [key]: answer } });
}

/** Checks an option of an upstream, given the earlier answers. @returns what is wrong; null: nothing */
function faultOfUpstream(key: string, upstream: Readonly<Record<string, unknown>>): string | null {
  return faultAt(`upstreams[0].${key}`, { site: SITE, upstreams: [upstream] });
}

function faultAt(path: string, config: object): string | null {
  try {
    parseConfig({ text: stringify(config), file: null, folder: process.cwd() }, CONNECTORS, {});
    return null;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const found = error.issues.find((issue) => issue.path === path || issue.path.startsWith(`${path}.`));
    if (found === undefined) return null;
    // There is no file yet, so the line number is meaningless.
    const words = found.message.replace(/ \(line \d+\)$/, '').replace(/(?<![.?])$/, '.');
    return words.charAt(0).toUpperCase() + words.slice(1);
  }
}

// Asks questions on a terminal, or not at all.

/** Says what is wrong with an answer; null: nothing. */
export type AnswerCheck = (answer: string) => string | null;

/** Asks one question after the other. */
export interface Asker {
  /** Without a suggestion, asks until there is an answer; with `check`, until it finds nothing wrong. */
  readonly ask: (words: string, suggestion: string | null, check?: AnswerCheck) => Promise<string>;
  /**
   * One of several names: chosen with the arrow keys or by typing part of it; typed in full where the terminal doesn't
   * support that.
   */
  readonly choose: (words: string, choices: readonly Choice[], suggestion: string) => Promise<string>;
  readonly close: () => void;
}

export interface Choice {
  readonly name: string;
  readonly title: string;
}

/** Asks on a terminal; an empty answer accepts the suggestion. Lines entered before a question are kept for it. */
export function createTerminalAsker(
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Asker {
  const open = () => {
    const reader = createInterface({ input, output });
    const opened = { reader, lines: reader[Symbol.asyncIterator](), isOver: false };
    // Lines entered before are still read.
    reader.once('close', () => Object.assign(opened, { isOver: true }));
    return opened;
  };
  let opened: ReturnType<typeof open> | null = null;
  const asker: Asker = {
    choose: async (words, choices, suggestion) => {
      if (input !== process.stdin) return asker.ask(listed(words, choices), suggestion, nameCheck(choices));
      // Otherwise both would read the input.
      opened?.reader.close();
      opened = null;
      return pick(words, choices, suggestion);
    },
    ask: async (words, suggestion, check = () => null) => {
      opened ??= open();
      const { reader, lines } = opened;
      const hint = suggestion === null || suggestion === '' ? '' : ` [${suggestion}]`;
      // The choices are shown only once.
      for (let question = words; ; question = lastLine(words)) {
        reader.setPrompt(`${question}${hint}: `);
        if (!opened.isOver) reader.prompt();
        const line = await lines.next();
        if (line.done === true) throw new UsageError(`No answer to "${lastLine(words)}".`);
        const answer = line.value.trim() === '' ? suggestion : line.value.trim();
        if (answer === null) continue;
        const fault = check(answer);
        if (fault === null) return answer;
        output.write(`  ${fault}\n`);
      }
    },
    close: () => opened?.reader.close(),
  };
  return asker;
}

/** If nobody can be asked, a question without a suggestion is a usage error. */
export function createSilentAsker(): Asker {
  const asker: Asker = {
    choose: (words, choices, suggestion) => asker.ask(listed(words, choices), suggestion, nameCheck(choices)),
    ask: async (words, suggestion, check = () => null) => {
      const fault = suggestion === null ? null : check(suggestion);
      if (fault !== null) throw new UsageError(`${lastLine(words)}: ${fault}`);
      if (suggestion !== null) return suggestion;
      throw new UsageError(`No answer to "${lastLine(words)}". Pass it with --set, or run pharos init in a terminal.`);
    },
    close: () => undefined,
  };
  return asker;
}

/** Typing filters the list by name and title. */
async function pick(words: string, choices: readonly Choice[], suggestion: string): Promise<string> {
  const { default: search } = await import('@inquirer/search');
  const shown = choices.toSorted((a, b) => Number(b.name === suggestion) - Number(a.name === suggestion));
  return search(
    {
      message: words,
      source: (typed) =>
        shown
          .filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes((typed ?? '').trim().toLowerCase()))
          .map(({ name, title }) => ({ value: name, name: `${name}: ${title}`, short: name })),
    },
    { output: process.stderr },
  );
}

function listed(words: string, choices: readonly Choice[]): string {
  return `${words}\n${choices.map(({ name, title }) => `  ${name}: ${title}`).join('\n')}\nKind`;
}

/** Rejects names that aren't among the choices. */
function nameCheck(choices: readonly Choice[]): AnswerCheck {
  const names = choices.map(({ name }) => name);
  return (text) =>
    names.includes(text)
      ? null
      : `Unknown kind "${text}". Use one of: ${names.join(', ')}.${didYouMean(text, new Set(names))}`;
}

/** The question without the list of choices. */
function lastLine(words: string): string {
  return words.slice(words.lastIndexOf('\n') + 1);
}
