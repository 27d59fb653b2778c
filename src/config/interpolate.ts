/** Replaces `${NAME}` and `${file:/path}` in a parsed document with their values. */

import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { type ConfigIssue, fileReason } from '../errors.ts';

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
