/** The text of a first configuration. */

import { stringify } from 'yaml';
import type { KindQuestions } from './questions.ts';

export interface Answers {
  readonly siteName: string;
  readonly siteUrl: string;
  /** Null: no upstream yet. */
  readonly upstream: {
    readonly id: string;
    readonly kind: KindQuestions;
    /** By the key of its question; empty: left out. For secrets the name of the variable. */
    readonly options: ReadonlyMap<string, string>;
  } | null;
  /** Name of the variable with the operator token. */
  readonly tokenVariable: string;
}

/** What a first configuration says; the caller parses it before it is written. @param schema address or path for editors */
export function draftOf(answers: Answers, schema: string): string {
  const { siteName, siteUrl, upstream, tokenVariable } = answers;
  const part = (value: unknown): string => stringify(value, { lineWidth: 0 }).trimEnd();
  return [
    `# yaml-language-server: $schema=${schema}`,
    '# Secrets come from the environment, ${NAME}, or a file, ${file:/run/secrets/name}; docs/configuration.md lists every key.',
    '',
    part({ site: { url: siteUrl, name: siteName, timezone: 'UTC', locale: 'en' } }),
    '',
    '# When upstreams are asked: cron in UTC; may be set per upstream.',
    part({ schedule: '* * * * *' }),
    '',
    part({ upstreams: upstream === null ? [] : [upstreamDraft(upstream)] }),
    '',
    '# Without pages, one public page shows every monitor. A page of your own:',
    '# pages:',
    '#   - slug: example',
    '#     title: Example',
    '#     components:',
    `#       - { type: monitor, monitor: ${upstream?.id ?? 'edge'}/1, name: API }`,
    '#       - { type: static, name: Support desk }',
    '',
    part({ operators: { token: referenceTo(tokenVariable) } }),
    '',
  ].join('\n');
}

/** Names of the environment variables that it takes its secrets from. */
export function variablesOf({ upstream, tokenVariable }: Answers): string[] {
  const secrets = upstream?.kind.options.filter(({ takes }) => takes === 'secret') ?? [];
  return [...secrets.map(({ key }) => upstream?.options.get(key) ?? ''), tokenVariable];
}

function upstreamDraft({ id, kind, options }: NonNullable<Answers['upstream']>): Record<string, unknown> {
  const made: Record<string, unknown> = { id, kind: kind.kind };
  for (const { key, takes, template = (reference: string) => reference } of kind.options) {
    const answer = options.get(key) ?? '';
    if (answer === '') continue;
    const value = takes === 'secret' ? template(referenceTo(answer)) : answer;
    const [outer = key, inner] = key.split('.');
    made[outer] = inner === undefined ? value : { [inner]: value };
  }
  return made;
}

function referenceTo(variable: string): string {
  return `\${${variable}}`;
}
