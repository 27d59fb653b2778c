/**
 * A page as one encrypted file that only its password opens, for hosts without a server: encrypted here, decrypted in
 * the visitor's browser. docs/gates.md says what this protects and what it does not.
 */

import { hash, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { SealWords } from '../../model/access.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import { type RandomBytes, systemRandom } from '../digest.ts';

// The whole script and style of a sealed page, exactly as they appear in the file.

/**
 * Checks that the browser can decrypt, derives the key, decrypts, and replaces the document. The document's policy
 * stays in force, so the page inside may do no more than the file allows.
 */

const OPENER = `(() => {
  const form = document.getElementById('form');
  const field = document.getElementById('password');
  const said = document.getElementById('said');
  const [version, rounds, ...parts] = document.getElementById('sealed').textContent.split('.');
  const [salt, iv, sealed] = parts.map((part) => Uint8Array.from(atob(part), (byte) => byte.charCodeAt(0)));
  if (version !== '1' || !globalThis.crypto?.subtle || !globalThis.DecompressionStream) {
    said.textContent = said.dataset.noCrypto;
    return;
  }
  form.hidden = false;
  field.focus();
  const open = async (password) => {
    const typed = new TextEncoder().encode(password.normalize('NFKC'));
    const base = await crypto.subtle.importKey('raw', typed, 'PBKDF2', false, ['deriveKey']);
    const kind = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: Number(rounds) };
    const key = await crypto.subtle.deriveKey(kind, base, { name: 'AES-GCM', length: 256 }, false, ['decrypt']);
    const padded = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed);
    const packed = new Uint8Array(padded, 4, new DataView(padded).getUint32(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    field.removeAttribute('aria-invalid');
    said.textContent = said.dataset.working;
    let page;
    try {
      page = await open(field.value);
    } catch {
      said.textContent = said.dataset.wrong;
      field.setAttribute('aria-invalid', 'true');
      field.select();
      return;
    }
    document.open();
    document.write(page);
    document.close();
  });
})();`;

const SEAL_STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:24rem;margin:15vh auto;padding:0 1rem}' +
  'h1{font-size:1.25rem}label{display:block;margin:1rem 0 .25rem}input,button{font:inherit;padding:.5rem .75rem;box-sizing:border-box}' +
  'input{width:100%}button{margin-top:.75rem}';

/** The OWASP minimum for PBKDF2 with SHA-256. */
export const SEAL_ROUNDS = 600_000;
const SALT_BYTES = 16;
const IV_BYTES = 12;
/** Sizes are rounded up to this, to hide the real size. */
const PADDING_BYTES = 8_192;
const INLINE = /<(style|script)\b([^>]*)>([\s\S]*?)<\/\1>/g;
const POLICY = /<meta\s+http-equiv="?Content-Security-Policy"?\s+content="([^"]*)"\s*\/?>/i;

/**
 * Encrypts a rendered page: AES-256-GCM with a key derived from the password by PBKDF2, 600,000 rounds of SHA-256.
 *
 * Only styles and scripts that the page's own policy allows by hash work inside.
 *
 * @returns one HTML document that needs no other file and no server
 */
export async function sealPage(
  html: string,
  password: string,
  { words, random = systemRandom }: { readonly words: SealWords; readonly random?: RandomBytes },
): Promise<string> {
  const { page, hashes } = withOwnPolicy(html, random);
  const salt = Buffer.from(random(SALT_BYTES));
  const iv = Buffer.from(random(IV_BYTES));
  const key = await deriveKey(password, salt);
  const sealed = await webcrypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, await padded(page));
  const parts = [salt, iv, Buffer.from(sealed)].map((bytes) => bytes.toString('base64'));
  return writeDocument(words, hashes, `1.${SEAL_ROUNDS}.${parts.join('.')}`);
}

async function deriveKey(password: string, salt: Uint8Array<ArrayBuffer>): Promise<webcrypto.CryptoKey> {
  const typed = new TextEncoder().encode(password.normalize('NFKC'));
  const base = await webcrypto.subtle.importKey('raw', typed, 'PBKDF2', false, ['deriveKey']);
  return webcrypto.subtle.deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: SEAL_ROUNDS },
    base,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt'],
  );
}

/** Length, compressed page, zeros. */
async function padded(page: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = await promisify(gzip)(page, { level: 9 });
  const bytes = new Uint8Array(Math.ceil((4 + packed.length) / PADDING_BYTES) * PADDING_BYTES);
  new DataView(bytes.buffer).setUint32(0, packed.length);
  bytes.set(packed, 4);
  return bytes;
}

/**
 * The page's policy must be outside, where everybody can read it. A random comment is appended to each allowed style
 * and script, so that its hash reveals nothing about it.
 */
function withOwnPolicy(html: string, random: RandomBytes) {
  const allowed = new Set(POLICY.exec(html)?.[1]?.match(/sha256-[\w+/=]+/g));
  const hashes: Record<string, string[]> = { style: [], script: [] };
  const page = html.replace(POLICY, '').replace(INLINE, (whole, tag: string, attributes: string, content: string) => {
    if (!allowed.has(scriptHash(content))) return whole;
    const marked = `${content}\n/*${Buffer.from(random(SALT_BYTES)).toString('hex')}*/`;
    hashes[tag]?.push(`'${scriptHash(marked)}'`);
    return `<${tag}${attributes}>${marked}</${tag}>`;
  });
  return { page, hashes };
}

function writeDocument(words: SealWords, hashes: Readonly<Record<string, readonly string[]>>, sealed: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${[`'${scriptHash(OPENER)}'`, ...(hashes['script'] ?? [])].join(' ')}`,
    `style-src ${[`'${scriptHash(SEAL_STYLE)}'`, ...(hashes['style'] ?? [])].join(' ')}`,
    'img-src data:',
    "form-action 'none'",
    "base-uri 'none'",
  ].join(';');
  const say = (text: string): string => escapeMarkup(text);
  return `<!doctype html>
<html lang="${say(words.lang)}" dir="${words.dir}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex,nofollow"><meta name="referrer" content="no-referrer">
<title>${say(words.title)}</title><style>${SEAL_STYLE}</style></head>
<body><main><h1>${say(words.title)}</h1><noscript><p>${say(words.noScript)}</p></noscript>
<form id="form" hidden><label for="password">${say(words.label)}</label><input id="password" type="password" autocomplete="current-password" required aria-describedby="said"><button>${say(words.submit)}</button></form>
<p id="said" role="status" data-working="${say(words.working)}" data-wrong="${say(words.wrong)}" data-no-crypto="${say(words.noCrypto)}"></p></main>
<script type="application/octet-stream" id="sealed">${sealed}</script><script>${OPENER}</script></body></html>
`;
}

function scriptHash(content: string): string {
  return `sha256-${hash('sha256', content, 'base64')}`;
}
