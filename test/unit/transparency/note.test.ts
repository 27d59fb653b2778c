import { generateKeyPairSync, hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growTree, rootAfter, treeRoot } from '../../../src/transparency/entries.ts';
import {
  cosignedAt,
  cosignNote,
  formatCheckpoint,
  formatKey,
  generateKey,
  isSignedBy,
  parseCheckpoint,
  parseKey,
  readSigningKey,
  signNote,
  type VerifierKey,
} from '../../../src/transparency/note.ts';
import { TEST_KEY, testKey } from '../../helpers/page-log.ts';

const verifier = (key = TEST_KEY): VerifierKey => {
  const parsed = parseKey(formatKey(key));
  if (parsed === null) throw new Error('not a key');
  return parsed;
};

const CHECKPOINT = {
  origin: 'status.example.com/acme',
  size: 3,
  root: Buffer.alloc(32, 7).toString('base64'),
  release: 'ab'.repeat(32),
  at: '2026-11-23T10:00:00.000Z',
};

describe('signed notes', () => {
  it('are accepted under the key that signed them, and under no other', () => {
    const note = signNote(formatCheckpoint(CHECKPOINT), [TEST_KEY]);
    expect(isSignedBy(note, verifier())).toBe(true);
    expect(isSignedBy(note, verifier(testKey()))).toBe(false);
    expect(isSignedBy(note, { ...verifier(), name: 'other.example.com' })).toBe(false);
    expect(parseCheckpoint(note)).toEqual(CHECKPOINT);
  });

  it('are refused after any change of one byte of their text', () => {
    const note = signNote(formatCheckpoint(CHECKPOINT), [TEST_KEY]);
    const text = formatCheckpoint(CHECKPOINT);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const bytes = Buffer.from(note);
        bytes[at] = (bytes[at] ?? 0) ^ by;
        expect(isSignedBy(bytes.toString('latin1'), verifier())).toBe(false);
      }),
    );
  });

  it('are those of others: a note and a key from the documentation of Go’s package for notes', () => {
    const key = parseKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
    const note =
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
      '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
    expect(key?.name).toBe('PeterNeumann');
    expect(key !== null && isSignedBy(note, key)).toBe(true);
    expect(key !== null && isSignedBy(note.replace('problem is', 'answer is'), key)).toBe(false);
  });

  it('can be signed by witnesses, at a time', () => {
    const note = signNote(formatCheckpoint(CHECKPOINT), [TEST_KEY]);
    const witness = testKey('witness.example.org');
    const cosigned = note + cosignNote(note, witness, 1_795_000_000);
    expect(cosignedAt(cosigned, verifier(witness))).toBe(1_795_000_000);
    expect(cosignedAt(cosigned, verifier())).toBeNull();
    expect(isSignedBy(cosigned, verifier())).toBe(true);
    expect(isSignedBy(cosigned, verifier(witness))).toBe(false);
    expect(cosignedAt(cosigned.replace('acme', 'evil'), verifier(witness))).toBeNull();
  });

  it.each(['', 'x', 'name+00000000+AAAA', 'a b+00000000+AAAA'])('read no key from %j', (text) => {
    expect(parseKey(text)).toBeNull();
  });

  it('read only Ed25519 private keys', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(readSigningKey('x', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())).toBeNull();
    expect(readSigningKey('x', 'no key')).toBeNull();
    expect(readSigningKey('x', generateKey())).not.toBeNull();
  });
});

describe('the tree of RFC 6962', () => {
  const LINES = Array.from({ length: 70 }, (_, n) => `line ${n}`);

  /** As the RFC defines it, without any shortcut. */
  const slowly = (lines: readonly string[]): Buffer => {
    if (lines.length === 0) return hash('sha256', '', 'buffer');
    if (lines.length === 1) return hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(lines[0] ?? '')]), 'buffer');
    let left = 1;
    while (left * 2 < lines.length) left *= 2;
    return hash(
      'sha256',
      Buffer.concat([Buffer.of(1), slowly(lines.slice(0, left)), slowly(lines.slice(left))]),
      'buffer',
    );
  };

  it('has the same root however it was grown', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 9 }), (steps) => {
        let frontier: readonly string[] = [];
        let size = 0;
        for (const step of steps) {
          const more = LINES.slice(size, size + step);
          frontier = growTree(frontier, size, more);
          size += more.length;
        }
        expect(treeRoot(frontier)).toBe(slowly(LINES.slice(0, size)).toString('base64'));
        expect(rootAfter(LINES, size)).toBe(treeRoot(frontier));
      }),
    );
  });
});
