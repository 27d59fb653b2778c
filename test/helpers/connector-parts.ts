/** What belongs to a kind of upstream besides its code, and what of it is missing, in sentences that say where it goes. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { exampleValue, exampleVariable, writeDraft } from '../../src/cli/init/draft.ts';
import { parseConfig } from '../../src/config/load.ts';
import { messageOf } from '../../src/errors.ts';
import type { AnyConnector } from '../../src/sync/connectors/index.ts';
import { SANDBOXES } from '../sandbox/kinds/index.ts';
import { codeBlocks, ROOT } from './documents.ts';
import { contextOf, drive } from './drive.ts';
import { loadCases, respondWith, walk } from './upstream-cases.ts';

const CONNECTORS_FOLDER = 'src/sync/connectors';
const DOCUMENTS_FOLDER = 'docs/upstreams';
const CASES_FOLDER = 'test/fixtures/upstream';

/** Everything that a kind lacks; empty when it is whole. */
export function missingParts(connector: AnyConnector): string[] {
  return [
    ...missingFiles(connector),
    ...faultsOfExample(connector),
    ...faultsOfQuestions(connector),
    ...missingCases(connector),
    ...missingInDocument(connector),
    ...missingInSandbox(connector),
  ];
}

function missingFiles({ kind, checks }: AnyConnector): string[] {
  // What results of checks mean is the same for every kind that has some.
  return ['connector.ts', ...(checks === undefined ? ['project.ts'] : [])]
    .map((file) => `${CONNECTORS_FOLDER}/${kind}/${file}`)
    .filter((path) => !existsSync(join(ROOT, path)))
    .map((path) => `${path} is missing: a connector keeps everything of its kind in a folder of that name.`);
}

function faultsOfExample(connector: AnyConnector): string[] {
  const { kind, title, example } = connector;
  const place = `${CONNECTORS_FOLDER}/${kind}/connector.ts`;
  const fault = faultOfConfig(stringify({ site: SITE, upstreams: [example] }), connector);
  return [
    ...(title.trim() === '' ? [`${place}: the title is empty; it says in a few words what ${kind} reads.`] : []),
    ...(example.kind === kind ? [] : [`${place}: the example is of the kind ${example.kind}.`]),
    ...(fault === null ? [] : [`${place}: the example is no configuration: ${fault}`]),
  ];
}

/** `pharos init` has to come out with a configuration, and to ask for everything that there is no default for. */
function faultsOfQuestions(connector: AnyConnector): string[] {
  const { kind, example, questions } = connector;
  const place = `${CONNECTORS_FOLDER}/${kind}/connector.ts`;
  const { properties, required = [] } = optionsOf(connector);
  const asked = questions.map(({ key }) => key.split('.')[0] ?? '');
  const faults = [
    ...required.filter((key) => !asked.includes(key)).map((key) => `there is no question for ${key}, which is needed`),
    ...asked.filter((key) => !(key in properties)).map((key) => `a question is about ${key}, which is no option`),
    ...asked.filter((key) => !(key in example)).map((key) => `the example has no ${key}, of which a question is`),
  ];
  if (faults.length === 0) {
    const options = new Map(
      questions.map((question) => {
        const answer = exampleVariable(connector, question) ?? exampleValue(example, question.key);
        return [question.key, answer];
      }),
    );
    const upstream = { id: example.id, introduction: connector, options };
    const text = writeDraft(
      { siteName: 'Status', home: null, posts: null, siteUrl: SITE.url, upstream, tokenVariable: 'PHAROS_TOKEN' },
      'x',
    );
    const fault = faultOfConfig(text, connector);
    if (fault !== null) faults.push(`the answers of the example make no configuration: ${fault}`);
  }
  return faults.map((fault) => `${place}: ${fault}.`);
}

function missingCases({ kind, words }: AnyConnector): string[] {
  const place = `${CASES_FOLDER}/${kind}`;
  const cases = loadCases(kind);
  if (cases.length === 0)
    return [`${place} has no ok-*.json: answers of the upstream, by which the contract tests know what it says.`];
  const fields = new Set(cases.flatMap(({ answers }) => [...walk(answers)].map(({ path }) => path.at(-1))));
  return Object.keys(words)
    .filter((field) => !fields.has(field))
    .map(
      (field) => `${place}: no answer has the field ${field}, so nobody sees what becomes of an unknown word in it.`,
    );
}

function missingInDocument(connector: AnyConnector): string[] {
  const { kind } = connector;
  const path = `${DOCUMENTS_FOLDER}/${kind}.md`;
  if (!existsSync(join(ROOT, path)))
    return [`${path} is missing: describe a configuration, the options, the requests, the states and known quirks.`];
  const text = readFileSync(join(ROOT, path), 'utf8');
  const hasEntry = codeBlocks({ path, text }).some((block) => block.text.includes(`kind: ${kind}`));
  return [
    ...(hasEntry ? [] : [`${path} shows no configuration with kind: ${kind}.`]),
    ...(text.includes('\n## Fixtures\n') ? [] : [`${path} has no heading "Fixtures": say what they come from.`]),
    ...(readFileSync(join(ROOT, 'docs/README.md'), 'utf8').includes(`upstreams/${kind}.md`)
      ? []
      : [`docs/README.md has no line with a link to upstreams/${kind}.md.`]),
    ...Object.keys(optionsOf(connector).properties)
      .filter((option) => !text.includes(`\`${option}\``))
      .map((option) => `${path} does not explain the option \`${option}\`.`),
  ];
}

/** A connector says that its past has been read (`isBackfilled`). Some case must bring one, or the document say that there is none. */
export async function missingPast(connector: AnyConnector): Promise<string[]> {
  const { kind } = connector;
  const path = `${DOCUMENTS_FOLDER}/${kind}.md`;
  const text = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '';
  if (/history begins with the first pass/.test(text)) return [];
  let claims = false;
  for (const { options, answers } of loadCases(kind)) {
    const pull = connector.pull(connector.optionsSchema.parse(options), contextOf());
    const { details, incidents, isBackfilled } = (await drive(pull, respondWith(answers))).result;
    const hasSpans = details.some(({ reportedSpans, reportedDays }) => reportedSpans.length + reportedDays.length > 0);
    if (hasSpans || incidents.some(({ endedAt }) => endedAt !== null)) return [];
    claims ||= isBackfilled;
  }
  return claims
    ? [
        `${CONNECTORS_FOLDER}/${kind}/connector.ts: isBackfilled says that the past has been read, and no case brings any. Read it, or say in ${path}: history begins with the first pass.`,
      ]
    : [];
}

/** What only reads files needs no upstream to try it against. */
function missingInSandbox({ kind, fileOption }: AnyConnector): string[] {
  const asked = loadCases(kind).flatMap(({ answers }) => Object.keys(answers));
  const isOnlyStored = asked.length > 0 && asked.every((key) => key.startsWith('GET checks/'));
  const isOnlyFiles = fileOption !== undefined && asked.every((key) => key === 'FILE');
  if (isOnlyFiles || isOnlyStored || SANDBOXES.some(({ connector }) => connector.kind === kind)) return [];
  return [
    `test/sandbox/kinds/${kind}.ts is missing, or its line in test/sandbox/kinds/index.ts: a local upstream, for the tests of faults.`,
  ];
}

/** Of all kinds together: where each fact of their documents is used. */
const FACTS = `${DOCUMENTS_FOLDER}/facts`;

/** Folders and documents that are of no registered kind. */
export function partsWithoutKind(kinds: readonly string[]): string[] {
  const namesIn = (folder: string): readonly string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || (folder === DOCUMENTS_FOLDER && entry.name.endsWith('.md')))
      .map((entry) => entry.name.replace(/\.md$/, ''));
  return [CONNECTORS_FOLDER, DOCUMENTS_FOLDER, CASES_FOLDER].flatMap((folder) =>
    namesIn(folder)
      .filter((name) => !kinds.includes(name) && `${folder}/${name}` !== FACTS)
      .map((name) => `${folder} has ${name}, which is no kind: name its connector in ${CONNECTORS_FOLDER}/index.ts.`),
  );
}

const SITE = { url: 'https://status.example.com' };

/** What is wrong with a configuration of this one kind; null: nothing. Variables have a value. */
function faultOfConfig(text: string, connector: AnyConnector): string | null {
  const variables = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'value']);
  try {
    parseConfig({ text, file: null, folder: ROOT }, [connector], Object.fromEntries(variables));
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

function optionsOf({ optionsSchema }: AnyConnector): {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
} {
  const schema = z.toJSONSchema(optionsSchema as z.ZodType, { io: 'input', unrepresentable: 'any' });
  return schema as ReturnType<typeof optionsOf>;
}
