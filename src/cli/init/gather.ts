/** What is asked for a first configuration. Each answer is checked as it is given. */

import { didYouMean } from '../../schema/nearest.ts';
import type { Introduction } from '../../sync/connector.ts';
import { CONNECTORS } from '../../sync/connectors/index.ts';
import { UsageError } from '../terminal/exit.ts';
import type { AnswerCheck, Asker } from './asker.ts';
import { faultOfSite, faultOfUpstream } from './check-answer.ts';
import { type Answers, variableOf } from './draft.ts';

/** What the command line answers already. */
export interface Given {
  readonly name?: string;
  readonly url?: string;
  readonly kind?: string;
  readonly id?: string;
  readonly posts?: string;
  /** Options of the upstream by their keys. */
  readonly set: ReadonlyMap<string, string>;
}

export interface Gathering {
  readonly asker: Asker;
  /** Nobody is there to ask. */
  readonly isSilent: boolean;
  /** Answers of a round before, which are suggested; null: there was none. */
  readonly before: Answers | null;
}

type Upstream = NonNullable<Answers['upstream']>;

const NONE = 'none';
const POSTS_FOLDER = 'posts';

/** @throws UsageError for what the command line answers wrongly, or nobody answers */
export async function gather(given: Given, gathering: Gathering): Promise<Answers> {
  const { before, isSilent } = gathering;
  const siteName = await answer(gathering, 'Name of the site', {
    option: '--name',
    given: given.name,
    suggestion: before?.siteName ?? 'Status',
    check: (text) => faultOfSite('name', text),
  });
  const siteUrl = await answer(gathering, 'Public address', {
    option: '--url',
    given: given.url,
    suggestion: before?.siteUrl ?? 'http://127.0.0.1:4321',
    check: (text) => faultOfSite('url', text),
  });
  const kinds = [...CONNECTORS.map(({ kind }) => kind), NONE];
  const offered = CONNECTORS.map(({ kind, title }) => `  ${kind}: ${title}`).join('\n');
  const kind = await answer(
    gathering,
    `Which upstream do you want to monitor?\n${offered}\n  ${NONE}: none yet\nKind`,
    {
      option: '--kind',
      given: given.kind,
      suggestion: before?.upstream?.introduction.example.kind ?? (isSilent ? NONE : (kinds[0] ?? NONE)),
      check: (text) =>
        kinds.includes(text)
          ? null
          : `Unknown kind "${text}". Use one of: ${kinds.join(', ')}.${didYouMean(text, new Set(kinds))}`,
    },
  );
  const found = CONNECTORS.find((known) => known.kind === kind);
  const upstream = found === undefined ? null : await gatherUpstream(found, given, gathering);
  const posts =
    kind === 'markdown'
      ? NONE
      : await answer(gathering, `Folder for incidents that you write by hand (${NONE}: no folder)`, {
          option: '--posts',
          given: given.posts,
          suggestion: before === null ? (isSilent ? NONE : POSTS_FOLDER) : (before.posts ?? NONE),
          check: (text) =>
            /^[\w-][\w.-]*$/.test(text)
              ? null
              : 'Give the name of a folder next to the configuration: only letters, digits and - _ .',
        });
  return {
    siteName,
    siteUrl,
    home: null,
    posts: posts === NONE ? null : posts,
    upstream,
    tokenVariable: 'PHAROS_TOKEN',
  };
}

interface Question {
  /** Which option of the command line answers it. */
  readonly option: string;
  readonly given: string | undefined;
  /** Null: there must be an answer. */
  readonly suggestion: string | null;
  readonly check: AnswerCheck;
}

/** In a second round a wrong answer of the command line may be changed like any other. */
async function answer(
  { asker, before }: Gathering,
  words: string,
  { option, given, suggestion, check }: Question,
): Promise<string> {
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
  const id = await answer(gathering, 'Id for this upstream (part of its monitors’ ids)', {
    option: '--id',
    given: given.id,
    suggestion: same?.id ?? example.id,
    check: (text) => faultOfUpstream('id', { ...example, id: text }),
  });
  const options = new Map<string, string>();
  for (const question of questions) {
    const { key, words, suggestion = null } = question;
    const variable = variableOf(introduction, question);
    const text = await answer(gathering, words, {
      option: `--set ${key}=`,
      given: given.set.get(key),
      suggestion: same?.options.get(key) ?? (suggestion === '' ? '' : (variable ?? suggestion)),
      check: (answered) => {
        if (answered === '' && (variable === null || suggestion === '')) return null;
        return variable === null
          ? faultOfUpstream(key, { ...plain(introduction), [key]: answered })
          : faultOfVariable(answered);
      },
    });
    options.set(key, text);
  }
  return { id, introduction, options };
}

/** The example, with values in place of its variables. */
function plain({ example }: Introduction): Readonly<Record<string, unknown>> {
  return JSON.parse(JSON.stringify(example).replaceAll(/\$\{\w+\}/g, 'value')) as Record<string, unknown>;
}

function faultOfVariable(text: string): string | null {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
    ? null
    : 'Give the name of an environment variable (letters, digits and _), not the secret itself.';
}
