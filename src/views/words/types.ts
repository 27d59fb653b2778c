/** What a catalogue must have. */

import type { en } from './en.ts';

/**
 * A text for each plural category that its language has. `=1` is for exactly one, in languages that have no category for it but
 * say it another way, such as 每周 (every week) and not 每 1 周 (every 1 week).
 */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule | '=1', string>> & { other: string }>;

/** Every key of the English catalogue, as text or plural like there. */
export type Words = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural };
