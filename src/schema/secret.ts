import { inspect } from 'node:util';
import { z } from 'zod';

/** A secret that prints as `***` wherever it ends up; `reveal` is the only way in. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The secret itself: for a header, a log-in body or a comparison, never for a message. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '***';
  }

  toJSON(): string {
    return '***';
  }

  [inspect.custom](): string {
    return '***';
  }
}

/** A text of the configuration that is closed at once. */
export const SecretSchema = z
  .string()
  .min(1)
  .transform((value) => new Secret(value));

/** One secret, or two during rotation. */
export const SecretsSchema = z.array(SecretSchema).min(1).max(2);

/** Characters of a token that nobody guesses, however many tries they have. */
export const TOKEN_LENGTH_MIN = 22;
