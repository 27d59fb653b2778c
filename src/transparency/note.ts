/**
 * Signed notes and checkpoints of logs, as C2SP defines them (signed-note, tlog-checkpoint, tlog-cosignature), with Ed25519. Pure:
 * keys come in as arguments. Tools of others read the same files.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** Algorithms of the format: a signature, and one of a witness with the time at which it signed. */
const SIGNATURE = 1;
const COSIGNATURE = 4;
const DASH = '— ';

/** A key that signs; its name appears in signatures. */
export interface SigningKey {
  readonly name: string;
  readonly privateKey: KeyObject;
}

/** A key that a signature is checked with. */
export interface VerifierKey {
  readonly name: string;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

/** A new private key, as PEM. */
export function generateKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Reads a private key from PEM. Null: it isn't an Ed25519 key. */
export function readSigningKey(name: string, pem: string): SigningKey | null {
  try {
    const privateKey = createPrivateKey(pem);
    return privateKey.asymmetricKeyType === 'ed25519' ? { name, privateKey } : null;
  } catch {
    return null;
  }
}

/** The public part of a key, as signed notes write it: name, hash and key, joined by `+`. */
export function formatKey(key: SigningKey): string {
  return formatted.getOrInsertComputed(key, ({ name, privateKey }) => {
    const publicKey = rawPublicKey(privateKey);
    const id = keyId({ name, publicKey }, SIGNATURE).toString('hex');
    return `${name}+${id}+${Buffer.concat([Buffer.of(SIGNATURE), publicKey]).toString('base64')}`;
  });
}

/** Each release needs the one of its key. */
const formatted = new WeakMap<SigningKey, string>();

/** Reads what `formatKey` wrote. Null: it isn't a key, or its parts don't belong together. */
export function parseKey(text: string): VerifierKey | null {
  const [, name, id, data] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  const bytes = Buffer.from(data ?? '', 'base64');
  if (name === undefined || bytes.length !== 33 || bytes[0] !== SIGNATURE) return null;
  const key = { name, publicKey: bytes.subarray(1) };
  return keyId(key, SIGNATURE).toString('hex') === id ? key : null;
}

/** Adds signatures to a text that ends with a line break. */
export function signNote(text: string, keys: readonly SigningKey[]): string {
  const lines = keys.map((key) => signatureLine(key, SIGNATURE, sign(null, Buffer.from(text), key.privateKey)));
  return `${text}\n${lines.join('')}`;
}

/** The line with which a witness signs what it saw at a time (Unix seconds). */
export function cosignNote(note: string, key: SigningKey, time: number): string {
  const at = Buffer.alloc(8);
  at.writeBigUInt64BE(BigInt(time));
  const signature = sign(null, Buffer.from(cosignedText(noteText(note) ?? '', time)), key.privateKey);
  return signatureLine(key, COSIGNATURE, Buffer.concat([at, signature]));
}

/** The text of a note, without its signatures. Null: it isn't a note. */
function noteText(note: string): string | null {
  const end = note.lastIndexOf('\n\n');
  return end === -1 ? null : note.slice(0, end + 1);
}

/** Whether a key signed a note. */
export function isSignedBy(note: string, key: VerifierKey): boolean {
  return signatures(note, key, SIGNATURE).some((signature) => isValid(noteText(note) ?? '', signature, key));
}

/** The time (Unix seconds) at which a witness signed a note; null: it didn't. */
export function cosignedAt(note: string, key: VerifierKey): number | null {
  for (const blob of signatures(note, key, COSIGNATURE)) {
    if (blob.length !== 72) continue;
    const time = Number(blob.readBigUInt64BE(0));
    if (isValid(cosignedText(noteText(note) ?? '', time), blob.subarray(8), key)) return time;
  }
  return null;
}

/**
 * What a log has committed to. `origin` names it: host, path and era of the page. It has `size` lines;
 * `root` is that of the tree over them, as base64. `release` is the SHA-256 of the list of files of the release that it came with,
 * in hex, and `at` the instant of that release, ISO 8601.
 */
export type Checkpoint = NonNullable<ReturnType<typeof parseCheckpoint>>;

/** A checkpoint as text, to be signed. The release is in a line of its own after those of the format. */
export function formatCheckpoint({ origin, size, root, release, at }: Checkpoint): string {
  return `${origin}\n${size}\n${root}\nrelease ${release} ${at}\n`;
}

/** Reads the text of a checkpoint. Null: it isn't one. */
export function parseCheckpoint(note: string) {
  const pattern =
    /^([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\nrelease ([0-9a-f]{64}) ([0-9TZ:.-]{20,24})\n$/;
  const [, origin = '', size, root = '', release = '', at = ''] = pattern.exec(noteText(note) ?? '') ?? [];
  return size === undefined ? null : { origin, size: Number(size), root, release, at };
}

function cosignedText(text: string, time: number): string {
  return `cosignature/v1\ntime ${time}\n${text}`;
}

function signatureLine({ name, privateKey }: SigningKey, algorithm: number, signature: Buffer): string {
  const id = keyId({ name, publicKey: rawPublicKey(privateKey) }, algorithm);
  return `${DASH}${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;
}

/** What a key signed with an algorithm, without the hash of the key. */
function signatures(note: string, key: VerifierKey, algorithm: number): Buffer[] {
  const id = keyId(key, algorithm);
  return note
    .slice((noteText(note) ?? note).length + 1)
    .split('\n')
    .filter((line) => line.startsWith(`${DASH}${key.name} `))
    .map((line) => Buffer.from(line.slice(DASH.length + key.name.length + 1), 'base64'))
    .filter((blob) => blob.subarray(0, 4).equals(id))
    .map((blob) => blob.subarray(4));
}

/** Whether a key signed a text. */
export function isValid(text: string, signature: Buffer, { publicKey }: VerifierKey): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  return verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: 'jwk' }), signature);
}

function keyId({ name, publicKey }: VerifierKey, algorithm: number): Buffer {
  const about = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(algorithm), publicKey]);
  return hash('sha256', about, 'buffer').subarray(0, 4);
}

function rawPublicKey(privateKey: KeyObject): Buffer {
  return Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '', 'base64url');
}
