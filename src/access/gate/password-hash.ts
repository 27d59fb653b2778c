/** Argon2id password hashes in the usual PHC format, computed by node. */

import { argon2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { RandomBytes } from '../digest.ts';

const derive = promisify(argon2);

interface Cost {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
}

/** 93 ms on one core of a slow machine; the OWASP minimum (19 MiB, 2 passes) takes 29 ms there. */
const COST: Cost = { memory: 32_768, passes: 3 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** Compared with if there is no password, so that the time is the same. Matches nothing. */
export const DECOY_HASH = phc(COST, Buffer.alloc(SALT_BYTES, 0x5a), Buffer.alloc(TAG_BYTES));

export async function hashPassword(password: string, random: RandomBytes): Promise<string> {
  const salt = Buffer.from(random(SALT_BYTES));
  return phc(COST, salt, await deriveTag(password, salt, COST));
}

/** Whether `hash` was made from `password`; false if it is not a valid hash. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const match = PHC.exec(hash);
  if (match === null) return false;
  const [, memory = '', passes = '', salt = '', tag = ''] = match;
  const cost: Cost = { memory: Number(memory), passes: Number(passes) };
  return timingSafeEqual(await deriveTag(password, Buffer.from(salt, 'base64'), cost), Buffer.from(tag, 'base64'));
}

/** Normalises Unicode, so that keyboards don't matter; never truncates. */
function deriveTag(password: string, salt: Uint8Array, { memory, passes }: Cost): Promise<Buffer> {
  return derive('argon2id', {
    message: password.normalize('NFKC'),
    nonce: salt,
    parallelism: 1,
    tagLength: TAG_BYTES,
    memory,
    passes,
  });
}

function phc({ memory, passes }: Cost, salt: Buffer, tag: Buffer): string {
  const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${text(salt)}$${text(tag)}`;
}
