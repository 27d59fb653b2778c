/** Ways to write an address so that one part of a server may read it otherwise than another; sent exactly as written. */

import { connect } from 'node:net';

type Pick = <T>(items: readonly T[]) => T;

const MUTATIONS: readonly ((path: string, pick: Pick) => string)[] = [
  (path, pick) => encodeOne(path, pick, pick([1, 1, 2, 3, 5, 10, 20])),
  (path, pick) => encodeAll(path, pick([1, 2, 3])),
  (path, pick) =>
    insertAtSlash(
      path,
      pick,
      pick(['/', '//', '/./', '/../', '/x/../', '/%2e/', '/%2e%2e/', '/.%2e/', '/..;/', '/;/']),
    ),
  (path, pick) =>
    insertAtSlash(
      path,
      pick,
      pick(['\\', '/\\', '%5c', '%255c', '%2f', '%252f', '%c0%af', '%e0%80%af', '%ef%bc%8f', '\uff0f', '\u2215']),
    ),
  (path, pick) =>
    path +
    pick([
      '/',
      '//',
      '.',
      '..',
      '%20',
      '%00',
      '%00.html',
      ';',
      ';x=y',
      '%3b',
      '?',
      '?x',
      '#',
      '%23',
      '%3f',
      '~',
      '.bak',
      '.br',
      '.gz',
      '.map',
      ',',
      '\u0000',
    ]),
  (path, pick) =>
    insertAnywhere(
      path,
      pick,
      pick([
        '%00',
        '%0a',
        '%0d%0a',
        '%09',
        '%20',
        '%7f',
        '%ff',
        '%',
        '%%',
        '%zz',
        '%u002e',
        '\u00ad',
        '\u200b',
        '\u202e',
        '\u0001',
        '\t',
        '\u00e9',
      ]),
    ),
  (path, pick) => flipCase(path, pick),
  (path, pick) =>
    pick([
      '/zq-open1/..',
      '/zq-open1/%2e%2e',
      '/zq-open1/;/..',
      '/-/..',
      '/-/health/..',
      '/%2e',
      '/x/..',
      '//',
      '/\\',
      '/.',
      '/site/private',
      '/releases',
      '/zq-open1/badges/..',
    ]) + path,
  (path, pick) =>
    pick([
      'http://127.0.0.1',
      'http://evil.test',
      'HTTP://localhost:80',
      'https://qhvault.example',
      '//evil.test',
      'http:',
      'file://',
      '*',
      'javascript:',
      '@',
      ':80',
    ]) + path,
  (path, pick) => path.replace(/-/g, pick(['%2d', '\u2010', '_', '--', '%E2%80%90'])),
  (path, pick) =>
    path.replace(/[a-z]/g, (letter) =>
      pick([0, 0, 0, 1]) === 1 ? String.fromCharCode(letter.charCodeAt(0) + 0xfee0) : letter,
    ),
  (path, pick) =>
    `${path}?${pick(['token', 'pw', 'password', 'session', 'cookie', 'preview', 'admin'])}=${pick(['1', 'true', 'null', 'A'.repeat(43), '%00', '__proto__'])}`,
  (path, pick) => path + 'a/'.repeat(pick([10, 500, 1_100])),
];

/** Lines that some servers believe more than the request line. */
const HEADERS: readonly string[] = [
  '',
  '',
  '',
  '',
  'X-Original-URL: /zq-vault/',
  'X-Rewrite-URL: /zq-vault/',
  'X-Forwarded-Host: qhvault.example',
  'X-Forwarded-Prefix: /zq-vault',
  'X-HTTP-Method-Override: GET',
  'X-Forwarded-For: 127.0.0.1',
  'Forwarded: host=qhvault.example',
  'Cookie: pharos=',
  'Cookie: __Host-pharos=x; pharos=x',
  'Authorization: Basic enE6eno=',
  'Accept-Encoding: br, gzip, zstd',
  'Range: bytes=0-',
];
const HOSTS: readonly string[] = [
  '127.0.0.1',
  '127.0.0.1',
  '127.0.0.1',
  'localhost',
  'qhvault.example',
  'QHVAULT.example.',
  'zq-vault',
  '[::1]',
  '127.0.0.1:1',
];
const METHODS: readonly string[] = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'TRACE', 'PROPFIND'];

/** `count` requests made of `paths`, one to four mutations each. The same seed gives the same requests. */
export function mutatedRequests(paths: readonly string[], count: number, seed: number): readonly string[] {
  const random = seeded(seed);
  const pick: Pick = (items) => items[Math.floor(random() * items.length)] as (typeof items)[number];
  return Array.from({ length: count }, () => {
    let path = pick(paths);
    for (let times = pick([1, 1, 2, 3, 4]); times > 0; times -= 1) path = pick(MUTATIONS)(path, pick);
    const extra = pick(HEADERS);
    // A line end would begin another line; what remains of a request line is up to the server.
    const line = path.replace(/[\r\n ]/g, '');
    return `${pick(METHODS)} ${line} HTTP/1.1\r\nHost: ${pick(HOSTS)}\r\n${extra === '' ? '' : `${extra}\r\n`}Content-Length: 0\r\n\r\n`;
  });
}

export interface RawAnswers {
  readonly statuses: readonly number[];
  /** Everything that came back, per connection. */
  readonly texts: readonly string[];
}

/** Sends requests as they are, many to a connection; where the server hangs up, the rest goes over a new one. */
export async function sendRaw(port: number, requests: readonly string[]): Promise<RawAnswers> {
  const statuses: number[] = [];
  const texts: string[] = [];
  for (let next = 0; next < requests.length; ) {
    const batch = requests.slice(next, next + 50);
    const text = await exchange(port, batch);
    const found = [...text.matchAll(/(?:^|\n|\}|>)HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    if (found.length === 0) throw new Error(`no answer to ${JSON.stringify(batch[0])}`);
    statuses.push(...found.slice(0, batch.length));
    texts.push(text);
    next += Math.min(found.length, batch.length);
  }
  return { statuses, texts };
}

function exchange(port: number, batch: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      const last = batch.at(-1)?.replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n') ?? '';
      socket.write([...batch.slice(0, -1), last].join(''));
    });
    socket.setTimeout(20_000, () => socket.destroy(new Error('the server did not answer')));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A server that hangs up in the middle of a batch resets what was sent after it.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

function encodeOne(path: string, pick: Pick, depth: number): string {
  const at = pick([...path].map((_, index) => index));
  return path.slice(0, at) + percent(path.charAt(at), depth) + path.slice(at + 1);
}

function encodeAll(path: string, depth: number): string {
  return `/${[...path.slice(1)].map((letter) => (letter === '/' ? letter : percent(letter, depth))).join('')}`;
}

function percent(text: string, depth: number): string {
  const first = [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  return depth <= 1 ? first : first.replace(/%/g, `%${'25'.repeat(depth - 1)}`);
}

function insertAtSlash(path: string, pick: Pick, text: string): string {
  const slashes = [...path].flatMap((letter, index) => (letter === '/' ? [index] : []));
  if (slashes.length === 0) return path + text;
  const at = pick(slashes);
  return path.slice(0, at) + text + path.slice(at + 1);
}

function insertAnywhere(path: string, pick: Pick, text: string): string {
  const at = pick([...path].map((_, index) => index));
  return path.slice(0, at) + text + path.slice(at);
}

function flipCase(path: string, pick: Pick): string {
  return [...path].map((letter) => (pick([0, 1]) === 1 ? letter.toUpperCase() : letter)).join('');
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
