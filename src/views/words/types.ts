/** What a catalogue must have. */

import type { en } from './en.ts';

/** A text for each plural category that its language has. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** Every key of the English catalogue, as text or plural like there. */
export type Words = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural };
