/** Turns a configuration file and the environment into a frozen `Config`, or into one error that lists all problems. */

import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type ConfigIssue, fileReason, isStatusError, StatusError } from '../errors.ts';
import { issueWords, leafIssues } from '../schema/issue-words.ts';
import { EMPTY, parseFile, toConfigIssue, withoutSecrets, withPlace } from './faults.ts';
import type { ConfigFile } from './file-schema.ts';
import { type Looks, type PublicFile, readLooks, readPublicFiles } from './own-files.ts';
import { createConfigSchema } from './rules.ts';
import type { ConnectorOptions } from './schema.ts';

export interface Config extends ConfigFile {
  /** The file it was read from; null for the sandbox. */
  readonly file: string | null;
  /** Every secret value in it, for redaction. */
  readonly secrets: ReadonlySet<string>;
  /** The contents of logos and style sheets. */
  readonly looks: Looks;
  readonly publicFiles: readonly PublicFile[];
}

interface ConfigSource {
  readonly text: string;
  /** For messages and for paths relative to it. */
  readonly file: string | null;
  readonly folder: string;
}

/** Reads the given file, or pharos.yaml in this folder; null if none was given and there is none. */
export function findConfig(named: string | undefined, folder: string): ConfigSource | null {
  const file = resolve(folder, named ?? 'pharos.yaml');
  if (named === undefined && !existsSync(file)) return null;
  try {
    const bytes = readFileSync(file);
    return { text: isUtf8(bytes) ? bytes.toString('utf8') : refuseEncoding(file, bytes), file, folder: dirname(file) };
  } catch (error) {
    if (isStatusError(error)) throw error;
    const message = `Can’t read the configuration ${file}: ${fileReason(error)}. Set its path with --config.`;
    const issues = [{ path: '', message: `cannot be read: ${fileReason(error)}` }];
    throw new StatusError({ code: 'CONFIG_INVALID', message, issues });
  }
}

/** In any other encoding, pages would show replacement characters. */
function refuseEncoding(file: string, bytes: Buffer): never {
  const lines = bytes.toString('latin1').split('\n');
  const line = lines.findIndex((text) => !isUtf8(Buffer.from(text, 'latin1'))) + 1;
  const message = 'this line is not UTF-8. Save the file in UTF-8, not in Latin-1 or UTF-16';
  throw invalid(file, [{ path: `line ${line}`, message }]);
}

/**
 * Parses and checks a configuration.
 *
 * @throws CONFIG_INVALID with every error: its path and line, what was expected, and what was found
 */
export function parseConfig(
  source: ConfigSource,
  connectors: readonly ConnectorOptions[],
  environment: Readonly<Record<string, string | undefined>>,
): Config {
  const document = parseFile(source);
  const raw: unknown = document.tree.toJS({ maxAliasCount: 100 }) ?? {};
  const { value, issues, secrets, secretPaths } = interpolate(raw, environment, source.folder);
  if (document.tree.contents === null) throw invalid(source.file, [{ path: '', message: EMPTY }]);
  const result = createConfigSchema(connectors).safeParse(value, { error: issueWords() });
  const refuse = (faults: readonly ConfigIssue[]): StatusError => {
    const masked = withoutSecrets(document, secretPaths);
    const placed = faults.map((issue) => withPlace(document, masked, issue));
    return invalid(source.file, placed);
  };
  if (!result.success || issues.length > 0) {
    const unresolved = new Set(issues.map((issue) => issue.path));
    const faults = (result.error?.issues ?? [])
      .flatMap(leafIssues)
      .map((issue) => toConfigIssue(issue, raw, secretPaths))
      .filter((issue) => !unresolved.has(issue.path));
    throw refuse([...issues, ...faults]);
  }
  const config = result.data;
  const { folder } = source;
  const faults: ConfigIssue[] = [];
  const looks = readLooks(config, folder, faults);
  const publicFiles = readPublicFiles(config, folder, faults);
  if (faults.length > 0) throw refuse(faults);
  const fileOptions = new Map(connectors.map(({ kind, fileOption }) => [kind, fileOption]));
  return Object.freeze({
    ...config,
    site: withPath(config.site, 'components', folder),
    looks,
    publicFiles,
    data: resolve(folder, config.data),
    output: withPath(config.output, 'folder', folder),
    upstreams: config.upstreams.map((upstream) => ({
      ...upstream,
      options: withPath(upstream.options as object, fileOptions.get(upstream.kind), folder),
    })),
    file: source.file,
    secrets,
  });
}

