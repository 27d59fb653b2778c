import { en } from './en.ts';
import type { Words } from './types.ts';

export const ar: Words = { ...en };
