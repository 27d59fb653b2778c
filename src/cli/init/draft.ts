/** Writes the text of a first configuration. */

import { stringify } from 'yaml';
import type { InitQuestion, Introduction } from '../../sync/connector.ts';

export interface Answers {
  readonly siteName: string;
  readonly siteUrl: string;
  /** Slug of the page at the root; null: not known yet. */
  readonly home: string | null;
  /** Folder of posts, relative to the configuration; null: none. */
  readonly posts: string | null;
  /** Null: no upstream yet. */
  readonly upstream: {
    readonly id: string;
    readonly introduction: Introduction;
    /** By key; empty: left out. For secrets, the name of the variable. */
    readonly options: ReadonlyMap<string, string>;
  } | null;
  /** Name of the variable with the operator token; null: there is none. */
  readonly tokenVariable: string | null;
}

/** The schedule of syncs, unless something else decides when Pharos runs. */
const EVERY_MINUTE = '* * * * *';

/** Writes a first configuration; the caller parses it before saving. @param schema address or path for editors */
export function writeDraft(answers: Answers, schema: string, schedule: string = EVERY_MINUTE): string {
  const { siteName, siteUrl, home, posts, upstream, tokenVariable } = answers;
  const upstreams = [
    ...(upstream === null ? [] : [upstreamDraft(upstream)]),
    ...(posts === null
      ? []
      : [{ id: upstream?.id === POSTS_ID ? OTHER_POSTS_ID : POSTS_ID, kind: 'markdown', path: posts }]),
  ];
  const part = (value: unknown): string => stringify(value, { lineWidth: 0 }).trimEnd();
  return [
    `# yaml-language-server: $schema=${schema}`,
    '# Secrets come from the environment, ${NAME}, or a file, ${file:/run/secrets/name}; docs/configuration.md lists every key.',
    '',
    part({ site: { url: siteUrl, name: siteName, ...(home === null ? {} : { home }), timezone: 'UTC', locale: 'en' } }),
    '',
    '# When to sync upstreams: cron in UTC. Each upstream can have its own schedule.',
    part({ schedule }),
    '',
    part({ upstreams }),
    '',
    '# Without pages, one public page shows every monitor. Example of your own page:',
    '# pages:',
    '#   - slug: example',
    '#     title: Example',
    '#     components:',
    `#       - { type: monitor, monitor: ${upstream?.id ?? 'edge'}/1, name: API }`,
    '#       - { type: static, name: Support desk }',
    '',
    ...(tokenVariable === null ? [] : [part({ operators: { token: referenceTo(tokenVariable) } }), '']),
  ].join('\n');
}

/** The folder of posts, next to an upstream or as the only one; null: none. */
export function postsFolder({ posts, upstream }: Answers): string | null {
  return upstream?.introduction.example.kind === 'markdown' ? (upstream.options.get('path') ?? null) : posts;
}

const POSTS_ID = 'posts';
/** Used if the upstream already has the usual id. */
const OTHER_POSTS_ID = 'own-posts';

/** Names of the environment variables with its secrets. */
export function listVariables({ upstream, tokenVariable }: Answers): string[] {
  const token = tokenVariable === null ? [] : [tokenVariable];
  if (upstream === null) return token;
  const { introduction, options } = upstream;
  const secrets = introduction.questions.filter((question) => exampleVariable(introduction, question) !== null);
  return [...secrets.map(({ key }) => options.get(key) ?? '').filter((name) => name !== ''), ...token];
}

/** The variable of this option in the example; null: the option isn't a secret. */
export function exampleVariable({ example }: Introduction, { key }: InitQuestion): string | null {
  return VARIABLE.exec(exampleValue(example, key))?.[1] ?? null;
}

const VARIABLE = /\$\{(\w+)\}/;

/** The example's value of an option, as text. `headers.Authorization` is nested, and `checks.url` belongs to the first check. */
export function exampleValue(example: Introduction['example'], key: string): string {
  const [outer = '', inner] = key.split('.');
  const value = [example[outer]].flat()[0];
  return String(inner === undefined ? value : (value as Readonly<Record<string, unknown>> | undefined)?.[inner]);
}

/** Turns an answer into an option. A check is named after its host. */
export function answeredOption({ example }: Introduction, key: string, value: string) {
  const [outer = '', inner] = key.split('.');
  if (inner === undefined) return { [outer]: value };
  const list = example[outer];
  if (!Array.isArray(list)) return { [outer]: { [inner]: value } };
  return { [outer]: [{ ...(list[0] as object), name: URL.parse(value)?.hostname ?? value, [inner]: value }] };
}

function upstreamDraft({ id, introduction, options }: NonNullable<Answers['upstream']>): Record<string, unknown> {
  const { example, questions } = introduction;
  const made: Record<string, unknown> = { id, kind: example.kind };
  for (const question of questions) {
    const answer = options.get(question.key) ?? '';
    if (answer === '') continue;
    const isSecret = exampleVariable(introduction, question) !== null;
    const value = isSecret ? exampleValue(example, question.key).replace(VARIABLE, () => referenceTo(answer)) : answer;
    Object.assign(made, answeredOption(introduction, question.key, value));
  }
  return made;
}

function referenceTo(variable: string): string {
  return `\${${variable}}`;
}
