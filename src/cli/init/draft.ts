/** The text of a first configuration. */

import { stringify } from 'yaml';
import type { InitQuestion, Introduction } from '../../sync/connector.ts';

export interface Answers {
  readonly siteName: string;
  readonly siteUrl: string;
  /** Slug of the page at the root; null: not known yet. */
  readonly home: string | null;
  /** Folder of incidents written by hand, relative to the configuration; null: none. */
  readonly posts: string | null;
  /** Null: no upstream yet. */
  readonly upstream: {
    readonly id: string;
    readonly introduction: Introduction;
    /** By the key of its question; empty: left out. For secrets the name of the variable. */
    readonly options: ReadonlyMap<string, string>;
  } | null;
  /** Name of the variable with the operator token; null: operators have none. */
  readonly tokenVariable: string | null;
}

/** How often it is synced: every minute, unless something else decides how often it runs. */
const EVERY_MINUTE = '* * * * *';

/** What a first configuration says; the caller parses it before it is written. @param schema address or path for editors */
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

/** Where what is written by hand goes, beside an upstream or as the only one; null: nowhere. */
export function postsFolder({ posts, upstream }: Answers): string | null {
  return upstream?.introduction.example.kind === 'markdown' ? (upstream.options.get('path') ?? null) : posts;
}

const POSTS_ID = 'posts';
/** Where the upstream has that id already. */
const OTHER_POSTS_ID = 'own-posts';

/** Names of the environment variables that it takes its secrets from. */
export function listVariables({ upstream, tokenVariable }: Answers): string[] {
  const token = tokenVariable === null ? [] : [tokenVariable];
  if (upstream === null) return token;
  const { introduction, options } = upstream;
  const secrets = introduction.questions.filter((question) => exampleVariable(introduction, question) !== null);
  return [...secrets.map(({ key }) => options.get(key) ?? '').filter((name) => name !== ''), ...token];
}

/** The variable that the example takes this option from; null: the option is no secret. */
export function exampleVariable({ example }: Introduction, { key }: InitQuestion): string | null {
  return VARIABLE.exec(exampleValue(example, key))?.[1] ?? null;
}

const VARIABLE = /\$\{(\w+)\}/;

/** What the example has for an option, as text. `headers.Authorization` is nested, and `checks.url` is about the first check. */
export function exampleValue(example: Introduction['example'], key: string): string {
  const [outer = '', inner] = key.split('.');
  const value = firstValue(example[outer]);
  return String(inner === undefined ? value : (value as Readonly<Record<string, unknown>> | undefined)?.[inner]);
}

function firstValue(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

/** What an option becomes with an answer to its question. A check is called after its host. */
export function answeredOption(
  { example }: Introduction,
  key: string,
  value: string,
): Readonly<Record<string, unknown>> {
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