/** Resolves an option that is a path: it is relative to the configuration, not to the working directory. */
function withPath<T extends object>(options: T, option: string | undefined, folder: string): T {
  const path = option === undefined ? undefined : (options as Readonly<Record<string, unknown>>)[option];
  return option !== undefined && typeof path === 'string' ? { ...options, [option]: resolve(folder, path) } : options;
}

function invalid(file: string | null, issues: readonly ConfigIssue[]): StatusError {
  const where = file ?? 'the configuration';
  const list = issues.map(({ path, message, excerpt }) =>
    [`  ${path === '' ? '(document)' : path}: ${message}`, ...(excerpt === undefined ? [] : [excerpt])].join('\n'),
  );
  return new StatusError({
    code: 'CONFIG_INVALID',
    message: `${where} has ${issues.length === 1 ? 'an error' : `${issues.length} errors`}:\n${list.join('\n')}`,
    issues,
  });
}

// Replaces `${NAME}` and `${file:/path}` in a parsed document with their values.

const REFERENCE = /\$\{([^}]*)\}/g;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Keys of secrets, which must not be in the file in plain text. */
const SECRET_KEY =
  /^(password|apiKey|api_key|integration_key|token|bot_token|tokens|secret|secrets|client_secret|webhook_url|secretAccessKey|accessKeyId|sessionToken|smtp|authorization|x-api-key|x-svc-key|cookie)$/i;

const PLAIN_SECRET =
  'secrets must not be in this file. Use ${NAME} and set that environment variable, or use ${file:/path}';
/** Addresses that contain a password. */
const SECRET_PATHS: ReadonlySet<string> = new Set(['store.url']);

/** All values below these keys that come from a reference are kept out of the log. */
const HEADERS_KEY = /^headers$/i;

/** Whether the values below a key must not be in the file in plain text. */
export function isSecretKey(key: string, path: string): boolean {
  return (SECRET_KEY.test(key) && path !== 'operators.tokens') || SECRET_PATHS.has(path);
}

/**
 * Replaces references in all strings of `document`.
 *
 * @param folder what a relative `${file:…}` is relative to
 */
export function interpolate(
  document: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  folder: string,
) {
  const issues: ConfigIssue[] = [];
  const secrets = new Set<string>();
  const secretPaths = new Set<string>();

  function refuse(path: string, message: string): '' {
    issues.push({ path, message });
    return '';
  }

  function resolve(reference: string, path: string): string {
    if (reference.startsWith('file:')) {
      const name = reference.slice('file:'.length);
      const file = isAbsolute(name) ? name : join(folder, name);
      try {
        return readFileSync(file, 'utf8').trimEnd();
      } catch (error) {
        return refuse(path, `can’t read ${file}: ${fileReason(error)}`);
      }
    }
    if (!VARIABLE_NAME.test(reference)) return refuse(path, `\${${reference}} is neither \${NAME} nor \${file:/path}`);
    const words = `environment variable ${reference} is not set. Set it, or read the value from a file with \${file:/path}`;
    return environment[reference] || refuse(path, words);
  }

  function walk(value: unknown, path: string, isSecret: boolean, isInHeaders = false): unknown {
    if (isSecret && (value === null || typeof value !== 'object')) secretPaths.add(path);
    if (typeof value === 'string') {
      if (isSecret && value !== '' && !value.includes('${')) refuse(path, PLAIN_SECRET);
      return value.replace(REFERENCE, (_, reference: string) => {
        const resolved = resolve(reference, path);
        if ((isSecret || isInHeaders) && resolved !== '') secrets.add(resolved);
        return resolved;
      });
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, `${path}[${index}]`, isSecret, isInHeaders));
    if (value !== null && typeof value === 'object') {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => {
          const itemPath = path === '' ? key : `${path}.${key}`;
          // Headers can also be written as `{ key: Authorization, value: … }`.
          const name = isInHeaders && key === 'value' ? String((value as { key?: unknown }).key) : key;
          const hidden = isSecret || isSecretKey(name, itemPath);
          return [key, walk(item, itemPath, hidden, isInHeaders || HEADERS_KEY.test(key))];
        }),
      );
    }
    return value;
  }

  return { value: walk(document, '', false), issues, secrets, secretPaths };
}
