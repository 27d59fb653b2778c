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
  /** Everything that came back, per request. */
  readonly texts: readonly string[];
}

const CONNECTIONS = 8;

/**
 * Sends requests as they are, over few connections, each after the answer to the one before: a server that finds
 * nonsense hangs up at once, and what came before it would be lost.
 */
export async function sendRaw(port: number, requests: readonly string[]): Promise<RawAnswers> {
  const texts: string[] = [];
  const work = requests.entries();
  const connection = async (): Promise<void> => {
    let wire = await openWire(port);
    for (const [index, request] of work) {
      texts[index] = await wire.ask(request);
      if (wire.isOver()) wire = await openWire(port);
    }
    wire.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { statuses: texts.map((text) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1])), texts };
}

interface Wire {
  readonly ask: (request: string) => Promise<string>;
  readonly isOver: () => boolean;
  readonly close: () => void;
}

function openWire(port: number): Promise<Wire> {
  return new Promise((opened, failed) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    let isOver = false;
    let waiting: { readonly request: string; readonly done: (answer: string) => void } | null = null;
    const settle = (): void => {
      if (waiting === null || !(isOver || isWhole(received, waiting.request))) return;
      const { done } = waiting;
      waiting = null;
      done(received);
      received = '';
    };
    socket.setEncoding('latin1');
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on('data', (text) => {
      received += String(text);
      settle();
    });
    // Hanging up on nonsense is an answer too; `close` follows.
    socket.on('error', (error) => failed(error));
    socket.on('close', () => {
      isOver = true;
      settle();
    });
    socket.on('connect', () =>
      opened({
        ask: (request) =>
          new Promise((done) => {
            waiting = { request, done };
            socket.write(request);
            settle();
          }),
        isOver: () => isOver || socket.readableEnded,
        close: () => socket.destroy(),
      }),
    );
  });
}

/** Whether an answer has come to its end, by its own word. */
function isWhole(text: string, request: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const head = text.slice(0, end).toLowerCase();
  if (/\r\nconnection: close/.test(head)) return false;
  if (request.startsWith('HEAD ') || /^http\/1\.1 (204|304)/.test(head)) return true;
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return text.endsWith('0\r\n\r\n');
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
